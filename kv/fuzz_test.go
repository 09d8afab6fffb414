package kv_test

import (
	"bytes"
	"testing"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// FuzzDecode states two laws: no input makes a decoder panic, and an accepted value, encoded again, decodes
// to itself.
func FuzzDecode(f *testing.F) {
	f.Add(byte(0), []byte("\x02\x01\x05\x00"))
	f.Add(byte(1), bytes.Repeat([]byte{1}, 90))
	f.Add(byte(2), bytes.Repeat([]byte{0}, 60))
	f.Add(byte(0), bytes.Repeat([]byte{1}, 90))
	f.Add(byte(3), []byte("\x02\x78\x01\x01\x05\x01\x02/a\x01\x02/b"))
	f.Add(byte(4), []byte("\x02\x01\x02"))
	f.Add(byte(5), []byte("\x01\x02\x03\x04\x05"))
	f.Fuzz(func(t *testing.T, kind byte, in []byte) {
		once, ok := kv.ReCode(kind, in)
		if !ok {
			return
		}
		twice, ok := kv.ReCode(kind, once)
		if !ok || !bytes.Equal(once, twice) {
			t.Errorf("kind %d: %x was encoded as %x, then as %x (%t)", kind%6, in, once, twice, ok)
		}
	})
}

// FuzzForm states that deriving a form's shape and the form from the shape are inverse.
func FuzzForm(f *testing.F) {
	f.Add("https://example.com/a?b", "https://www.example.com/a/?b")
	f.Add("https://www.com/", "https://www.www.com/")
	f.Add("https://a/b", "https://a/b/")
	f.Fuzz(func(t *testing.T, norm, form string) {
		if shape := schema.ShapeOf(norm, form); shape < 16 && shape.Form(norm) != form {
			t.Errorf("form %q of %q has shape %d, which is %q", form, norm, shape, shape.Form(norm))
		}
	})
}
