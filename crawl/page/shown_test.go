package page

import (
	"fmt"
	"testing"

	"github.com/zeebo/xxh3"

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
