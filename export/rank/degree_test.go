package rank

// OutDegree returns the number of outgoing links of each node.
func OutDegree(g *Graph) []uint32 {
	degree := make([]uint32, g.Len())
	for u := range degree {
		degree[u] = uint32(g.Off[u+1] - g.Off[u])
	}
	return degree
}

// InDegree returns the number of incoming links of each node.
func InDegree(g *Graph) []uint32 {
	degree := make([]uint32, g.Len())
	for _, v := range g.To {
		degree[v]++
	}
	return degree
}
