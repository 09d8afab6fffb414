package summary

import (
	"cmp"
	"fmt"

	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/export/broken"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/amount"
	"github.com/sumi-ripple/ripple/schema/preference"
)

// findings are the contents of the summary, read from a survey in a few passes over its hosts, links
// and pages.
type findings struct {
	counts *survey.Counts
	digest string // empty: an older run, whose state is no longer known

	full, partly, others top[hostLine] // lists of domains
	limited              top[hostLine] // by rate-limit answers
	black, stub          top[urlLine]

	covers    [survey.CoverCount]int // visitable hosts, by coverage
	missing   int                    // missing pages of the cut hosts
	sites     []survey.CutSite
	cutHosts  top[hostLine] // by missing pages
	shells    top[hostLine] // by pages that likely need scripts
	linkless  top[hostLine] // except those
	unreached top[hostLine]
	hands     []survey.NewHands
	twins     int           // pages that are near-duplicates of another
	walls     top[hostLine] // hosts whose pages are likely a wall that no rule knows
	stray     []survey.StraySeed
	uncovered []survey.Uncovered

	cited  *citations
	broken []broken.Link

	statuses map[int]int               // answered pages of the run, by status
	noPages  map[[2]string]int         // answers of the run that were no pages, by answer and rule
	failed   map[string]int            // failed pages, by kind of error
	stances  map[preference.Stance]int // pages read in the run with preferences, by what they say about training
}

// A hostLine is a host in a list.
type hostLine struct {
	name      string
	processed int
	from, to  uint8
	missing   int
	omitted   int // links left out
	html      int // HTML pages
	shells    int // those that likely need scripts
	waiting   int
	coverage  string
	cover     survey.Cover
	budget    string
}

// A urlLine is a URL in a list.
type urlLine struct {
	url        string
	references int
}

func byPages(a, b hostLine) int {
	return cmp.Or(cmp.Compare(b.processed, a.processed), cmp.Compare(a.name, b.name))
}

func byMissing(a, b hostLine) int {
	return cmp.Or(cmp.Compare(b.missing, a.missing), cmp.Compare(a.name, b.name))
}

func byShells(a, b hostLine) int {
	return cmp.Or(cmp.Compare(b.shells, a.shells), cmp.Compare(a.name, b.name))
}

func byReferences(a, b urlLine) int {
	return cmp.Or(cmp.Compare(b.references, a.references), cmp.Compare(a.url, b.url))
}

