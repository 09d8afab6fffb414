package term

import (
	"strings"
	"testing"
)

// Long names that differ at their ends are told apart, and no text is longer than it may be.
func TestEnds(t *testing.T) {
	long := strings.Repeat("a", 63)
	for in, want := range map[string]string{
		"attic:/home/ann/terrain":     "attic:/home/ann/terrain",
		long + ":/srv/one":            "aaaaaaaaaaaaaaaaaaaaaaaaaaaa…aaaaaaaaaaaaaaaaaaaa:/srv/one",
		long + ":/srv/two":            "aaaaaaaaaaaaaaaaaaaaaaaaaaaa…aaaaaaaaaaaaaaaaaaaa:/srv/two",
		strings.Repeat("ü", 40):       strings.Repeat("ü", 14) + "…" + strings.Repeat("ü", 14),
		"a\x1b[2J" + long + "\n:/srv": "a[2Jaaaaaaaaaaaaaaaaaaaaaaaa…aaaaaaaaaaaaaaaaaaaaaaa :/srv",
	} {
		if got := Ends(in, 60); got != want || len(got) > 60 {
			t.Errorf("Ends(%q) = %q, want %q", in, got, want)
		}
	}
}
