// Package strictjson writes what machines say to each other as JSON, and reads what anybody may have written: one
// value, of known fields. How much of it is read, the caller bounds.
package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// Encode returns the JSON of a value, and panics if its type has none. No character takes more room than
// JSON demands: "&" is one byte, and not the six by which a browser would be kept from reading it.
func Encode(v any) []byte {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err)
	}
	return bytes.TrimSuffix(text.Bytes(), []byte{'\n'})
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
