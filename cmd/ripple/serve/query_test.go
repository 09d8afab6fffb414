package serve

import (
	"strings"
	"testing"
)

// An answer that would be too long is cut before the row that exceeds the limit.
func TestServeLongAnswer(t *testing.T) {
	d := &deskRows{}
	d.Begin([]string{"x"})
	row := []any{strings.Repeat("\x01", 4<<20)}
	for i, want := range []bool{true, true, false} {
		if more, err := d.Row(row); more != want || err != nil {
			t.Fatalf("row %d: %v, %v", i, more, err)
		}
	}
	if err := d.End(); err != nil || !d.More || d.B.Len() > maxQueryBytes {
		t.Errorf("%v, more %v, %d bytes", err, d.More, d.B.Len())
	}
}
