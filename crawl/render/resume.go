package render

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"time"
)

// A page waits for missing answers for so long. Then its tab is closed, and it is rendered from the beginning.
const waitOfPage = 15 * time.Second

// A given is an answer that a page got.
type given struct {
	request Request
	sum     [sha256.Size]byte
}

// sum returns a digest of an answer.
func (a Answer) sum() (sum [sha256.Size]byte) {
	h := sha256.New()
	fmt.Fprintf(h, "%d %q %q\n", a.Status, a.Refused, a.Header) // with the fields in their order
	h.Write(a.Body)
	h.Sum(sum[:0])
	return sum
}

// resume continues a waiting visit if it would be the same from the beginning: for the same page, and if all answers
// that it got are still the same. The page's virtual clock is stopped while it waits.
func (v *visit) resume(p Page, a Answers) bool {
	if !v.of(p) || !v.late.Stop() {
		return false
	}
	for _, before := range v.given {
		now, known := a.Answer(before.request)
		if !known || now.sum() != before.sum {
			return false
		}
	}
	v.answers, v.result.Missing = a, nil
	v.waiting, v.held = append(v.held, v.waiting...), nil
	return true
}

// of reports whether a visit is one of a page.
func (v *visit) of(p Page) bool {
	return v.page.URL == p.URL && v.page.Status == p.Status && string(v.page.Body) == string(p.Body) &&
		maps.EqualFunc(v.page.Header, p.Header, slices.Equal)
}

// watchWaiting watches the browser's memory while a page waits in it. The returned function ends the watch.
func (b *browser) watchWaiting(limit int64) func() {
	if b.waiting == nil {
		return func() {}
	}
	ctx, cancel := context.WithTimeout(b.ctx, 2*waitOfPage)
	stop := b.watch(ctx, limit, func(error) { b.kill() })
	return func() { stop(); cancel() }
}

// waitsFor reports whether a page waits in a browser, which may be nil.
func (b *browser) waitsFor(p Page) bool { return b != nil && b.waiting != nil && b.waiting.of(p) }
