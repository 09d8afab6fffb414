package ring

import (
	"context"

	"github.com/sumi-ripple/ripple/crawl/page"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// Uncommitted outcomes together hold at most this many bytes: when pages are fetched faster than they are
// recorded, visitors wait. Under a soft memory limit, it is at most an eighth of the limit.
const (
	mostHeld  = 64 << 20
	leastHeld = 8 << 20
)

// maxHeld returns how much outcomes may hold together under a soft memory limit; 0: no limit.
func maxHeld(memory int64) int64 {
	if memory <= 0 {
		return mostHeld
	}
	return min(max(memory/8, leastHeld), mostHeld)
}

// Hold waits until an outcome fits in with the other uncommitted ones. One outcome is always admitted,
// however large. If ctx ends, Hold returns an error and holds nothing.
func (o *Outcome) Hold(ctx context.Context) error {
	s := o.Step.Settings
	size := min(o.size(), s.maxHeld)
	if err := s.held.Acquire(ctx, size); err != nil {
		return err
	}
	o.Held = size
	return nil
}

// Release makes room for others, and drops the sealed page, which has been stored.
func (o *Outcome) Release() {
	o.Sealed = nil
	if o.Held > 0 {
		o.Step.Settings.held.Release(o.Held)
		o.Held = 0
	}
}

// Bytes of an outcome, a link and so on, not counting their texts.
const (
	outcomeSize = 1 << 10
	linkSize    = 96
	targetSize  = 72
	entrySize   = 56
	textSize    = 16
)

// size returns the approximate memory of an outcome, in bytes. The texts of a page may make it a hundred
// times as large, if links are relative to a long base.
func (o *Outcome) size() int64 {
	n := outcomeSize + len(o.Robots)
	if o.Answer != nil {
		n += len(o.Answer.Body)
	}
	if o.Sealed != nil {
		n += o.Sealed.Size()
	}
	if o.Page != nil {
		n += sizeOfPage(o.Page)
	}
	for _, all := range [][]Target{o.Entries, o.Files} {
		for i := range all {
			n += targetSize + entrySize + sizeOfURL(&all[i].URL)
		}
	}
	return int64(n)
}

func sizeOfPage(p *page.Page) (n int) {
	for i := range p.Links {
		l := &p.Links[i]
		n += linkSize + sizeOfURL(&l.URL) + len(l.Anchor)
		for _, form := range l.Forms {
			n += textSize + len(form)
		}
	}
	for i := range p.Facts {
		n += 2*textSize + len(p.Facts[i].Value)
	}
	return n
}

func sizeOfURL(u *weburl.URL) int {
	if u.Form == u.Norm {
		return len(u.Norm)
	}
	return len(u.Norm) + len(u.Form)
}
