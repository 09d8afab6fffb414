package output

import "testing"

// An archive is known by its first entry, whatever time the header before the name states.
func TestIsOurWACZ(t *testing.T) {
	const name = "archive/ripple0123456789-00001.warc.gz"
	header := "PK\x03\x04\x14\x00\x08\x00\x00\x00"
	for _, tt := range []struct {
		head string
		want bool
	}{
		{header + "\x00\x00\x00\x00" + "0123456789abcdef" + name, true},
		{header + "\xc3\xa4\xc3\xa4" + "0123456789abcdef" + name, true}, // a time that is text in UTF-8
		{header + "\xff\xfe\x00\n" + "0123456789abcdef" + name, true},
		{header + "\x00\x00\x00\x00" + "0123456789abcdef" + "archive/data.warc.gz", false},
		{header + "\x00\x00\x00\x00" + "0123456789abcdef" + "archive/ripple-00001.warc.gz", false},
		{"PK\x03\x04", false}, {"", false}, {"QK" + header[2:] + "0123456789abcdef0123" + name, false},
	} {
		if got := isOurWACZ([]byte(tt.head)); got != tt.want {
			t.Errorf("%q: %v, want %v", tt.head, got, tt.want)
		}
	}
}
