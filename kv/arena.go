package kv

// The sizes of the blocks of an arena: each has twice that of the one before, up to the most,
// as a store of little traffic needs little.
const (
	firstBlock = 64 << 10
	doublings  = 4
	mostBlock  = firstBlock << doublings
	keptBlocks = 8 // 5 MB
)

// An arena holds the values of one commit. bbolt refers to them until it has
// written them; reset may follow only then.
type arena struct {
	blocks [][]byte
	block  int
}

func (a *arena) reset() {
	if len(a.blocks) > keptBlocks {
		a.blocks = a.blocks[:keptBlocks:keptBlocks]
	}
	for i := range a.blocks {
		a.blocks[i] = a.blocks[i][:0]
	}
	a.block = 0
}

// alloc returns room for n bytes.
func (a *arena) alloc(n int) []byte {
	if n > mostBlock/4 {
		return make([]byte, 0, n)
	}
	for a.block < len(a.blocks) && cap(a.blocks[a.block])-len(a.blocks[a.block]) < n {
		a.block++
	}
	if a.block == len(a.blocks) {
		size := firstBlock << min(a.block, doublings)
		a.blocks = append(a.blocks, make([]byte, 0, max(size, n)))
	}
	block := a.blocks[a.block]
	at := len(block)
	a.blocks[a.block] = block[:at+n]
	return block[at : at : at+n]
}

// maxSpare is the number of new URLs for which a commit's memory is used again:
// a usual one has some thousands.
const maxSpare = 16 << 10

// A spare is memory that grew in one commit and serves the next.
type spare struct {
	urls    []newURL
	anchors writer
}

func (s *spare) lend(tx *Tx) {
	tx.URLs.added, tx.Visits.anchorText = s.urls, s.anchors
	*s = spare{}
}

// takeBack takes over the memory of a commit that was written.
func (s *spare) takeBack(tx *Tx) {
	if cap(tx.URLs.added) <= maxSpare {
		clear(tx.URLs.added) // lets go of their texts
		s.urls = tx.URLs.added[:0]
	}
	if len(tx.Visits.anchors) > 0 && cap(tx.Visits.anchors[0].text.b) <= 2*partSize {
		s.anchors.b = tx.Visits.anchors[0].text.b[:0]
	}
}
