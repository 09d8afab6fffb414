package summary

import (
	"cmp"
	"maps"
	"slices"

	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/amount"
)

// answers counts the pages of the run by the status of their answer.
func (p *page) answers() {
	p.line("## Answers by Status")
	p.line("")
	p.table("Status", "Pages")
	for _, status := range slices.Sorted(maps.Keys(p.statuses)) {
		name := "no answer"
		if status != 0 {
			name = schema.StatusReason(status).String()
		}
		p.row(quoted(name), amount.Commas(p.statuses[status]))
	}
}

// failures counts the pages that ended in an error by its kind.
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
