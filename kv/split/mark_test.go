package split

import (
	"bytes"
	"encoding/json"
	"testing"
)

// A mark is either refused, or reads the same again.
func FuzzMark(f *testing.F) {
	f.Add([]byte(`{"terrain":"000102030405060708090a0b0c0d0e0f","folder":"/a","commits":[7]}`))
	f.Add([]byte(`{"terrain":"00","folder":"/a","commits":[7]}`))
	f.Add([]byte(`{"terrain":"000102030405060708090a0b0c0d0e0f","folder":"","commits":[]}`))
	f.Add([]byte(`[`))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := decodeMark(text)
		if err != nil {
			return
		}
		once, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		again, err := decodeMark(once)
		if err != nil {
			t.Fatalf("%s: %v", once, err)
		}
		if twice, err := json.Marshal(again); err != nil || !bytes.Equal(once, twice) {
			t.Errorf("%s becomes %s, %v", once, twice, err)
		}
	})
}
