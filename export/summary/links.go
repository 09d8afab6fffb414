package summary

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/export/broken"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/amount"
)

func (p *page) endorsements() {
	p.line("## Domains by Endorsing Origins")
	p.line("")
	hosts := p.cited.hosts.best()
	head := []string{"Domain", "Class", "Origins", "Trust", "Links", "Coverage"}
	p.rows(head, "domain", len(hosts), func(i int) []string {
		h := hosts[i]
		return []string{
			named(h.name), h.class, amount.Commas(h.origins), fmt.Sprintf("%.4g", h.trust), amount.Commas(h.links),
			quoted(h.coverage),
		}
	})
	p.shown(len(hosts), p.cited.hosts.total, p.cited.order()+", then by trust"+p.cited.means())
}

// order names the figure by which a list is ranked first.
func (c *citations) order() string {
	if c.counted == export.AllLinks {
		return "by the sites of origins that link there"
	}
	return "by the sites of origins that endorse it"
}

// means explains the term.
func (c *citations) means() string {
	if c.counted == export.AllLinks {
		return ""
	}
	return "; an endorsement is a link in the text of a page, and not on most pages of its host"
}

// shown gives the number of items shown, their total and their order.
func (p *page) shown(n, total int, what string) {
	if total == 0 {
		return
	}
	p.line("")
	p.linef("*(Showing top %s of %s; %s)*", amount.Commas(n), amount.Commas(total), what)
}

func (p *page) pages() {
	p.line("## Pages by Endorsing Origins")
	p.line("")
	pages := p.cited.pages.best()
	head := []string{"URL", "Title", "Origins", "From Other Domains", "Links In"}
	p.rows(head, "page", len(pages), func(i int) []string {
		l := pages[i]
		return []string{
			named(l.url), quoted(l.title), amount.Commas(l.origins), amount.Commas(l.foreign), amount.Commas(l.in),
		}
	})
	p.shown(len(pages), p.cited.pages.total,
		p.cited.order()+", then by the trust of the domain"+p.cited.means())
}

// maxMatrix is the maximum number of origins in a matrix.
const maxMatrix = 20

// matrix writes how many links lead from origin to origin.
func (p *page) matrix() {
	p.line("## Links between Origins")
	p.line("")
	if n := len(p.survey.Scope().Origins()); n <= maxMatrix {
		p.cells(n)
	} else {
		p.pairs()
	}
	p.line("")
	what := "Endorsements, which are links in the text of pages,"
	if p.cited.counted == export.AllLinks {
		what = "Links"
	}
	p.line("*(" + what + " from the origin of the row to that of the column)*")
}

// cells writes the matrix, with a row and a column for each origin.
func (p *page) cells(n int) {
	head := []string{"From"}
	for i := range n {
		head = append(head, fmt.Sprint(i+1))
	}
	p.table(head...)
	for from := range n {
		cells := []string{fmt.Sprintf("%d: %s", from+1, named(p.originName(from)))}
		for to := range n {
			cells = append(cells, amount.Commas(p.cited.matrix[[2]int{from, to}]))
		}
		p.row(cells...)
	}
}

func (p *page) originName(i int) string { return p.survey.Scope().Origins()[i].Name }

// pairs lists the origins that link to each other, if there are too many for a matrix.
func (p *page) pairs() {
	links := p.cited.matrix
	pairs := slices.DeleteFunc(slices.Collect(maps.Keys(links)), func(pair [2]int) bool { return pair[0] == pair[1] })
	slices.SortFunc(pairs, func(a, b [2]int) int {
		return cmp.Or(cmp.Compare(links[b], links[a]), slices.Compare(a[:], b[:]))
	})
	shown := pairs[:min(len(pairs), folded)]
	p.rows([]string{"From", "To", "Links"}, "pair", len(shown), func(i int) []string {
		return []string{named(p.originName(shown[i][0])), named(p.originName(shown[i][1])), amount.Commas(links[shown[i]])}
	})
}

// The broken links that a summary lists: one with hundreds of thousands must remain readable.
const (
	brokenTargets   = 20
	brokenOrigins   = 20
	brokenPerOrigin = 5
	brokenText      = 200 // bytes of a URL
)

// brokenLinks lists the broken targets that most pages link to, and the first broken links of each origin.
func (p *page) brokenLinks() {
	p.line("## Broken Links")
	p.line("")
	if len(p.broken) == 0 {
		p.line("No link leads nowhere.")
		return
	}
	targets := broken.ByTarget(p.broken)
	all := "; \"ripple broken\" lists them all"
	if p.survey.Past() {
		all = "" // it lists those of the newest run
	}
	p.linef("%s nowhere, to %s%s.", amount.Of(len(p.broken), "link leads", "links lead"),
		amount.Of(len(targets), "target", ""), all)
	p.line("")
	shown := targets[:min(len(targets), brokenTargets)]
	p.rows([]string{"Target", "Pages", "Error"}, "target", len(shown), func(i int) []string {
		return []string{shortened(shown[i].To), amount.Commas(len(shown[i].Links)), quoted(shown[i].Why)}
	})
	p.brokenMore(len(targets)-len(shown), "more targets")
	origins := 0
	for rest := p.broken; len(rest) > 0; origins++ {
		n := slices.IndexFunc(rest, func(l broken.Link) bool { return l.Origin != rest[0].Origin })
		if n < 0 {
			n = len(rest)
		}
		if origins < brokenOrigins {
			p.brokenOf(rest[:n])
		}
		rest = rest[n:]
	}
	p.brokenMore(origins-brokenOrigins, "more origins with broken links")
}

func (p *page) brokenMore(n int, noun string) {
	if n > 0 {
		p.line("")
		p.linef("*(%s)*", amount.Commas(n)+" "+noun)
	}
}

// shortened is [named] for a URL that may be long.
func shortened(url string) string {
	if len(url) > brokenText {
		url = schema.Clean(url, brokenText) + "..."
	}
	return named(url)
}

// brokenOf lists the first broken links of one origin.
func (p *page) brokenOf(links []broken.Link) {
	p.line("")
	p.linef("### %s (%s)", named(cmp.Or(links[0].Origin, "Other Pages")), amount.Of(len(links), "link", ""))
	p.line("")
	shown := links[:min(len(links), brokenPerOrigin)]
	p.rows([]string{"Page", "Anchor", "Target", "Error"}, "link", len(shown), func(i int) []string {
		l := shown[i]
		anchor := l.Link.Anchor
		if kind := l.Link.Kinds.First(); anchor == "" {
			anchor = "(" + kind.String() + ")"
		}
		return []string{shortened(l.From), quoted(anchor), shortened(l.To), quoted(l.Why)}
	})
	p.brokenMore(len(links)-len(shown), "more")
}
