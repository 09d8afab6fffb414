package ring

import (
	"context"

	"github.com/sumi-ripple/ripple/crawl/page"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// Outcomes that are not committed hold so many bytes together at most: what is fetched
// faster than it is recorded waits in the visitors. Of a soft limit of memory it is an
// eighth at most.
const (
	mostHeld  = 64 << 20
	leastHeld = 8 << 20
)

// maxHeld is what outcomes may hold together under a soft limit of memory; 0: there is none.
func maxHeld(memory int64) int64 {
	if memory <= 0 {
		return mostHeld
	}
	return min(max(memory/8, leastHeld), mostHeld)
}

// Hold waits until an outcome fits in with those that are not committed. One is always
// let in, however large it is. It errs when ctx ends, and holds nothing then.
func (o *Outcome) Hold(ctx context.Context) error {
	s := o.Step.Settings
	size := min(o.size(), s.maxHeld)
	if err := s.held.Acquire(ctx, size); err != nil {
		return err
	}
	o.Held = size
	return nil
}

// Release lets others in. What has been stored of the page is let go of.
func (o *Outcome) Release() {
	o.Sealed = nil
	if o.Held > 0 {
		o.Step.Settings.held.Release(o.Held)
		o.Held = 0
	}
}

// What an outcome, a link and a target take besides their texts, in bytes.
const (
	outcomeSize = 1 << 10
	linkSize    = 96
	targetSize  = 72
	entrySize   = 56
	textSize    = 16
)

// size is about what an outcome takes in memory, in bytes. The texts of a page may make a
// hundred times of it, where its links are relative to a long base.
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
