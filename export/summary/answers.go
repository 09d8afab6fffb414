package summary

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/amount"
	"github.com/sumi-ripple/ripple/schema/preference"
)

// answers counts the pages of the run by HTTP status.
func (p *page) answers() {
	p.line("## Answers by Status")
	p.line("")
	statuses := slices.Sorted(maps.Keys(p.statuses))
	p.rows([]string{"Status", "Pages"}, "status", len(statuses), func(i int) []string {
		name := "no answer"
		if statuses[i] != 0 {
			name = schema.StatusReason(statuses[i]).String()
		}
		return []string{quoted(name), amount.Commas(p.statuses[statuses[i]])}
	})
	p.answersNoPages()
	p.preferences()
}

// preferences says how many pages have preferences about their use. It is left out if there are none.
func (p *page) preferences() {
	all := 0
	for _, n := range p.stances {
		all += n
	}
	if all == 0 {
		return
	}
	p.line("")
	p.line("### What Owners Say about Use")
	p.line("")
	p.line(fmt.Sprintf("Preferences of owners (Content-Usage, Content-Signal, licences) apply to %s that were read: "+
		"on %s they refuse the training of models, on %s they permit it, and on %s they say something else.",
		pagesOf(all), amount.Commas(p.stances[preference.Refused]), amount.Commas(p.stances[preference.Permitted]),
		amount.Commas(p.stances[preference.Otherwise])))
}

// answersNoPages counts the answers of the run that were no pages, by the rule that recognised them, and lists hosts
// whose pages are likely none. What is empty is left out.
func (p *page) answersNoPages() {
	if len(p.noPages) > 0 {
		p.line("")
		p.line("### Answers That Were No Pages")
		p.line("")
		p.answersByRule()
	}
	p.hostItems("### Domains Whose Pages Are Likely a Wall", &p.walls, func(h hostLine) string {
		return named(h.name) + " (" + pagesOf(h.processed) + ", nearly all with the same few words)"
	})
}

func (p *page) answersByRule() {
	rules := slices.SortedFunc(maps.Keys(p.noPages), func(a, b [2]string) int {
		return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1]))
	})
	p.rows([]string{"Answer", "Rule", "Pages"}, "rule", len(rules), func(i int) []string {
		return []string{rules[i][0], quoted(rules[i][1]), amount.Commas(p.noPages[rules[i]])}
	})
	p.line("")
	p.line("A challenge asks for proof that it answers a browser. What an earlier visit found there is kept. " +
		"A soft404 is what the host answers for any page that does not exist; links to it are dead. " +
		"A parked page offers the domain.")
}

// failures counts the pages that failed by kind of error.
func (p *page) failures() {
	p.line("## Errors by Kind")
	p.line("")
	if len(p.failed) == 0 {
		p.line("No page has ended in an error.")
		return
	}
	kinds := slices.Collect(maps.Keys(p.failed))
	slices.SortFunc(kinds, func(a, b string) int {
		return cmp.Or(cmp.Compare(p.failed[b], p.failed[a]), cmp.Compare(a, b))
	})
	shown := kinds[:min(len(kinds), folded)]
	p.rows([]string{"Error", "Pages"}, "kind", len(shown), func(i int) []string {
		return []string{quoted(shown[i]), amount.Commas(p.failed[shown[i]])}
	})
	p.shown(len(shown), len(kinds), "pages that were given up with their host count too")
}
