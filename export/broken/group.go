package broken

import (
	"cmp"
	"slices"
)

// A Group is a broken target with the links to it, one of each page, in the order of [Find].
type Group struct {
	*Target
	Links []Link
}

// ByTarget groups links by target. The target that most pages link to comes first.
func ByTarget(links []Link) []Group {
	at := map[*Target]int{}
	var groups []Group
	for i := range links {
		to := links[i].Target
		n, known := at[to]
		if !known {
			n = len(groups)
			at[to] = n
			groups = append(groups, Group{Target: to})
		}
		groups[n].Links = append(groups[n].Links, links[i])
	}
	slices.SortFunc(groups, func(a, b Group) int {
		return cmp.Or(cmp.Compare(len(b.Links), len(a.Links)), cmp.Compare(a.To, b.To))
	})
	return groups
}
