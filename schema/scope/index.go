package scope

import (
	"slices"
	"strings"

	"github.com/sumi-ripple/ripple/schema/weburl"
)

// none is the list of a host that no list names.
const none = int32(1<<31 - 1)

// A claim is what the lists say about the hosts that one pattern matches.
type claim struct {
	list    int32 // the first list with the pattern, or none
	origins []int // every origin with the pattern, in order; shared, never changed
}

// An entry holds, for one name, the claim on that host alone and the claim on it and all names below
// it. Claim 0 says nothing.
type entry struct{ exact, below uint32 }

// An index maps names to claims. Few claims are distinct, so a name costs its key and eight bytes.
type index struct {
	names  map[string]entry
	claims []claim
}

func newIndex(names int) *index {
	return &index{names: make(map[string]entry, names), claims: []claim{{list: none}}}
}

// declare registers a claim and returns its number for add.
func (x *index) declare(c claim) uint32 {
	x.claims = append(x.claims, c)
	return uint32(len(x.claims) - 1)
}

func (x *index) add(p Pattern, id uint32) {
	e := x.names[p.base]
	if p.below {
		e.below = x.merge(e.below, id)
	} else {
		e.exact = x.merge(e.exact, id)
	}
	x.names[p.base] = e
}

// merge returns a claim that combines both.
func (x *index) merge(a, b uint32) uint32 {
	if a == 0 || a == b {
		return b
	}
	both := join(x.claims[a], x.claims[b])
	for _, id := range [...]uint32{a, b} {
		if c := x.claims[id]; c.list == both.list && slices.Equal(c.origins, both.origins) {
			return id
		}
	}
	return x.declare(both)
}

func join(a, b claim) claim {
	both := claim{list: min(a.list, b.list)}
	switch {
	case len(a.origins) == 0:
		both.origins = b.origins
	case len(b.origins) == 0:
		both.origins = a.origins
	default:
		both.origins = slices.Concat(a.origins, b.origins)
		slices.Sort(both.origins)
		both.origins = slices.Compact(both.origins)
	}
	return both
}

// lookup joins all claims on a host. The pattern is that of the winning list.
func (x *index) lookup(host string) (claim, Pattern) {
	found, by := claim{list: none}, Pattern{}
	take := func(id uint32, p Pattern) {
		if id == 0 {
			return
		}
		c := x.claims[id]
		if c.list < found.list {
			by = p
		}
		found = join(found, c)
	}
	name, _ := weburl.SplitPort(host)
	take(x.names[name].exact, Pattern{name, false})
	for name != "" {
		take(x.names[name].below, Pattern{name, true})
		_, name, _ = strings.Cut(name, ".")
	}
	return found, by
}
