package atlas

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/sumi-ripple/ripple/export/rank"
)

// terrain returns a graph like a web of hosts: groups of different sizes with hubs, links between them,
// small islands and nodes without links. It has about n nodes and four links per node.
func terrain(n int, seed uint64) ([]Node, []Edge) {
	random := rand.New(rand.NewPCG(seed, 9))
	main := n * 9 / 10
	home := make([]int, n)
	var first []int // first node of each group
	for v := 0; v < main; {
		size := min(3+int(float64(main)/12*math.Pow(random.Float64(), 2)), main-v)
		first = append(first, v)
		for range size {
			home[v] = len(first) - 1
			v++
		}
	}
	first = append(first, main)
	known := map[[2]uint32]bool{}
	var edges []Edge
	link := func(u, v int) {
		pair := [2]uint32{uint32(u), uint32(v)}
		if u != v && !known[pair] {
			known[pair] = true
			edges = append(edges, Edge{pair[0], pair[1], 1 + uint32(20*math.Pow(random.Float64(), 6)), 0})
		}
	}
	inGroup := func(g int) int {
		return first[g] + int(float64(first[g+1]-first[g])*math.Pow(random.Float64(), 3))
	}
	for v := range main {
		g := home[v]
		link(v, inGroup(g))
		for range random.IntN(6) {
			link(v, inGroup(g))
		}
		if random.IntN(5) == 0 || v == first[g] {
			link(v, inGroup(random.IntN(len(first)-1)))
		}
	}
	for v := main; v < main+(n-main)/2; v++ { // islands of up to five
		if (v-main)%5 != 0 {
			link(v-1, v)
		}
	}
	return nodes(n, edges, random), edges
}

// nodes invents facts that fit the links.
func nodes(n int, edges []Edge, random *rand.Rand) []Node {
	from, to, weight := make([]uint32, len(edges)), make([]uint32, len(edges)), make([]uint32, len(edges))
	for i, e := range edges {
		from[i], to[i], weight[i] = e.From, e.To, e.Weight
	}
	g := rank.Build(n, from, to, weight)
	in, out := make([]int, n), make([]int, n)
	for _, e := range edges {
		in[e.To]++
		out[e.From]++
	}
	share, groups := rank.PageRank(g, rank.Damping, rank.Tolerance), rank.Communities(g, 1)
	harmonic, _ := rank.Harmonic(g)
	words := []string{"garden", "harbor", "lantern", "meadow", "orchard", "quarry", "river", "summit", "willow", "archive",
		"journal", "studio", "letters", "fields", "notes"}
	classes := []string{"discovered", "discovered", "discovered", "discovered", "quality", "quality", "stub", "blacklist"}
	all := make([]Node, n)
	for v := range all {
		word := words[random.IntN(len(words))]
		all[v] = Node{Name: fmt.Sprintf("%s-%d.example", word, v), Title: "The " + word + " of small things",
			Class: classes[random.IntN(len(classes))],
			Depth: int(4 * math.Sqrt(random.Float64())), Community: int(groups[v]),
			Pages: 1 + int(500*math.Pow(random.Float64(), 4)),
			In:    in[v], Out: out[v], Trust: share[v], PageRank: share[v], Harmonic: harmonic[v]}
		all[v].Visited = all[v].Pages / 2
	}
	return all
}
