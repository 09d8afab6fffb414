package rank

import "math/rand/v2"

// rounds is how often Communities runs. It starts the next round from its own result, which often finds
// a slight improvement.
const rounds = 2

// Communities divides the nodes into groups with many links inside and few between them, ignoring
// directions, by the Leiden algorithm (Traag, Waltman and van Eck): nodes move to the neighbouring
// group that raises the modularity most; groups are refined into well-connected parts; the parts become
// the nodes of a smaller graph, and so on. The seed decides the order of the nodes; there is no other
// randomness. Every group is connected; a node without links is a group of its own. Groups are numbered
// like [WeakComponents].
func Communities(g *Graph, seed uint64) []int32 {
	base := undirect(g)
	random := rand.New(rand.NewPCG(seed, uint64(g.Len())))
	of := singletons(g.Len())
	for range rounds {
		of = climb(base, of, random)
	}
	return bySize(connect(g, of))
}

// singletons puts each of n nodes into a group of its own.
func singletons(n int) []int32 {
	of := make([]int32, n)
	for v := range of {
		of[v] = int32(v)
	}
	return of
}

// climb improves a division of base level by level and returns a new one.
func climb(base *network, of []int32, random *rand.Rand) []int32 {
	level := base
	node := singletons(base.len()) // by node of the base: its node in level
	of = append([]int32(nil), of...)
	for !level.ended() {
		groups := newMover(level, of, random).move()
		parts, count := refine(level, of, random)
		if groups == level.len() || count == level.len() {
			break
		}
		next := make([]int32, count) // by node of the smaller graph: its group
		for v, part := range parts {
			next[part] = of[v]
		}
		for v := range node {
			node[v] = parts[node[v]]
		}
		of, _ = number(next, level.len())
		level = level.shrink(parts, count)
	}
	result := make([]int32, base.len())
	for v := range result {
		result[v] = of[node[v]]
	}
	return result
}

// connect splits groups that are not connected, which can only raise the modularity.
func connect(g *Graph, of []int32) []int32 {
	return joined(g, func(u, v uint32, link int64) bool { return of[u] == of[v] && g.weight(link) > 0 })
}
