package rank

import (
	"context"
	"slices"
)

// Nodes that are moved one after the other are inspected ahead, some thousand at once on all cores,
// because finding the groups of their neighbours is most of the work. If a move changes the result for
// another of these nodes, that node is inspected again. So every decision is the same as without
// looking ahead, on any number of cores.
const (
	mostAhead = 1 << 12 // nodes
	aheadPart = 1 << 8  // part of a graph at once: nodes of a small one are often neighbours
	aheadJob  = 32      // nodes per job
)

// A sight is the result of inspecting a node: its neighbours, and their groups in the order of their
// first occurrence, with the weight of the links to each group.
type sight struct {
	to     []uint32
	groups []int32
	weight []float64
}

// weightOf returns the weight of the links to a group.
func (s *sight) weightOf(group int32) float64 {
	if i := slices.Index(s.groups, group); i >= 0 {
		return s.weight[i]
	}
	return 0
}

// sights are the results for the nodes of a job, stored consecutively.
type sights struct {
	sight
	ends [aheadJob]struct{ to, groups int }
}

func (s *sights) reset() {
	s.to, s.groups, s.weight = s.to[:0], s.groups[:0], s.weight[:0]
}

// add adds the last result of an eye as that of the i-th node.
func (s *sights) add(i int, e *eye) {
	s.to = append(s.to, e.to...)
	s.groups, s.weight = append(s.groups, e.near.touched...), append(s.weight, e.near.weight...)
	s.ends[i].to, s.ends[i].groups = len(s.to), len(s.groups)
}

// at returns the result for the i-th node.
func (s *sights) at(i int) sight {
	var from struct{ to, groups int }
	if i > 0 {
		from = s.ends[i-1]
	}
	end := s.ends[i]
	return sight{s.to[from.to:end.to], s.groups[from.groups:end.groups], s.weight[from.groups:end.groups]}
}

// An eye is the state of a goroutine that inspects nodes, with its last result.
type eye struct {
	row  row
	near near
	to   []uint32 // the neighbours, if requested
}

func (e *eye) sight() sight { return sight{e.to, e.near.touched, e.near.weight} }

// An outlook inspects nodes ahead.
type outlook struct {
	ctx  context.Context
	look func(v uint32, e *eye)
	most int // nodes at once
	eyes []eye
	jobs []sights
}

func newOutlook(ctx context.Context, most int, look func(v uint32, e *eye)) *outlook {
	jobs := (most + aheadJob - 1) / aheadJob
	return &outlook{ctx: ctx, look: look, most: most, eyes: toolsFor[eye](jobs), jobs: make([]sights, jobs)}
}

// ahead returns how many of n nodes are inspected ahead.
func ahead(n int) int { return min(mostAhead, n/aheadPart+1) }

// over inspects nodes, at most o.most.
func (o *outlook) over(nodes []uint32) {
	share(o.ctx, o.eyes, (len(nodes)+aheadJob-1)/aheadJob, func(e *eye, job int) {
		s := &o.jobs[job]
		s.reset()
		for i, v := range nodes[job*aheadJob : min((job+1)*aheadJob, len(nodes))] {
			o.look(v, e)
			s.add(i, e)
		}
	})
}

// at returns the result for the i-th node.
func (o *outlook) at(i int) sight { return o.jobs[i/aheadJob].at(i % aheadJob) }

// again inspects a node again.
func (o *outlook) again(v uint32) sight {
	o.look(v, &o.eyes[0])
	return o.eyes[0].sight()
}