func collect(s *survey.Survey, counted export.Counted) (*findings, error) {
	f := &findings{
		full: newTop(listed, byPages), partly: newTop(listed, byPages), others: newTop(listed, byPages),
		limited: newTop(listed, byPages), black: newTop(listed, byReferences), stub: newTop(listed, byReferences),
		cutHosts: newTop(whole, byMissing), shells: newTop(whole, byShells), linkless: newTop(whole, byPages),
		unreached: newTop(whole, byPages), walls: newTop(whole, byPages),
		cited: newCitations(s, counted), statuses: map[int]int{}, failed: map[string]int{},
		noPages: map[[2]string]int{}, stances: map[preference.Stance]int{},
	}
	each := func(r *survey.HostReport) error {
		f.addHost(s.Run(), r)
		f.cited.addHost(r)
		return nil
	}
	for _, step := range []func() error{
		func() (err error) { f.counts, err = s.Counts(); return err },
		func() error { return s.Hosts.Each(each) },
		f.cited.readTrust,
		f.cited.readLinks,
		func() error { return s.EachPage(func(p *survey.Page) error { f.addPage(p); return nil }) },
		func() error { return s.Hosts.Each(func(r *survey.HostReport) error { f.cited.rank(r); return nil }) },
		func() (err error) { f.stray, err = survey.StraySeeds(s); return err },
		func() (err error) { f.sites, err = survey.CutSites(s); return err },
		func() (err error) { f.hands, err = s.ChangedHands(); return err },
		func() error { return f.countTwins(s) },
		func() (err error) { f.uncovered, err = survey.UncoveredSubdomains(s); return err },
		func() error { return f.readDigest(s) }, // before results that stay in memory
		func() (err error) { f.broken, _, err = broken.Find(s); return err },
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return f, nil
}

func (f *findings) countTwins(s *survey.Survey) error {
	found, err := s.Duplicates()
	if err == nil {
		f.twins = found.Len()
	}
	return err
}

func (f *findings) readDigest(s *survey.Survey) (err error) {
	if !s.Past() {
		f.digest, err = survey.Digest(s)
	}
	return err
}

func (f *findings) addHost(run schema.Run, r *survey.HostReport) {
	h := r.Host
	line := hostLine{
		name: h.Name, processed: r.Processed, from: r.FromDepth, to: r.ToDepth, missing: r.KnownMissing, waiting: r.Waiting,
		omitted: r.LinksOmitted, html: r.HTML, shells: r.Shells,
		coverage: r.Coverage, cover: r.Cover, budget: r.Budget,
	}
	if limited, ok := rateLimited(run, r); ok {
		line.coverage = limited
		f.limited.add(line)
		line.coverage = r.Coverage
	}
	if r.Known == 0 || !r.Class.Visitable() && !r.Cover.Cut() {
		return
	}
	f.covers[r.Cover]++
	if r.Wall == survey.WallSuspected {
		f.walls.add(line)
	}
	switch {
	case !r.Class.Visitable():
	case r.Class != schema.ClassQuality:
		f.others.add(line)
	case r.Cover == survey.CoverComplete, r.Cover == survey.CoverByRule, r.Cover == survey.CoverToDepth:
		f.full.add(line)
	default:
		f.partly.add(line)
	}
	if r.Cover.Cut() {
		f.cutHosts.add(line)
		f.missing += r.KnownMissing
	}
	switch {
	case r.Shells > 0:
		f.shells.add(line)
	case r.Unlinked():
		f.linkless.add(line)
	}
	if r.OnlyHTTP() {
		f.unreached.add(line)
	}
}

// rateLimited describes at which request, or how often, a host rate-limited the run. The second
// result is false if it did not.
func rateLimited(run schema.Run, r *survey.HostReport) (string, bool) {
	h := r.Host
	switch {
	case h.Run != run.ID:
		return "", false
	case h.RunGivenUp == schema.GaveUpRateLimit:
		return "request #" + amount.Commas(h.RunGivenUpAt), true
	case h.RunThrottles > 0:
		return amount.Of(h.RunThrottles, "answer", "answers") + " in " + amount.Of(h.RunRequests, "request", "requests"), true
	}
	return "", false
}

// addPage counts a page, unless it has disappeared.
func (f *findings) addPage(p *survey.Page) {
	if p.Gone {
		return
	}
	switch line := (urlLine{p.URL, int(f.cited.in[p.ID])}); p.Class {
	case schema.ClassBlacklisted:
		f.black.add(line)
	case schema.ClassStub:
		f.stub.add(line)
	default:
		f.cited.addPage(p)
	}
	if kind := p.Failure(); kind != "" {
		f.failed[kind]++
	}
	if v := p.Visit; p.Visited && p.Class.Visitable() && (v.Requests > 0 || v.Kept) {
		if v.State == schema.Processed && v.Preferences != "" {
			f.stances[preference.StanceOf(v.Preferences)]++
		}
		status := v.Status
		if v.Answer != schema.AnswerPage {
			status = v.AnswerStatus
		}
		f.statuses[status]++
		if p.Answer != schema.AnswerPage {
			f.noPages[[2]string{p.Answer.String(), p.AnswerRule}]++
		}
	}
}

// cut describes what is missing from a host: "example.com: 249 pages, 4,751 waiting
// (max-domain-requests = 500)".
func (h hostLine) cut() string {
	s := fmt.Sprintf("%s: %s", named(h.name), pagesOf(h.processed))
	if h.waiting > 0 {
		s += ", " + amount.Commas(h.waiting) + " waiting"
	}
	if lost := h.missing - h.waiting; lost > 0 {
		s += ", " + amount.Commas(lost) + " missing"
	}
	switch {
	case h.omitted > 0 && h.missing == 0: // its coverage says this
		return s + ", " + quoted(h.coverage)
	case h.omitted > 0:
		s += ", " + amount.Of(h.omitted, "link", "") + " left out"
	}
	if h.cover == survey.CoverLost && h.coverage == "cut" || h.coverage == survey.CoverArchives.String() { // explained
		return s
	}
	if h.budget != "" {
		return s + " (" + quoted(h.budget) + ")"
	}
	return s + " (" + quoted(h.coverage) + ")"
}
