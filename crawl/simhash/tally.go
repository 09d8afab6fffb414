package simhash

// A tally counts, for each of 64 bits, the values that have it. The counts are stored as bits of equal weight
// next to each other, so that one instruction works on all 64 counts.
type tally struct {
	planes  [32]uint64 // the n-th bits of all counts
	waiting [3]uint64  // values that are not yet counted, since four at once cost less
	n       uint32     // number of values
}

// add counts a value.
func (t *tally) add(v uint64) {
	t.n++
	if i := t.n & 3; i != 0 {
		t.waiting[i-1] = v
		return
	}
	ones, a := full(t.planes[0], t.waiting[0], t.waiting[1])
	ones, b := full(ones, t.waiting[2], v)
	twos, c := full(t.planes[1], a, b)
	t.planes[0], t.planes[1] = ones, twos
	t.carry(2, c)
}

// carry adds values to the counts from a plane on.
func (t *tally) carry(plane int, v uint64) {
	for i := plane; v != 0; i++ {
		t.planes[i], v = t.planes[i]^v, t.planes[i]&v
	}
}

// full adds three bits of equal weight.
func full(a, b, c uint64) (sum, carry uint64) { return a ^ b ^ c, a&b | c&(a^b) }

// majority returns the bits that more than half of the values have.
func (t tally) majority() uint64 {
	for _, v := range t.waiting[:t.n&3] {
		t.carry(0, v)
	}
	// A count plus missing reaches 1<<31 if it is more than half.
	missing := uint32(1)<<31 - 1 - t.n/2
	carry := uint64(0)
	for i := range 31 {
		add := uint64(0)
		if missing>>i&1 != 0 {
			add = ^uint64(0)
		}
		p := t.planes[i]
		carry = p&add | carry&(p|add)
	}
	return carry
}
