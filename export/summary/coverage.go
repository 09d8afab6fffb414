package summary

import "github.com/sumi-ripple/ripple/kv/survey"

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
	switch {
	case cut == 0 && p.survey.Past():
		p.line("Every page within reach that was recorded was visited.")
	case cut == 0:
		p.line("Every domain within reach was crawled to the end.")
	default:
		p.linef("**This map is partial:** %s cut, at least %s missing.", counted(cut, "domain was", "domains were"), pages(p.missing))
	}
	p.line("")
	p.table("Coverage", "Domains")
	for _, c := range covers() {
		if n := p.covers[c.cover]; n > 0 {
			p.row(c.name, count(n))
		}
	}
	p.list("### Domains That Were Cut", &p.cutHosts, hostLine.cut)
	p.seeds()
	p.subdomains()
	p.list("### Domains Whose Pages Have No Links (likely rendered by script)", &p.linkless, func(h hostLine) string {
		return inert(h.name) + " (" + pages(h.processed) + ")"
	})
	p.list("### Domains Seen Only as http:// and Not Reached over HTTPS", &p.unreached, func(h hostLine) string {
		return inert(h.name) + " (" + inert(h.coverage) + ")"
	})
}

type coverName struct {
	cover survey.Cover
	name  string
}

func covers() [11]coverName {
	return [...]coverName{
		{survey.CoverComplete, "complete"}, {survey.CoverBudget, "cut by budget"}, {survey.CoverSlow, "slowed by Crawl-delay"},
		{survey.CoverSuspended, "suspended"}, {survey.CoverGivenUp, "given up"}, {survey.CoverBlocked, "blocked (401, 403, 429)"},
		{survey.CoverDenied, "denied by robots.txt"}, {survey.CoverTrap, "capped as a trap"}, {survey.CoverWaiting, "not finished"},
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
		p.linef("- ... (%s more domains)", count(more))
	}
}

func (p *page) seeds() {
	if len(p.stray) == 0 {
		return
	}
	p.line("")
	p.line("### Seeds That End outside Their Origin")
	for _, s := range p.stray[:min(len(p.stray), listed)] {
		p.linef("- %s ends at %s", inert(s.Seed), inert(s.End))
	}
	if more := len(p.stray) - listed; more > 0 {
		p.linef("- ... (%s more seeds)", count(more))
	}
}

func (p *page) subdomains() {
	if len(p.uncovered) == 0 {
		return
	}
	p.line("")
	p.line("### Subdomains That Are Not Covered")
	for _, u := range p.uncovered[:min(len(p.uncovered), listed)] {
		p.linef("- %s (%s; domain = \"%s\" covers it)", inert(u.Host), counted(u.Links, "link", "links"), inert(u.Pattern))
	}
	if more := len(p.uncovered) - listed; more > 0 {
		p.linef("- ... (%s more domains)", count(more))
	}
}
