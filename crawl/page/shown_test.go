package page

import (
	"fmt"
	"strings"
	"testing"

	"github.com/zeebo/xxh3"
	"golang.org/x/net/html"

	"github.com/sumi-ripple/ripple/schema"
)

// The hash is that of all words, each with a space after it, and the next page has no word of the one before.
func TestShownHashesAllWords(t *testing.T) {
	t.Parallel()
	var s shown
	want := "title "
	for n := range 1000 {
		word := fmt.Sprintf("word%d", n%7)
		s.add([]byte(word + " \n"))
		want += word + " "
	}
	if got := s.sum("Title", "/"); got != schema.Shown(xxh3.HashString(want)) {
		t.Errorf("%x", got)
	}
	s.reset()
	s.add([]byte("word"))
	if got := s.sum("Title", "/"); got != schema.Shown(xxh3.HashString("title word ")) {
		t.Errorf("the next page: %x", got)
	}
}

// FuzzShownWords compares the words of a text with those that the standard library finds.
func FuzzShownWords(f *testing.F) {
	f.Add("ALL the\tWords&nbsp;of a&eacute;&Eacute;&amp;amp;&notit; Text &#39;\u00a0\u2028\u0085 \u212a\u0130")
	f.Add("[`@{ 12:34:56, 2015-01-02")
	f.Add("eight by\ntes eac&LTh\xff 0.12345s\u00e9 deadbeef0123456 \vA\x1cB\fZ ")
	f.Fuzz(func(t *testing.T, text string) {
		low := strings.ToLower(html.UnescapeString(text))
		if got := appendLowered(nil, []byte(text)); string(got) != low {
			t.Fatalf("%q in lower case is %q, want %q", text, got, low)
		}
		want := ""
		for word := range strings.FieldsSeq(low) {
			if isVolatile([]byte(word)) {
				word = "0"
			}
			want += word + " "
		}
		if got := appendWords(nil, []byte(low)); string(got) != want {
			t.Errorf("the words of %q are %q, want %q", low, got, want)
		}
	})
}
