package scope

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

func texts(all []Pattern) []string {
	var list []string
	for _, p := range all {
		list = append(list, p.String())
	}
	return list
}

func TestParseListFile(t *testing.T) {
	tests := []struct {
		name, in string
		want     []string
		skipped  int
		line     int // of the error
	}{
		{name: "empty"},
		{name: "plain names", in: "a.com\nB.com\r\n*.c.com\nwww.d.com", want: []string{"a.com", "b.com", "*.c.com", "d.com"}},
		{name: "byte order mark", in: "\ufeffa.com\n", want: []string{"a.com"}},
		{name: "hosts file",
			in: "127.0.0.1 localhost\n::1\tip6-localhost ip6-loopback\n0.0.0.0 0.0.0.0\n0.0.0.0 a.com b.com # why\n" +
				":: c.com\n127.0.0.1 localhost.localdomain\n",
			want: []string{"a.com", "b.com", "c.com"}},
		{name: "comments", in: "# one\n! two\n[Adblock Plus 2.0]\n  # three\na.com # four\n\t\n", want: []string{"a.com"}},
		{name: "adblock names", in: "||a.com^\n||b.com^\n", want: []string{"*.a.com", "*.b.com"}},
		{name: "adblock rules are skipped",
			in: "||a.com^$third-party\n@@||b.com^\nc.com##.banner\nd.com#@#.x\n/banner/*\n||e.com/ads\n||f.*^\n-ads-\n" +
				"&ad=\nh.com/ads\ni.com,j.com#?#div:has(a)\n$popup\n", skipped: 11,
			want: []string{"-ads-"}},
		{name: "adblock names in other spellings", in: "||a.com\n|https://b.com|\n||*.c.com^\n||1.2.3.4^\n||d.com^|\n||e.com/*\n",
			want: []string{"*.a.com", "b.com", "*.c.com", "1.2.3.4", "*.d.com", "*.e.com"}},
		{name: "element rules of all pages",
			in:   "##.banner\n###ad\n##[id^=\"ad\"]\n#@#.x\n#?#div:has(a)\n#$#body{}\n#$?#p{}\n  ##div > a\n##+js(x)\na.com\n",
			want: []string{"a.com"}, skipped: 9},
		{name: "comments that are no element rules",
			in:   "## two\n### Three\n#####\n#-----#\n##----\n##====\n#\n#a#b\n# see ##.banner\na.com ## why\n",
			want: []string{"a.com"}},
		{name: "hyphens at the ends, as some names have", in: "-a-.example.com\n0.0.0.0 b-.example.com\n",
			want: []string{"-a-.example.com", "b-.example.com"}},
		{name: "CR line ends", in: "# x\ra.com\rb.com\r", want: []string{"a.com", "b.com"}},
		{name: "blank lines of all kinds", in: "a.com\n\r\r\n \nb.com", want: []string{"a.com", "b.com"}},
		{name: "URLs", in: "https://a.com/\nHTTP://user:x@B.com:8443/x?y#z\n//c.com/x\n*://*.d.com/*\nhttps://e.com/$x\n" +
			"ftp://f.com\ng.com/x\nhttps://[::1]/\nhttps:\\\\h.com\\x\n",
			want: []string{"a.com", "b.com", "c.com", "*.d.com", "e.com", "f.com", "g.com", "[::1]", "h.com"}},
		{name: "decorated names", in: "a.com/\n.b.com\nc.com.\n\"d.com\",\n e.com;\nf.com:443\n*.g.com:8443\nB\u00fccher.example\n" +
			"\ufeffh.com\n\u00a0i.com\u200b\nj.com # why\nk.com // why\nl.com ; why\n::1\n",
			want: []string{"a.com", "*.b.com", "c.com", "d.com", "e.com", "f.com", "*.g.com", "xn--bcher-kva.example", "h.com", "i.com",
				"j.com", "k.com", "l.com", "[::1]"}},
		{name: "comments of other formats", in: "; one\n// two\n[three]\n\ufeff# four\n! five\n"},
		{name: "a wildcard in a hosts file", in: "0.0.0.0 *.a.com\n0 .b.com\n0.0.0.0 https://c.com/\n",
			want: []string{"*.a.com", "*.b.com", "c.com"}},
		{name: "two words", in: "a.com\na.com b.com\n", line: 2},
		{name: "no host in a hosts file", in: "0.0.0.0 a_b.com\n0.0.0.0 a/b.com/c*\n0.0.0.0 a,b.com\n", line: 3},
		{name: "JSON", in: "[\"a.com\",\"b.com\"]\n", line: 1},
		{name: "hosts in brackets", in: "[uBlock Origin 1.2]\n[a.com b]\n", line: 2},
		{name: "a network", in: "10.0.0.0/8\n", line: 1},
		{name: "an e-mail address", in: "a@b.com\n", line: 1},
		{name: "a number", in: "404\n", line: 1},
		{name: "a wildcard within", in: "a.*.com\n", line: 1},
		{name: "a wildcard against a name", in: "*a.com\n", line: 1},
		{name: "a page", in: "<!DOCTYPE html>\n<title>Log in</title>\n", line: 1},
		{name: "another answer", in: "404: Not Found", line: 1},
		{name: "Latin 1", in: "# \xfc\nb\xfccher.example\n", line: 2},
		{name: "only adblock rules", in: "! x\n@@||a.com^\n||b.com^$image\n", line: 2},
		{name: "an adblock rule and a word", in: "||a.com^\nwhat is this\n", line: 2},
		{name: "NUL", in: "a.com\na\x00.com\nb.com\n", line: 2},
		{name: "compressed", in: "\x1f\x8b\x08\x08", line: 1},
		{name: "endless line", in: strings.Repeat("a", 100_000) + "\nb.com\n" + strings.Repeat("c.", 9000), line: 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, skipped, err := ParseListFile(strings.NewReader(tt.in))
			var wrong *LineError
			if tt.line > 0 {
				if !errors.As(err, &wrong) || wrong.Line != tt.line || got != nil {
					t.Errorf("%q, error %v; want one in line %d", texts(got), err, tt.line)
				}
				return
			}
			if err != nil || skipped != tt.skipped {
				t.Errorf("skipped %d lines, %v; want %d", skipped, err, tt.skipped)
			}
			if diff := cmp.Diff(tt.want, texts(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The message names the first unreadable line and counts the others.
func TestLineError(t *testing.T) {
	for in, want := range map[string]string{
		"a.com\nb c\n":                  `line 2: "b c" is not a host name`,
		"a b\x1b[1m\nc d\n":             `line 1: "a b\x1b[1m" is not a host name; nor can 1 other line be read`,
		"a b\n\nc d\ne f\n":             `line 1: "a b" is not a host name; nor can 2 other lines be read`,
		"@@||a.com^\n":                  `line 1: "@@||a.com^" names no host, and neither does any other line`,
		"b\xfccher.example\n":           `line 1: "b\xfccher.example" is not in UTF-8`,
		strings.Repeat("a", 1<<13):      `line 1: "` + strings.Repeat("a", 100) + `..." is longer than 4096 bytes`,
		"a\x00.\x00c\x00o\x00m\x00":     "is UTF-16; save it as UTF-8",
		"\xff\xfea\x00.\x00c\x00\n\x00": "is UTF-16; save it as UTF-8",
	} {
		if _, _, err := ParseListFile(strings.NewReader(in)); err == nil || err.Error() != want {
			t.Errorf("%.40q: %v; want %s", in, err, want)
		}
	}
}

func TestParseListFileReadError(t *testing.T) {
	broken := errors.New("broken disk")
	if _, _, err := ParseListFile(iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
}

func TestPresets(t *testing.T) {
	for _, name := range Presets() {
		all, err := Preset(name)
		if err != nil {
			t.Fatal(err)
		}
		if len(all) < 20 || len(all) > 60 {
			t.Errorf("%s has %d names", name, len(all))
		}
		sorted := slices.Clone(all)
		slices.SortFunc(sorted, Pattern.Compare)
		if unique := slices.Compact(sorted); len(unique) != len(all) {
			t.Errorf("%s names one twice", name)
		}
		for _, p := range all {
			if p.below && !strings.Contains(p.base, ".") {
				t.Errorf("%s takes all of %s", name, p)
			}
		}
	}
	if _, err := Preset("../presets/ads"); err == nil {
		t.Error("a path is a preset")
	}
}

// Parsed patterns can be written as a list and parsed again. At most as many lines are skipped as there
// are.
func FuzzParseListFile(f *testing.F) {
	f.Add("a.com\n*.b.com\n||c.com^\n0.0.0.0 d.com e.com # x\n@@||f.com^\n! g\n")
	f.Add("\ufeff[Adblock]\r\n::1 localhost\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		all, skipped, err := ParseListFile(strings.NewReader(text))
		if lines := len(strings.FieldsFunc(text, func(c rune) bool { return c == '\n' || c == '\r' })); skipped > lines {
			t.Fatalf("skipped %d of %d lines", skipped, lines)
		}
		if err != nil {
			return
		}
		again, skipped, err := ParseListFile(strings.NewReader(strings.Join(texts(all), "\n")))
		if err != nil || skipped != 0 || !slices.Equal(all, again) {
			t.Errorf("%q, written and read: %q, %d skipped, %v", texts(all), texts(again), skipped, err)
		}
	})
}
