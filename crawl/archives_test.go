package crawl

import "testing"

// TestChooseOfManyRevisits: an archive has nothing of a page but that it was not modified, two million times. That there
// is no body is found once, not again for each of these.
func TestChooseOfManyRevisits(t *testing.T) {
	v := &inventory{captures: make([]capture, 2_000_000)}
	for i := range v.captures {
		v.captures[i] = capture{url: 1, kind: sameAnswer, offset: int64(i)}
	}
	v.captures = append(v.captures, capture{url: 2, kind: sameAnswer, at: 2}, capture{url: 2, kind: wholeCapture, at: 1, offset: 7})
	if v.choose(); len(v.captures) != 1 || v.captures[0].url != 2 || v.captures[0].offset != 7 {
		t.Errorf("%d captures: %+v", len(v.captures), v.captures[:min(1, len(v.captures))])
	}
}
