package control

import (
	"bufio"
	"bytes"
	"io"
	"strings"
	"testing"
)

// FuzzReadLine states that what is read is the first line, if it has an end and is
// not too long, and that no more is taken.
func FuzzReadLine(f *testing.F) {
	f.Add([]byte("{\"reply\":1}\nrest"))
	f.Add([]byte("no end"))
	f.Add([]byte(strings.Repeat("x", 5000) + "\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		r := bufio.NewReader(bytes.NewReader(in))
		line, err := readLine(r)
		want, rest, ended := bytes.Cut(in, []byte("\n"))
		if !ended {
			if err == nil {
				t.Errorf("a line without an end was read: %q", line)
			}
			return
		}
		if err != nil || !bytes.Equal(line, want) {
			t.Fatalf("readLine(%q) = %q, %v", in, line, err)
		}
		if left, err := io.ReadAll(r); err != nil || !bytes.Equal(left, rest) {
			t.Errorf("%q is left of %q", left, in)
		}
	})
}
