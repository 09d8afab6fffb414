package schema

import "time"

// A Graph says which web graph the in-links of a state are from, and what was read. A graph is made from a sample of
// the web.
type Graph struct {
	Release string // cc-main-2024-may-jun-jul
	Domains bool   // its vertices are domains; false: hosts
	ReadAt  time.Time
	Origins []string // domains of the origins when it was read
	Found   []uint32 // of each origin, the number of its hosts (or 1, its domain) in the graph

	Vertices, Edges uint64
	Sources         uint64 // hosts or domains outside the terrain that link to an origin
	Known           uint64 // sources that were left out: the terrain knew them, or they belong to an origin
	Unreadable      uint64 // lines
	Ranked          bool   // ranks were read
}

// An Inlink is a host, or a domain, outside the terrain that links to origins.
type Inlink struct {
	Host         string   // canonical
	Hosts        uint32   // of the domain; 0: it is a host
	HarmonicRank uint32   // position by harmonic centrality, from 1; 0: unknown
	PageRank     uint32   // position by PageRank, from 1; 0: unknown
	Origins      []uint32 // to which it links: indexes in Graph.Origins, ascending
}

// BetterRank returns the smaller of two positions. 0 is none.
func BetterRank(a, b uint32) uint32 {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}
