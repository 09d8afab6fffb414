package rank

// A network is an undirected weighted graph: every link is in the rows of both
// its ends, none leads to its own node. Weights are sums of whole numbers and
// exact up to 2^53.
type network struct {
	off      []int64
	to       []uint32
	weight   []float64
	strength []float64 // weight of all links at a node and, twice, of those inside it
	total    float64   // sum of strength
}

func (w *network) len() int { return len(w.strength) }

// undirect leaves the directions out of g and joins links of one pair.
func undirect(g *Graph) *network {
	in := g.Reverse()
	w := &network{off: make([]int64, g.Len()+1), strength: make([]float64, g.Len())}
	w.to = make([]uint32, 0, 2*len(g.To))
	w.weight = make([]float64, 0, 2*len(g.To))
	for u := range g.Len() {
		w.mergeRows(g, in, uint32(u))
		w.close(u)
	}
	return w
}

// mergeRows appends the neighbours of u, ascending.
func (w *network) mergeRows(out, in *Graph, u uint32) {
	i, iEnd, j, jEnd := out.Off[u], out.Off[u+1], in.Off[u], in.Off[u+1]
	for i < iEnd || j < jEnd {
		if j == jEnd || i < iEnd && out.To[i] <= in.To[j] {
			w.add(u, out.To[i], float64(out.weight(i)))
			i++
		} else {
			w.add(u, in.To[j], float64(in.weight(j)))
			j++
		}
	}
}

// add puts a link behind the others of u, or joins it with the last one.
func (w *network) add(u, v uint32, weight float64) {
	last := len(w.to) - 1
	switch {
	case v == u || weight == 0:
	case int64(last) >= w.off[u] && w.to[last] == v:
		w.weight[last] += weight
	default:
		w.to = append(w.to, v)
		w.weight = append(w.weight, weight)
	}
}

// close ends the row of u.
func (w *network) close(u int) {
	w.off[u+1] = int64(len(w.to))
	w.strength[u] += sum(w.weight[w.off[u]:])
	w.total += w.strength[u]
}

// shrink makes each of count parts one node.
func (w *network) shrink(parts []int32, count int) *network {
	small := &network{off: make([]int64, count+1), strength: make([]float64, count)}
	small.to = make([]uint32, 0, len(w.to)/4) // parts swallow most links
	small.weight = make([]float64, 0, len(w.to)/4)
	near := newNear(count)
	first, members := membersOf(parts, count)
	for part := range count {
		all := 0.0
		for _, v := range members[first[part]:first[part+1]] {
			all += w.strength[v]
			for i := w.off[v]; i < w.off[v+1]; i++ {
				near.add(parts[w.to[i]], w.weight[i])
			}
		}
		for _, other := range near.touched {
			if int(other) != part {
				small.to = append(small.to, uint32(other))
				small.weight = append(small.weight, near.weight[other])
			}
		}
		near.clear()
		small.off[part+1] = int64(len(small.to))
		small.strength[part] = all
		small.total += all
	}
	return small
}

// membersOf lists the nodes by part: those of p are members[first[p]:first[p+1]].
func membersOf(parts []int32, count int) (first []int64, members []uint32) {
	keys, nodes := make([]uint32, len(parts)), make([]uint32, len(parts))
	for v, part := range parts {
		keys[v], nodes[v] = uint32(part), uint32(v)
	}
	grouped := group(max(count, len(parts)), keys, nodes, nil)
	return grouped.Off, grouped.To
}

// near adds up weights by group and forgets them in the time that it took.
type near struct {
	weight  []float64
	marked  []bool
	touched []int32 // in the order of the first touch
}

func newNear(n int) *near { return &near{weight: make([]float64, n), marked: make([]bool, n)} }

func (n *near) add(id int32, weight float64) {
	if !n.marked[id] {
		n.marked[id] = true
		n.touched = append(n.touched, id)
	}
	n.weight[id] += weight
}

func (n *near) clear() {
	for _, id := range n.touched {
		n.weight[id], n.marked[id] = 0, false
	}
	n.touched = n.touched[:0]
}
