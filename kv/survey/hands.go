package survey

import (
	"errors"
	"slices"
	"strings"
	"unicode"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// A NewHands is a host that has likely changed hands between two runs: its front page now redirects to another site, or
// has neither a word of the title nor a link nor the text in common with what it was. At least two of these must be
// there to compare. It is a mark; nothing follows from it.
type NewHands struct {
	Name   string `json:"domain"`
	Before Front  `json:"before"`
	After  Front  `json:"after"`
}

// A Front is what the front page of a host shows, where its redirects within the site lead.
type Front struct {
	Run   schema.RunID `json:"run_id"` // that visited it
	URL   string       `json:"url"`
	Title string       `json:"title"`
	To    string       `json:"redirect_to"` // on another site; empty: it is a page
}

// String returns what a front page shows, in a few words.
func (f *Front) String() string {
	switch {
	case f.To != "":
		return "redirects to " + f.To
	case f.Title == "":
		return "a page without a title"
	}
	return f.Title
}

// hands compares what front pages show at two times.
type hands struct {
	core   *core
	stands *stands
	hosts  *hosts
}

// A timeFunc returns the last visit of a page until some time; 0: there is none.
type timeFunc func(id schema.ID) (schema.Seq, error)

// changed compares the front pages of a host; nil: it has not changed hands, or one of them says nothing.
func (hd *hands) changed(tx *kv.Tx, id schema.HostID, before, after timeFunc) (*NewHands, error) {
	h, err := hd.hosts.host(tx, id)
	if err != nil {
		return nil, err
	}
	page, known, err := hd.core.lookup(front(h.name))
	if err != nil || !known {
		return nil, err
	}
	was, err := before(page)
	if err != nil || was == 0 {
		return nil, err
	}
	is, err := after(page)
	if err != nil || is == 0 || is == was {
		return nil, err
	}
	later, shown, err := hd.front(tx, id, page, after)
	if err != nil || later == nil {
		return nil, err
	}
	earlier, shownBefore, err := hd.front(tx, id, page, before)
	if err != nil || earlier == nil || earlier.To != "" {
		return nil, err
	}
	if later.To == "" && !unlike(page, shownBefore, shown) {
		return nil, nil
	}
	return &NewHands{Name: h.name, Before: *earlier, After: *later}, nil
}

// front returns what a front page shows at a time, and the visit that saw it; nil: that says nothing, as an error and a
// wall do.
func (hd *hands) front(tx *kv.Tx, host schema.HostID, page schema.ID, at timeFunc) (*Front, *schema.Visit, error) {
	for range schema.MaxRedirects + 1 {
		seq, err := at(page)
		if err != nil || seq == 0 {
			return nil, nil, err
		}
		v, err := hd.stands.visit(tx, seq)
		if err != nil || v.State != schema.Processed || v.Answer != schema.AnswerPage {
			return nil, nil, err
		}
		f := &Front{Run: v.Run, Title: v.Title}
		if f.URL, err = tx.URLs.Norm(page); err != nil {
			return nil, nil, err
		}
		if v.RedirectTo == 0 {
			if !isHTML(v) || v.Shell != 0 && v.Rendering&schema.Rendered == 0 {
				return nil, nil, nil
			}
			return f, v, nil
		}
		own, err := hd.sameOwner(tx, host, hd.core.store.HostOf(v.RedirectTo))
		if err != nil {
			return nil, nil, err
		}
		if !own {
			f.To, err = tx.URLs.Norm(v.RedirectTo)
			return f, v, err
		}
		page = v.RedirectTo
	}
	return nil, nil, nil
}

// sameOwner reports whether two hosts are of one site, entity or origin.
func (hd *hands) sameOwner(tx *kv.Tx, a, b schema.HostID) (bool, error) {
	one, err := hd.hosts.host(tx, a)
	if err != nil {
		return false, err
	}
	other, err := hd.hosts.host(tx, b)
	if err != nil {
		return false, err
	}
	shared := func(origin int) bool { return slices.Contains(other.origins, origin) }
	return one.site == other.site || one.entity != "" && one.entity == other.entity ||
		slices.ContainsFunc(one.origins, shared), nil
}

// leastLinks is the number of links that two pages must have for their links to be compared: tiny pages share none by
// chance.
const leastLinks = 3

// unlike reports whether two visits of a front page have nothing in common, although at least two of the words of the
// title, the links and the text can be compared. One alone also differs at a page that says the site is down.
func unlike(front schema.ID, a, b *schema.Visit) bool {
	titles, otherTitles := titleWords(a.Title), titleWords(b.Title)
	links, otherLinks := outlinks(front, a), outlinks(front, b)
	compared := 0
	for _, both := range []bool{
		len(titles) > 0 && len(otherTitles) > 0, min(len(links), len(otherLinks)) >= leastLinks,
		a.SimHash != 0 && b.SimHash != 0,
	} {
		if both {
			compared++
		}
	}
	title := strings.TrimSpace(a.Title)
	same := title != "" && strings.EqualFold(title, strings.TrimSpace(b.Title)) || share(titles, otherTitles) ||
		share(links, otherLinks) || a.SimHash.Near(b.SimHash) || a.Shown != 0 && a.Shown == b.Shown
	return compared > 1 && !same
}

// outlinks returns the targets of the links of a front page, without the front page itself.
func outlinks(front schema.ID, v *schema.Visit) map[schema.ID]bool {
	to := map[schema.ID]bool{}
	for _, l := range v.Links {
		if l.To != front {
			to[l.To] = true
		}
	}
	return to
}

func share[T comparable](a, b map[T]bool) bool {
	for one := range a {
		if b[one] {
			return true
		}
	}
	return false
}

// titleWords returns the words of a title, in lower case, without those that titles of any site have. Scripts that
// write no spaces between words count every two letters in a row as one.
func titleWords(title string) map[string]bool {
	words := map[string]bool{}
	for word := range strings.FieldsFuncSeq(strings.ToLower(title), func(r rune) bool {
		return !unicode.In(r, unicode.L, unicode.N, unicode.M)
	}) {
		runes := []rune(word)
		if runes[0] >= 0x0e00 { // from Thai on
			for i := range runes[1:] {
				words[string(runes[i:i+2])] = true
			}
		} else if len(runes) > 2 && !slices.Contains(anyTitle(), word) {
			words[word] = true
		}
	}
	return words
}

// anyTitle returns words that say nothing about a site.
func anyTitle() []string {
	return []string{"and", "com", "domain", "for", "from", "home", "homepage", "index", "net", "official", "online", "org",
		"our", "page", "site", "startseite", "the", "und", "web", "website", "welcome", "willkommen", "with", "www", "you",
		"your"}
}

// ChangedHands returns the hosts that have likely changed hands since the last earlier run in which they showed a front
// page, by id. Only hosts are considered whose front page the run of the survey visited.
func (s *Survey) ChangedHands() (found []NewHands, err error) {
	err = s.core.view(func(tx *kv.Tx) error {
		if s.core.run.ID == s.core.runs[0].ID {
			return nil
		}
		if err := s.coverage.warm(tx); err != nil {
			return err
		}
		for id := schema.HostID(1); int(id) < len(s.hosts.byID); id++ {
			one, err := s.hands().since(tx, id)
			if err = errors.Join(err, s.core.live()); err != nil {
				return err
			}
			if one != nil {
				found = append(found, *one)
			}
		}
		return nil
	})
	return found, err
}

// ChangedHandsOf is [Survey.ChangedHands] for one host; nil: it has not.
func (s *Survey) ChangedHandsOf(host schema.HostID) (found *NewHands, err error) {
	err = s.core.view(func(tx *kv.Tx) (err error) {
		found, err = s.hands().since(tx, host)
		return err
	})
	return found, err
}

func (s *Survey) hands() *hands { return &hands{core: s.core, stands: s.stands, hosts: s.hosts} }

// since compares the front page of a host with what it last showed before the run of the survey.
func (hd *hands) since(tx *kv.Tx, host schema.HostID) (*NewHands, error) {
	after := func(id schema.ID) (schema.Seq, error) {
		if !hd.core.visited(id) {
			return 0, nil
		}
		return hd.core.latest(id), nil
	}
	before := func(id schema.ID) (schema.Seq, error) {
		for seq := hd.core.latest(id); seq != 0; {
			v, err := tx.Visits.At(seq)
			if err != nil {
				return 0, err
			}
			if seq < hd.core.run.FirstVisit && v.State == schema.Processed && v.Answer == schema.AnswerPage {
				return seq, nil
			}
			seq = v.Prev
		}
		return 0, nil
	}
	return hd.changed(tx, host, before, after)
}

// changedHands returns the hosts that have likely changed hands between the two runs, by id.
func (d *Diff) changedHands() (found []NewHands, err error) {
	at := func(sd *side) timeFunc {
		return func(id schema.ID) (schema.Seq, error) { return schema.Seq(sd.seq[id]), nil }
	}
	before, after := at(&d.sides[0]), at(&d.sides[1])
	err = d.s.core.view(func(tx *kv.Tx) error {
		if err := d.s.coverage.warm(tx); err != nil {
			return err
		}
		for id := schema.HostID(1); int(id) < len(d.s.hosts.byID); id++ {
			one, err := d.s.hands().changed(tx, id, before, after)
			if err = errors.Join(err, d.s.core.live()); err != nil {
				return err
			}
			if one != nil {
				found = append(found, *one)
			}
		}
		return nil
	})
	return found, err
}
