package cdxj

import (
	"errors"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	march := time.Date(2015, 3, 4, 5, 6, 7, 0, time.UTC)
	tests := []struct {
		name, line string
		want       Line
		err        error
	}{
		{"strings", `com,example)/a 20150304050607 {"url":"http://www.example.com/a","status":"200","filename":"a.gz","offset":"12"}`,
			Line{"com,example)/a", march, "http://www.example.com/a", 200, "a.gz", 12}, nil},
		{"numbers", `com,example)/a 20150304050607 {"url":"https://example.com/a","status":404,"filename":"a.gz","offset":0}` + "\r",
			Line{"com,example)/a", march, "https://example.com/a", 404, "a.gz", 0}, nil},
		{"a revisit", `com,example)/ 20150304050607 {"url":"https://example.com/","status":"-","mime":"warc/revisit"}`,
			Line{"com,example)/", march, "https://example.com/", 0, "", -1}, nil},
		{"milliseconds", `k 20150304050607999 {}`, Line{"k", march, "", 0, "", -1}, nil},
		{"a year", `k 2015 {}`, Line{"k", time.Date(2015, 1, 1, 0, 0, 0, 0, time.UTC), "", 0, "", -1}, nil},
		{"a day", `k 20150304 {}`, Line{"k", time.Date(2015, 3, 4, 0, 0, 0, 0, time.UTC), "", 0, "", -1}, nil},
		{"hostile numbers", `k 2015 {"status":"99999","offset":-7}`,
			Line{"k", time.Date(2015, 1, 1, 0, 0, 0, 0, time.UTC), "", 0, "", -1}, nil},
		{"a header", "!meta 0 {}", Line{}, ErrNoCapture},
		{"a header of CDX", " CDX N b a", Line{}, ErrNoCapture},
		{"nothing", "\n", Line{}, ErrNoCapture},
		{"no object", "k 2015", Line{}, ErrMalformed},
		{"no time", "k {} {}", Line{}, ErrMalformed},
		{"no month", "k 20151304050607 {}", Line{}, ErrMalformed},
		{"a cut object", `k 2015 {"url":"htt`, Line{}, ErrMalformed},
		{"11 fields", "com,example)/ 20150304050607 http://example.com/ text/html 200 AAAA - - 12 34 a.gz", Line{}, ErrMalformed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Parse([]byte(tt.line))
			if got != tt.want || !errors.Is(err, tt.err) {
				t.Errorf("got %+v, %v; want %+v, %v", got, err, tt.want, tt.err)
			}
		})
	}
}

// Whatever a line holds, its key is the one that is looked up before it is parsed.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`com,example)/a 20150304050607 {"url":"http://example.com/a","status":"200","offset":12}`))
	f.Add([]byte("!meta 0 {}"))
	f.Fuzz(func(t *testing.T, line []byte) {
		got, err := Parse(line)
		if err == nil && (got.Key != string(Key(line)) || got.Status < 0 || got.Offset < -1) {
			t.Errorf("%q: %+v, and its key is %q", line, got, Key(line))
		}
	})
}
