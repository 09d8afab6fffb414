package sqlite

import "github.com/sumi-ripple/ripple/kv/survey"

// A PageColumn is a column of the table pages.
type PageColumn struct {
	Name string
	Of   func(*survey.Page) any // nil, an int64 or a string
}

// PageColumns returns the columns of the table pages, for those who list pages in another way.
func PageColumns() []PageColumn {
	var all []PageColumn
	for _, c := range pageRelation().columns {
		all = append(all, PageColumn{c.name, func(p *survey.Page) any {
			var row pageRow
			row.of(p)
			return c.of(&row)
		}})
	}
	return all
}
