package rank

import (
	"context"
	"slices"
)

// Nodes that are moved one after the other are looked at ahead, some thousand at once on all
// cores: which groups their neighbours are in is most of the work. What a move then changes
// for another of these nodes is worked out anew for that one, so that every decision is the
// same as if nothing had been looked at ahead, on any number of cores.
const (
	mostAhead = 1 << 12 // nodes
	aheadPart = 1 << 8  // of a graph: as more of these have neighbours among each other, few are looked at ahead
	aheadJob  = 32      // nodes that are one job
)

// A sight is what is seen of a node: its neighbours, and the groups that these are in, in the
// order of the first one, with the weight of the links there.
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

// sights are those of the nodes of a job, one behind the other.
type sights struct {
	sight
	ends [aheadJob]struct{ to, groups int }
}

func (s *sights) reset() {
	s.to, s.groups, s.weight = s.to[:0], s.groups[:0], s.weight[:0]
}

// add adds what an eye has seen as that of the i-th node.
func (s *sights) add(i int, e *eye) {
	s.to = append(s.to, e.to...)
	s.groups, s.weight = append(s.groups, e.near.touched...), append(s.weight, e.near.weight...)
	s.ends[i].to, s.ends[i].groups = len(s.to), len(s.groups)
}

// at returns that of the i-th node.
func (s *sights) at(i int) sight {
	var from struct{ to, groups int }
	if i > 0 {
		from = s.ends[i-1]
	}
	end := s.ends[i]
	return sight{s.to[from.to:end.to], s.groups[from.groups:end.groups], s.weight[from.groups:end.groups]}
}

// An eye is what a goroutine needs to look at a node, with what it saw last.
type eye struct {
	row  row
	near near
	to   []uint32 // the neighbours, if they are asked for
}

func (e *eye) sight() sight { return sight{e.to, e.near.touched, e.near.weight} }

// An outlook looks at nodes ahead.
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

// ahead returns how many of n nodes are looked at ahead.
func ahead(n int) int { return min(mostAhead, n/aheadPart+1) }

// over looks at nodes, no more than most.
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

// at returns what was seen of the i-th node.
func (o *outlook) at(i int) sight { return o.jobs[i/aheadJob].at(i % aheadJob) }

// again looks at a node.
func (o *outlook) again(v uint32) sight {
	o.look(v, &o.eyes[0])
	return o.eyes[0].sight()
}
