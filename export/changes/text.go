package changes

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/amount"
)

// Options control the text output.
type Options struct {
	Markdown bool
	Limit    int // maximum rows of a list
}

// errEnough ends an iteration when enough changes are listed.
var errEnough = errors.New("enough")

// Text writes the changes for people, as plain text or Markdown.
func Text(w io.Writer, s *survey.Survey, d *survey.Diff, opts Options) error {
	h, err := newHead(s, d)
	if err != nil {
		return err
	}
	p := printer{w: w, markdown: opts.Markdown, limit: opts.Limit}
	p.title("From " + h.From.named() + " to " + h.To.named())
	if h.To.Status != schema.RunCompleted.String() {
		p.line("The later run is not completed: pages that it has not visited are shown as they were.")
	}
	p.begin("", "added", "removed", "changed")
	p.row("pages", amount.Commas(h.Pages.Came), amount.Commas(h.Pages.Went), amount.Commas(h.Pages.Changed))
	p.row("links", amount.Commas(h.Links.Came), amount.Commas(h.Links.Went), "")
	p.end()
	p.linkRot(h.LinkRot)
	if h.From.Kind == schema.RunImport.String() {
		if err := p.dead(d); err != nil {
			return err
		}
	}
	p.hands(h.Hands)
	p.hosts(h.Hosts)
	p.unknown(h)
	if h.Pages != (counts{}) {
		if err := p.pages(d); err != nil {
			return err
		}
	}
	if h.Links != (counts{}) {
		return p.links(d)
	}
	return nil
}

func (p *printer) linkRot(all []rot) {
	if len(all) == 0 {
		return
	}
	p.heading("Link rot")
	p.begin("origin", "links checked", "dead", "newly dead", "fixed")
	for _, r := range all {
		p.row(p.text(r.Origin), amount.Commas(r.Links), amount.Commas(r.Dead), amount.Commas(r.New), amount.Commas(r.Mended))
	}
	p.end()
}

// dead lists the dead pages behind the links of an archive.
func (p *printer) dead(d *survey.Diff) error {
	any := false
	err := d.EachDead(func(t *survey.DeadTarget) error {
		if !any {
			p.heading("Dead pages to which origins linked")
			p.begin("page", "links", "now")
			any = true
		}
		if !p.more() {
			return errEnough
		}
		p.row(p.text(t.URL), amount.Commas(t.Links), answerText(t.After))
		return nil
	})
	if any {
		p.end()
	}
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// hands lists the hosts whose front pages have nothing in common.
func (p *printer) hands(all []survey.NewHands) {
	if len(all) == 0 {
		return
	}
	p.heading("Hosts that have likely changed hands")
	p.begin("host", "front page before", "after")
	for _, h := range all {
		if p.more() {
			p.row(p.text(h.Name), p.text(h.Before.String()), p.text(h.After.String()))
		}
	}
	p.end()
}

func (p *printer) hosts(all []host) {
	if len(all) == 0 {
		return
	}
	p.heading("Hosts")
	p.begin("host", "", "pages added", "removed", "changed")
	for _, h := range all {
		if p.more() {
			p.row(p.text(h.Domain), shown(h.Change), amount.Commas(h.Came), amount.Commas(h.Went), amount.Commas(h.Changed))
		}
	}
	p.end()
}

// unknown lists the hosts that the later run did not visit.
func (p *printer) unknown(h *head) {
	if len(h.Unknown) == 0 {
		return
	}
	p.heading(fmt.Sprintf("Hosts that run #%d did not visit, shown as run #%d saw them", h.To.ID, h.From.ID))
	p.begin("host")
	for _, name := range h.Unknown {
		if p.more() {
			p.row(p.text(name))
		}
	}
	p.end()
}

// pages lists the pages that a run has visited, and counts the others.
func (p *printer) pages(d *survey.Diff) error {
	p.heading("Pages")
	p.begin("", "page", "before", "after", "what")
	unseen := 0
	err := d.EachPage(func(c *survey.PageChange) error {
		switch {
		case c.Before == nil && c.After == nil:
			unseen++
		case p.more():
			p.row(shown(c.Change.String()), p.text(c.URL), answerText(c.Before), answerText(c.After), strings.Join(c.What, ", "))
		}
		return nil
	})
	p.end()
	if unseen > 0 {
		p.note(amount.Of(unseen, "page that neither run visited is", "pages that neither run visited are") + " not listed")
	}
	return err
}

func (p *printer) links(d *survey.Diff) error {
	p.heading("Links")
	p.begin("", "from", "to", "kind")
	err := d.EachLink(func(c *survey.LinkChange) error {
		if !p.more() {
			return errEnough
		}
		p.row(shown(c.Change.String()), p.text(c.FromURL), p.text(c.ToURL), c.Link.Kinds.First().String())
		return nil
	})
	p.end()
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// shown returns a change in the words of the text output. JSON keeps the name that it is given.
func shown(change string) string {
	switch change {
	case survey.Came.String():
		return "added"
	case survey.Went.String():
		return "removed"
	}
	return change
}

func answerText(v *schema.Visit) string {
	switch {
	case v == nil:
		return "-"
	case v.Answer != schema.AnswerPage:
		return fmt.Sprintf("%s %d", v.Answer, cmp.Or(v.AnswerStatus, v.Status))
	case v.Status == 0:
		return v.State.String()
	}
	return fmt.Sprintf("%s %d", v.State, v.Status)
}
