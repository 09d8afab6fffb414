package changes

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"

	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema/sanitize"
)

// JSON writes one object whose lists have one entry per line, so that a large comparison is never held
// in memory.
func JSON(w io.Writer, s *survey.Survey, d *survey.Diff) error {
	h, err := newHead(s, d)
	if err != nil {
		return err
	}
	begin, err := json.Marshal(h)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	_, _ = out.Write(sanitize.JSON(begin[:len(begin)-1]))
	list := &jsonList{w: out}
	_, _ = out.WriteString(`,"dead_targets":[`)
	err = d.EachDead(func(t *survey.DeadTarget) error { return list.add(target{t.URL, t.Links, newAnswer(t.After)}) })
	if err != nil {
		return err
	}
	list.any = false
	_, _ = out.WriteString("\n],\"pages\":[")
	if err := d.EachPage(func(c *survey.PageChange) error { return list.add(newPage(c)) }); err != nil {
		return err
	}
	list.any = false
	_, _ = out.WriteString("\n],\"links\":[")
	if err := d.EachLink(func(c *survey.LinkChange) error { return list.add(newLink(c)) }); err != nil {
		return err
	}
	_, _ = out.WriteString("\n]}\n")
	return out.Flush() // reports the first error of any write
}

// A jsonList writes the entries of a list.
type jsonList struct {
	w   *bufio.Writer
	any bool // an entry has been written
}

func (l *jsonList) add(v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if l.any {
		_ = l.w.WriteByte(',')
	}
	l.any = true
	_, err = fmt.Fprintf(l.w, "\n%s", sanitize.JSON(line))
	return err
}
