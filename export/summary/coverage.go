package summary

import (
	"strings"

	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema/amount"
)

// coverage says how much of the terrain was not seen.
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
		if n := p.covers[c.cover]; n > 0 {
			p.row(c.name, amount.Commas(n))
		}
	}
	p.list("### Domains That Were Cut", &p.cutHosts, hostLine.cut)
	p.cutSites()
	p.seeds()
	p.subdomains()
	p.list("### Domains Whose Pages Have No Links (likely rendered by script)", &p.linkless, func(h hostLine) string {
		return quoted(h.name) + " (" + pages(h.processed) + ")"
	})
	p.list("### Domains Seen Only as http:// and Not Reached over HTTPS", &p.unreached, func(h hostLine) string {
		return quoted(h.name) + " (" + quoted(h.coverage) + ")"
	})
}

// partial says whether anything is missing of the map, given how many hosts were cut.
func (p *page) partial(cut int) {
	var parts []string
	if cut > 0 {
		parts = append(parts, amount.Of(cut, "domain was", "domains were")+" cut")
	}
	if cut > 0 && p.missing > 0 {
		parts = append(parts, "at least "+pages(p.missing)+" missing")
	}
	if n := len(p.sites); n > 0 {
		parts = append(parts, "hosts of "+amount.Of(n, "site", "")+" not recorded")
	}
	if n := p.counts.LinksOmitted; n > 0 {
		parts = append(parts, amount.Of(n, "link", "")+" left out")
	}
	switch {
	case len(parts) > 0:
		p.line("**This map is partial:** " + strings.Join(parts, ", ") + ".")
	case p.survey.Past():
		p.line("Every page within reach that was recorded was visited.")
	default:
		p.line("Every domain within reach was crawled to the end.")
	}
}

// cutSites lists the sites of which hosts are not recorded.
func (p *page) cutSites() {
	if len(p.sites) == 0 {
		return
	}
	p.line("")
	p.line("### Sites of Which Not All Hosts Are Recorded")
	for _, s := range p.sites[:min(len(p.sites), listed)] {
		p.linef("- %s: %s, %s to further ones left out (%s)", quoted(s.Site), amount.Of(s.Hosts, "domain", ""),
			amount.Of(s.Overflow, "link", ""), s.Limit)
	}
	if more := len(p.sites) - listed; more > 0 {
		p.linef("- ... (%s more sites)", amount.Commas(more))
	}
}

type coverName struct {
	cover survey.Cover
	name  string
}

func covers() [11]coverName {
	return [...]coverName{
		{survey.CoverComplete, "complete"}, {survey.CoverBudget, "cut by budget"},
		{survey.CoverSlow, "slowed by Crawl-delay"},
		{survey.CoverSuspended, "suspended"}, {survey.CoverGivenUp, "given up"},
		{survey.CoverBlocked, "blocked (401, 403, 429)"},
		{survey.CoverDenied, "denied by robots.txt"}, {survey.CoverTrap, "capped as a trap"},
		{survey.CoverWaiting, "not finished"},
		{survey.CoverLost, "cut"}, {survey.CoverNotVisited, "not within reach"},
	}
}

// list writes a list with its title, if it holds anything.
func (p *page) list(title string, list *top[hostLine], say func(hostLine) string) {
	if list.total == 0 {
		return
	}
	p.line("")
	p.line(title)
	for _, h := range list.best() {
		p.line("- " + say(h))
	}
	if more := list.total - len(list.items); more > 0 {
		p.linef("- ... (%s more domains)", amount.Commas(more))
	}
}

func (p *page) seeds() {
	if len(p.stray) == 0 {
		return
	}
	p.line("")
	p.line("### Seeds That End outside Their Origin")
	for _, s := range p.stray[:min(len(p.stray), listed)] {
		p.linef("- %s ends at %s", quoted(s.Seed), quoted(s.End))
	}
	if more := len(p.stray) - listed; more > 0 {
		p.linef("- ... (%s more seeds)", amount.Commas(more))
	}
}

func (p *page) subdomains() {
	if len(p.uncovered) == 0 {
		return
	}
	p.line("")
	p.line("### Subdomains That Are Not Covered")
	for _, u := range p.uncovered[:min(len(p.uncovered), listed)] {
		p.linef("- %s (%s; domain = \"%s\" covers it)", quoted(u.Host), amount.Of(u.Links, "link", "links"),
			quoted(u.Pattern))
	}
	if more := len(p.uncovered) - listed; more > 0 {
		p.linef("- ... (%s more domains)", amount.Commas(more))
	}
}
