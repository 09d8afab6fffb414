// Package changes writes the differences between two runs: as text or Markdown for people, as JSON for
// programs, and as a graph.
//
// Lists for people are short and begin with the largest changes. A page that neither run visited is
// counted, not listed. JSON and the graph are complete.
package changes

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

// A page is a page that differs between the runs. Its JSON names are those of the SQL columns.
type page struct {
	URL    string   `json:"url"`
	Change string   `json:"change"`
	What   []string `json:"what,omitempty"`
	Before *answer  `json:"before"` // from the earlier run or one before it; null: not visited
	After  *answer  `json:"after"`  // null: the later run did not visit it
}

type answer struct {
	State        string `json:"state"`
	Status       int    `json:"status_code"`
	Answer       string `json:"answer,omitempty"`             // instead of a page
	AnswerStatus int    `json:"answer_status_code,omitempty"` // of a wall, if the rest is what an earlier visit found
	Title        string `json:"title,omitempty"`
	SHA256       string `json:"body_sha256,omitempty"`
}

type link struct {
	From   string `json:"from_url"`
	To     string `json:"to_url"`
	Kind   string `json:"kind"`
	Change string `json:"change"`
}

type host struct {
	Domain  string `json:"domain"`
	Change  string `json:"change"`
	Came    int    `json:"pages_came"`
	Went    int    `json:"pages_went"`
	Changed int    `json:"pages_changed"`
}

// size returns how many of the host's pages differ.
func (h *host) size() int { return h.Came + h.Went + h.Changed }

type rot struct {
	Origin string `json:"quality_origin"`
	Links  int    `json:"links"`
	Dead   int    `json:"dead"`
	New    int    `json:"newly_dead"`
	Mended int    `json:"mended"`
}

// A target is a dead page to which origins linked in an archive.
type target struct {
	URL   string  `json:"url"`
	Links int     `json:"links"`
	After *answer `json:"after"`
}

// size returns how many links of the origin lead to another kind of page than before.
func (r *rot) size() int { return r.New + r.Mended }

// A head is the summary of a comparison.
type head struct {
	From    run      `json:"from"`
	To      run      `json:"to"`
	Pages   counts   `json:"page_counts"`
	Links   counts   `json:"link_counts"`
	Hosts   []host   `json:"hosts"`
	Unknown []string `json:"hosts_not_visited"` // hosts that the earlier run visited and the later one did not
	LinkRot []rot    `json:"link_rot"`

	Hands []survey.NewHands `json:"changed_hands"`
}

type run struct {
	ID     int    `json:"run_id"`
	Status string `json:"status"`
	Kind   string `json:"kind"` // crawl, or import: of web archives

	Captured string `json:"captured,omitempty"` // of an import: the days of the oldest and the newest answer
}

func newRun(r *schema.Run) run {
	return run{int(r.ID), r.Status.String(), r.Kind.String(), r.Captured()}
}

// named returns how a title names the run.
func (r *run) named() string {
	if r.Captured != "" {
		return fmt.Sprintf("run #%d (%s, captured %s)", r.ID, r.Status, r.Captured)
	}
	return fmt.Sprintf("run #%d (%s)", r.ID, r.Status)
}

type counts struct {
	Came    int `json:"came"`
	Went    int `json:"went"`
	Changed int `json:"changed"`
}

// newHead summarises a comparison. Hosts and origins with most changes come first.
func newHead(s *survey.Survey, d *survey.Diff) (*head, error) {
	sum, err := d.Sum()
	if err != nil {
		return nil, err
	}
	h := &head{
		From: newRun(&d.From), To: newRun(&d.To),
		Pages: counts{sum.Came, sum.Went, sum.Changed}, Links: counts{Came: sum.LinksCame, Went: sum.LinksWent},
		Hosts: []host{}, Unknown: append([]string{}, sum.Unvisited...), LinkRot: []rot{},
		Hands: append([]survey.NewHands{}, sum.Hands...),
	}
	for _, c := range sum.Hosts {
		change := c.Change.String()
		if c.Change == survey.Same {
			change = survey.Changed.String()
		}
		h.Hosts = append(h.Hosts, host{c.Name, change, c.Came, c.Went, c.Changed})
	}
	for _, r := range sum.Rot {
		h.LinkRot = append(h.LinkRot, rot{s.Scope().Origins()[r.Origin].Name, r.Links, r.Dead, r.New, r.Mended})
	}
	slices.SortFunc(h.Hosts, func(a, b host) int {
		return cmp.Or(cmp.Compare(b.size(), a.size()), cmp.Compare(a.Domain, b.Domain))
	})
	slices.SortFunc(h.LinkRot, func(a, b rot) int {
		return cmp.Or(cmp.Compare(b.size(), a.size()), cmp.Compare(b.Dead, a.Dead), cmp.Compare(a.Origin, b.Origin))
	})
	return h, nil
}

func newPage(c *survey.PageChange) page {
	return page{
		URL: c.URL, Change: c.Change.String(), What: c.What, Before: newAnswer(c.Before), After: newAnswer(c.After),
	}
}

func newAnswer(v *schema.Visit) *answer {
	if v == nil {
		return nil
	}
	a := &answer{
		State: v.State.String(), Status: v.Status, Answer: v.Answer.String(), AnswerStatus: v.AnswerStatus, Title: v.Title,
	}
	if v.SHA256 != [32]byte{} {
		a.SHA256 = hex.EncodeToString(v.SHA256[:])
	}
	return a
}

func newLink(c *survey.LinkChange) link {
	return link{c.FromURL, c.ToURL, c.Link.Kinds.First().String(), c.Change.String()}
}
