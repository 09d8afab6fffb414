// Package strictjson writes what machines say to each other as JSON, and reads what anybody may have written: one
// value, of known fields. How much of it is read, the caller bounds.
package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// Encode returns the JSON of a value, and panics if its type has none.
func Encode(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return text
}

// Decode reads one value, which is all that there is.
func Decode(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows")
	}
	return nil
}
