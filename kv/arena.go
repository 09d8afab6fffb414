package kv

// Sizes of the blocks of an arena. Each block is twice as large as the previous one, up to the maximum,
// because a store with little traffic needs little.
const (
	firstBlock = 64 << 10
	doublings  = 4
	mostBlock  = firstBlock << doublings
	keptBlocks = 8 // 5 MB
)

// An arena holds the values of one commit. bbolt refers to them until it has written them; only then may
// reset be called.
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

// maxSpare is the number of new URLs up to which a commit's memory is reused: a typical commit has some
// thousands.
const maxSpare = 16 << 10

// A spare is memory that grew in one commit and is reused in the next.
type spare struct {
	urls    []newURL
	anchors writer
}

func (s *spare) lend(tx *Tx) {
	tx.URLs.added, tx.Visits.anchorText = s.urls, s.anchors
	*s = spare{}
}

// takeBack takes back the memory of a written commit.
func (s *spare) takeBack(tx *Tx) {
	if cap(tx.URLs.added) <= maxSpare {
		clear(tx.URLs.added) // releases their texts
		s.urls = tx.URLs.added[:0]
	}
	if len(tx.Visits.anchors) > 0 && cap(tx.Visits.anchors[0].text.b) <= 2*partSize {
		s.anchors.b = tx.Visits.anchors[0].text.b[:0]
	}
}
