package show

import (
	"cmp"
	"fmt"
	"io"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/export/broken"
)

// brokenBlock is the number of links that each core formats at a time.
const brokenBlock = 1 << 12

// Broken prints broken links below the pages that contain them.
func Broken(w io.Writer, links []broken.Link) error {
	byOrigin := map[string]int{}
	for i := range links {
		byOrigin[links[i].Origin]++
	}
	texts := make([][]byte, runtime.GOMAXPROCS(0))
	for done := 0; done < len(links); {
		var making errgroup.Group
		for i := range texts {
			from, to := done, min(done+brokenBlock, len(links))
			making.Go(func() error { texts[i] = appendBroken(texts[i][:0], links, from, to, byOrigin); return nil })
			done = to
		}
		_ = making.Wait() // none fails
		for _, text := range texts {
			if _, err := w.Write(text); err != nil {
				return err
			}
		}
	}
	return nil
}

// appendBroken appends some of all links, with the origins and pages that begin among them.
func appendBroken(b []byte, links []broken.Link, from, to int, byOrigin map[string]int) []byte {
	for i := from; i < to; i++ {
		l := &links[i]
		if i == 0 || l.Origin != links[i-1].Origin {
			if i > 0 {
				b = append(b, '\n')
			}
			b = fmt.Appendf(b, "%s: %s\n", cmp.Or(term.ShownHost(l.Origin, 253), "on other pages"),
				term.Count(byOrigin[l.Origin], "broken link", ""))
		}
		if i == 0 || l.Source != links[i-1].Source {
			b = append(append(append(b, "  "...), term.ShownHost(l.From, 2048)...), '\n')
		}
		b = append(append(append(b, "    -> "...), term.ShownHost(l.To, 2048)...), "  "...)
		b = appendLinkText(b, l.Link.Kinds.First().String(), l.Link.Rel.String(), l.Link.Where(), l.Link.Anchor)
		b = append(append(append(b, "\n       "...), l.Class()...), ": "...)
		b = append(append(b, term.Clean(l.Why, 300)...), '\n')
		if l.Capture != nil {
			b = append(append(append(b, "       "...), archivedText(l.Capture)...), '\n')
		}
	}
	return b
}
