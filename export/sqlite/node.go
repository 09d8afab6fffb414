package sqlite

import (
	"cmp"
	"maps"
	"slices"

	"github.com/sumi-ripple/ripple/schema"
)

// nodes are the nodes of a level that has names of its own: sites and entities.
type nodes struct {
	table *table
	ids   map[string]uint32
	all   []node // by id
	hosts map[[2]uint32]bool
}

// A node is one row.
type node struct {
	name         string
	hosts, pages int
}

func newNodes(t *table) *nodes {
	return &nodes{table: t, ids: make(map[string]uint32), all: make([]node, 1), hosts: make(map[[2]uint32]bool)}
}

// add counts pages of a host for a node and returns its id.
func (n *nodes) add(name string, host schema.HostID, pages int) uint32 {
	id, ok := n.ids[name]
	if !ok {
		id = uint32(len(n.all))
		n.ids[name] = id
		n.all = append(n.all, node{name: name})
	}
	n.all[id].pages += pages
	if key := [2]uint32{id, uint32(host)}; !n.hosts[key] {
		n.hosts[key] = true
		n.all[id].hosts++
	}
	return id
}

// end writes the rows.
func (n *nodes) end() error {
	for id, one := range n.all {
		if id == 0 {
			continue
		}
		if err := n.table.add(int64(id), clean(one.name), int64(one.hosts), int64(one.pages)); err != nil {
			return err
		}
	}
	return n.table.end()
}

// edges are the links between the nodes of a level, added up.
type edges struct {
	table *table
	all   map[[2]uint32]*edge
}

type edge struct {
	page                    schema.ID // the last that links
	links, pages, editorial int
	first, last             schema.RunID
}

func newEdges(t *table) *edges { return &edges{table: t, all: make(map[[2]uint32]*edge)} }

// A pageLink is a link as it counts for the levels above. They arrive by page.
type pageLink struct {
	from        schema.ID
	editorial   bool
	first, last schema.RunID
}

// add counts a link from one node to another.
func (e *edges) add(from, to uint32, l pageLink) {
	if from == to {
		return
	}
	one := e.all[[2]uint32{from, to}]
	if one == nil {
		one = &edge{first: l.first}
		e.all[[2]uint32{from, to}] = one
	}
	one.links++
	if one.page != l.from {
		one.page = l.from
		one.pages++
	}
	if l.editorial {
		one.editorial++
	}
	one.first, one.last = min(one.first, l.first), max(one.last, l.last)
}

// end writes the rows in the order of their key.
func (e *edges) end() error {
	keys := slices.SortedFunc(maps.Keys(e.all), func(a, b [2]uint32) int {
		return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1]))
	})
	for _, key := range keys {
		one := e.all[key]
		err := e.table.add(int64(key[0]), int64(key[1]), int64(one.links), int64(one.pages), int64(one.editorial),
			int64(one.first), int64(one.last))
		if err != nil {
			return err
		}
	}
	return e.table.end()
}
