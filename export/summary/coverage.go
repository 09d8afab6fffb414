package summary

import (
	"fmt"
	"strings"

	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/amount"
)

// coverage writes the unseen part of the terrain.
func (p *page) coverage() {
	p.line("## Coverage")
	p.line("")
	cut := 0
	for c, n := range p.covers {
		if survey.Cover(c).Cut() {
			cut += n
		}
	}
	p.partial(cut)
	p.line("")
	p.table("Coverage", "Domains")
	for _, c := range covers() {
		switch n := p.covers[c.cover]; {
		case n > 0:
			p.row(c.name, amount.Commas(n))
		case p.forgotten() && ofNewest(c.cover):
			p.row(c.name, unknown)
		}
	}
	title := "### Domains That Were Cut"
	if p.imports() {
		title = "### Domains of Which the Archives Lack Pages"
	}
	p.hostItems(title, &p.cutHosts, hostLine.cut)
	p.cutSites()
	p.seeds()
	p.subdomains()
	p.hostItems("### Domains with Pages That Likely Need Scripts", &p.shells, func(h hostLine) string {
		return fmt.Sprintf("%s (%s of %s)", named(h.name), amount.Commas(h.shells), pagesOf(h.html))
	})
	p.hostItems("### Domains Whose Pages Have No Links", &p.linkless, func(h hostLine) string {
		return named(h.name) + " (" + pagesOf(h.processed) + ")"
	})
	p.changedHands()
	p.hostItems("### Domains Seen Only as http:// and Not Reached over HTTPS", &p.unreached, func(h hostLine) string {
		return named(h.name) + " (" + quoted(h.coverage) + ")"
	})
}

// partial writes whether the map is incomplete, given the number of cut hosts.
func (p *page) partial(cut int) {
	var parts []string
	if cut > 0 {
		what := amount.Of(cut, "domain was", "domains were") + " cut"
		if p.imports() {
			what = "the archives lack pages of " + amount.Of(cut, "domain", "")
		}
		parts = append(parts, what)
	}
	if cut > 0 && p.missing > 0 {
		parts = append(parts, "at least "+pagesOf(p.missing)+" missing")
	}
	if n := len(p.sites); n > 0 {
		parts = append(parts, "hosts of "+amount.Of(n, "site", "")+" not recorded")
	}
	if n := p.counts.LinksOmitted - p.counts.LinksRefused; n > 0 {
		parts = append(parts, amount.Of(n, "link", "")+" left out")
	}
	switch {
	case len(parts) > 0:
		p.line("**This map is partial:** " + strings.Join(parts, ", ") + ".")
	case p.imports():
		p.line("Every page within reach is in the archives.")
	case p.forgotten():
		p.line("Every page within reach that was recorded was visited.")
	default:
		p.line("Every domain within reach was crawled to the end.")
	}
	if n := p.counts.LinksRefused; n > 0 {
		p.linef("%s left out: no URL, or longer than max-length = %d.", amount.Of(n, "link", ""),
			p.survey.Config().URL.MaxLength)
	}
}

// forgotten reports whether a later run has followed, so that not everything about this one is known any more. An
// import has nothing to forget.
func (p *page) forgotten() bool { return p.survey.Past() && !p.imports() }

// imports reports whether the run has read archives.
func (p *page) imports() bool { return p.survey.Run().Kind == schema.RunImport }

// cutSites lists the sites with unrecorded hosts.
func (p *page) cutSites() {
	p.items("### Sites of Which Not All Hosts Are Recorded", "site", len(p.sites), func(i int) string {
		s := p.sites[i]
		return fmt.Sprintf("%s: %s, %s to further ones left out (%s)", named(s.Site), amount.Of(s.Hosts, "domain", ""),
			amount.Of(s.Overflow, "link", ""), s.Limit)
	})
}

// unknown is printed instead of a figure that is only stored for the newest run.
const unknown = "-"

type coverName struct {
	cover survey.Cover
	name  string
}

func covers() []coverName {
	return []coverName{
		{survey.CoverComplete, "complete"}, {survey.CoverByRule, "complete but for rules"},
		{survey.CoverToDepth, "complete to max-depth"},
		{survey.CoverBudget, "cut by budget"},
		{survey.CoverSlow, "slowed by Crawl-delay"},
		{survey.CoverSuspended, "suspended"}, {survey.CoverGivenUp, "given up"},
		{survey.CoverBlocked, "blocked (401, 402, 403, 429)"},
		{survey.CoverDenied, "denied by robots.txt"}, {survey.CoverTrap, "capped as a trap"},
		{survey.CoverWaiting, "not finished"},
		{survey.CoverLost, "cut"}, {survey.CoverArchives, "not in the archives"}, {survey.CoverNotVisited, "not visited"},
	}
}

// ofNewest reports a coverage that depends on data only stored for the newest run.
func ofNewest(c survey.Cover) bool {
	return c == survey.CoverBudget || c == survey.CoverSlow || c == survey.CoverSuspended || c == survey.CoverGivenUp
}

// hostItems writes a list of hosts with its title, unless it is empty.
func (p *page) hostItems(title string, list *top[hostLine], say func(hostLine) string) {
	hosts := list.best()
	p.items(title, "domain", len(hosts), func(i int) string { return say(hosts[i]) })
}

// changedHands lists the hosts whose front pages have nothing in common with what they were.
func (p *page) changedHands() {
	p.items("### Domains That Have Likely Changed Hands", "domain", len(p.hands), func(i int) string {
		h := p.hands[i]
		return fmt.Sprintf("%s (run #%d: %s; run #%d: %s)", named(h.Name), h.Before.Run, quoted(h.Before.String()),
			h.After.Run, quoted(h.After.String()))
	})
}

func (p *page) seeds() {
	p.items("### Seeds That End outside Their Origin", "seed", len(p.stray), func(i int) string {
		return named(p.stray[i].Seed) + " ends at " + named(p.stray[i].End)
	})
}

func (p *page) subdomains() {
	p.items("### Subdomains That Are Not Covered", "domain", len(p.uncovered), func(i int) string {
		u := p.uncovered[i]
		return fmt.Sprintf("%s (%s; domain = \"%s\" covers it)", named(u.Host), amount.Of(u.Links, "link", "links"),
			quoted(u.Pattern))
	})
}
