package rank

import "math/bits"

// near sums the weights of links by target group. Each goroutine has its own, so it only has room for
// the groups of one node at a time.
type near struct {
	touched []int32   // groups, in order of first occurrence
	weight  []float64 // parallel to touched
	slots   []uint32  // hash table: index in touched plus 1; 0: free. The length is a power of two
}

// fewestSlots is the size of the table after clear.
const fewestSlots = 128

// clear removes all weights.
func (n *near) clear() {
	if n.slots == nil {
		n.slots = make([]uint32, fewestSlots)
	}
	n.touched, n.weight, n.slots = n.touched[:0], n.weight[:0], n.slots[:fewestSlots]
	clear(n.slots)
}

func (n *near) add(id int32, weight uint32) {
	at := n.slot(id)
	if place := n.slots[at]; place != 0 {
		n.weight[place-1] += float64(weight)
		return
	}
	n.touched, n.weight = append(n.touched, id), append(n.weight, float64(weight))
	n.slots[at] = uint32(len(n.touched))
	if 2*len(n.touched) > len(n.slots) {
		n.grow()
	}
}

// slot returns the slot of a group in the table, or the free slot for it.
func (n *near) slot(id int32) uint32 {
	mask := uint32(len(n.slots) - 1)
	at := uint32(id) * 0x9e3779b1 >> (32 - bits.Len32(mask)) // Fibonacci hashing
	for n.slots[at] != 0 && n.touched[n.slots[at]-1] != id {
		at = (at + 1) & mask
	}
	return at
}

func (n *near) grow() {
	size := 4 * len(n.slots)
	if cap(n.slots) < size {
		n.slots = make([]uint32, size)
	} else {
		n.slots = n.slots[:size]
		clear(n.slots)
	}
	for i, id := range n.touched {
		n.slots[n.slot(id)] = uint32(i + 1)
	}
}
