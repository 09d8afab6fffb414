package broken

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/schema/weburl"
)

// The nearest capture of a page is found by its canonical URL, in whichever way its key is written.
func TestArchive(t *testing.T) {
	rules, err := weburl.NewRules(weburl.DefaultStripParams(), weburl.DefaultMaxLength)
	if err != nil {
		t.Fatal(err)
	}
	day := func(year int) time.Time { return time.Date(year, 6, 1, 0, 0, 0, 0, time.UTC) }
	tests := []struct {
		name, target, index string
		want                string // file of the capture
	}{
		{"by http and www", "https://example.com/a?x=1&y=2",
			`com,example)/a?x=1&y=2 20140601 {"url":"http://www.example.com:80/a/?y=2&x=1&utm_source=q","filename":"one"}`, "one"},
		{"the nearest", "https://example.com/a", `com,example)/a 20100601 {"url":"http://example.com/a","status":200,"filename":"2010"}
com,example)/a 20130601 {"url":"http://example.com/a","status":200,"filename":"2013"}
com,example)/a 20190601 {"url":"http://example.com/a","status":200,"filename":"2019"}`, "2013"},
		{"the earlier of two", "https://example.com/a", `
com,example)/a 20150602 {"url":"http://example.com/a","status":200,"filename":"later"}
com,example)/a 20150531 {"url":"http://example.com/a","status":200,"filename":"earlier"}`, "earlier"},
		{"a page, not an error", "https://example.com/a", `
com,example)/a 20150601 {"url":"http://example.com/a","status":404,"filename":"gone"}
com,example)/a 20150601 {"url":"http://example.com/a","status":301,"filename":"moved"}
com,example)/a 20050601 {"url":"http://example.com/a","status":"-","filename":"revisit"}`, "revisit"},
		{"a key of Heritrix", "https://a.example.com:8443/",
			`https://(com,example,a,:8443)/ 2014 {"url":"https://a.example.com:8443/","filename":"one"}`, "one"},
		{"a key without www2", "https://www2.example.com/",
			`com,example)/ 2014 {"url":"http://www2.example.com/","filename":"one"}`, "one"},
		{"another page", "https://example.com/a", `com,example)/b 2014 {"url":"http://example.com/b","filename":"one"}`, ""},
		{"another host", "https://example.com/a", `com,example,b)/a 2014 {"url":"http://b.example.com/a","filename":"one"}`, ""},
		{"after a line without end", "https://example.com/a", `com,example)/a 2014 {"url":"` + strings.Repeat("x", 2*mostLine) + `"}
com,example)/a 2014 {"url":"http://example.com/a","filename":"one"}`, "one"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			links := []Link{{Target: &Target{To: tt.target, At: day(2015)}}}
			a := NewArchive(rules, links)
			if err := a.Read(strings.NewReader(tt.index)); err != nil {
				t.Fatal(err)
			}
			got := ""
			if c := links[0].Capture; c != nil {
				got = c.File
			}
			if got != tt.want {
				t.Errorf("%q, want %q; %d unread", got, tt.want, a.Unread)
			}
		})
	}
}

// What cannot be read is counted, if it may be about a target.
func TestArchiveCountsUnread(t *testing.T) {
	rules, err := weburl.NewRules(nil, weburl.DefaultMaxLength)
	if err != nil {
		t.Fatal(err)
	}
	links := []Link{{Target: &Target{To: "https://example.com/a", At: time.Now()}}}
	a := NewArchive(rules, links)
	index := "!meta 0 {}\ncom,example)/a 2014 {\ncom,example)/a 2014 {}\norg,other)/ nothing\n" +
		`com,example)/a 20140203040506 {"url":"http://example.com/a","filename":"one","offset":"7"}`
	if err := a.Read(strings.NewReader(index)); err != nil {
		t.Fatal(err)
	}
	want := &Capture{At: time.Date(2014, 2, 3, 4, 5, 6, 0, time.UTC), URL: "http://example.com/a", File: "one", Offset: 7}
	if diff := cmp.Diff(want, links[0].Capture); diff != "" || a.Unread != 2 {
		t.Errorf("%d are unread%s", a.Unread, diff)
	}
}
