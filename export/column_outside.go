package export

// withOutside returns columns for a graph with hosts from outside, which have only a class, a site, a number of hosts,
// a position, and their ranks in the web graph.
func withOutside(all *Columns) *Columns {
	with := &Columns{Measures: all.Measures}
	for _, c := range all.Nodes {
		if known := c.Name == "class" || c.Name == "site" || c.Name == "hosts" || c.Name == "x" || c.Name == "y"; !known {
			c = c.unless(func(n *Node) bool { return n.Outside != nil })
		}
		with.Nodes = append(with.Nodes, c)
	}
	with.Nodes = append(with.Nodes,
		ofOutside("release", Text, func(o *Outside) Value { return words(o.Release) }),
		ofOutside("harmonic_rank", Integer, func(o *Outside) Value { return unless0(o.HarmonicRank) }),
		ofOutside("pagerank_rank", Integer, func(o *Outside) Value { return unless0(o.PageRank) }))
	for _, c := range all.Links {
		with.Links = append(with.Links, c.unless(func(l *Link) bool { return l.Outside }))
	}
	return with
}

// ofOutside returns a column that only hosts from outside have.
func ofOutside(name string, kind Kind, of func(*Outside) Value) Column[Node] {
	return figure(name, kind, AllLevels, func(n *Node) Value {
		if n.Outside == nil {
			return Value{None: true}
		}
		return of(n.Outside)
	}).as(Nullable)
}

// unless returns the column without a value where it is unknown.
func (c Column[T]) unless(unknown func(*T) bool) Column[T] {
	of := c.Of
	c.Of = func(t *T) Value {
		if unknown(t) {
			return Value{None: true}
		}
		return of(t)
	}
	c.Form |= Nullable
	return c
}
