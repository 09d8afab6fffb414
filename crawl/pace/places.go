package pace

import "github.com/sumi-ripple/ripple/schema"

// places maps host ids to positions in the arena. Ids are dense, so a slice takes less memory than a map.
type places struct {
	byID []int32 // plus 1; 0: not there
	n    int
}

// of returns the position of a host, and whether it has one.
func (p *places) of(id schema.HostID) (int32, bool) {
	if int(id) >= len(p.byID) {
		return none, false
	}
	at := p.byID[id]
	return at - 1, at != 0
}

// set stores the position of a host that has none.
func (p *places) set(id schema.HostID, at int32) {
	if more := int(id) + 1 - len(p.byID); more > 0 {
		p.byID = append(p.byID, make([]int32, more)...)
	}
	p.byID[id] = at + 1
	p.n++
}

// remove deletes the position of a host that has one.
func (p *places) remove(id schema.HostID) {
	p.byID[id] = 0
	p.n--
}
