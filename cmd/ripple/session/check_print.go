package session

import (
	"fmt"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/cmd/ripple/show"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/page"
	"github.com/sumi-ripple/ripple/export/broken"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

// maxPending is how many broken targets wait to be printed while the crawl runs. Further ones are printed at the
// end.
const maxPending = 1000

// printing prints broken targets while the crawl runs, until end is called. It ends the walk if it cannot print.
func (c *checker) printing(w *walk) (end func() error) {
	if c == nil || c.out == nil {
		return func() error { return nil }
	}
	var g errgroup.Group
	g.Go(func() (err error) {
		for id := range c.pending {
			if err != nil {
				continue
			}
			if err = c.printOne(w.crawl, id); err != nil {
				w.stop(err)
			}
		}
		return err
	})
	return func() error {
		close(c.pending)
		return g.Wait()
	}
}

// visited is told of each visit; it must not block.
func (c *checker) visited(e crawl.Event) {
	if c == nil || c.out == nil {
		return
	}
	switch e.State {
	case schema.DeadLink, schema.Failed, schema.Unreachable:
		select {
		case c.pending <- e.ID:
		default:
		}
	}
}

// printOne prints a target if a page links to it, and the target is still broken. Targets that cannot be looked
// up now are printed at the end.
func (c *checker) printOne(of *crawl.Crawl, id schema.ID) error {
	var to, from, why string
	err := of.Query(func(store *kv.Store) error {
		return store.View(func(tx *kv.Tx) error {
			v, err := tx.Visits.At(store.Latest(id))
			if err != nil || !survey.LeadsNowhere(v.State, v.Reason) {
				return err
			}
			u, err := tx.URLs.At(id)
			if err != nil || u.Referrer == 0 {
				return err
			}
			if from, err = tx.URLs.Norm(u.Referrer); err != nil {
				return err
			}
			to, err = tx.URLs.Norm(id)
			why = v.Reason.String()
			return err
		})
	})
	if err != nil || to == "" {
		return nil
	}
	return c.print(to, why, from, 1)
}

// printAll prints the targets that were not printed yet.
func (c *checker) printAll(links []broken.Link) error {
	if c.out == nil {
		return nil
	}
	for _, g := range broken.ByTarget(links) {
		if err := c.print(g.To, g.Why, g.Links[0].From, len(g.Links)); err != nil {
			return err
		}
	}
	return nil
}

// print prints a target once.
func (c *checker) print(to, why, from string, pages int) error {
	if c.told[to] {
		return nil
	}
	c.told[to] = true
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n  %s, on %s", term.ShownHost(to, 2048), term.Clean(why, 300), term.ShownHost(from, 2048))
	if pages > 1 {
		b.WriteString(" and " + term.Count(pages-1, "more page", "more pages"))
	}
	b.WriteByte('\n')
	return c.voice.Stderr.PrintTo(c.out, b.String())
}

// onAnchors returns the callback for the anchors of pages; nil: there is no check.
func (c *checker) onAnchors() func(string, *page.Anchors) {
	if c == nil {
		return nil
	}
	return c.anchors.add
}

// tellBegun reports what is checked.
func (c *checker) tellBegun(b crawl.Begun) error {
	shown := make([]string, len(c.urls))
	for i, u := range c.urls {
		shown[i] = term.ShownHost(u, 500)
	}
	text := "checking " + strings.Join(shown, ", ")
	if c.resumed = b.Resumed && b.Run.Pages > 0; c.resumed {
		text += "; " + show.Visited(b.Run.Pages)
	}
	c.voice.Tell(term.Event("check begins", text, "urls", c.urls, "pages", b.Run.Pages))
	return c.anchors.begin(b.Resumed)
}
