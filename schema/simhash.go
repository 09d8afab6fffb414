package schema

import (
	"fmt"
	"math/bits"
)

// NearBits is the number of bits in which the SimHashes of near-duplicates may differ.
const NearBits = 3

// A SimHash is a fingerprint of the text of a page (package crawl/simhash). The more of their phrases two texts
// share, the fewer bits of their fingerprints differ; those of unrelated texts differ in about half of all 64.
// 0 is no fingerprint: the page has too little text.
type SimHash uint64

// Distance returns the number of bits in which two fingerprints differ.
func (h SimHash) Distance(g SimHash) int { return bits.OnesCount64(uint64(h ^ g)) }

// Near reports whether two pages are near-duplicates. A page without a fingerprint is like no other.
func (h SimHash) Near(g SimHash) bool { return h != 0 && g != 0 && h.Distance(g) <= NearBits }

// String returns 16 hexadecimal digits, or "" for no fingerprint.
func (h SimHash) String() string {
	if h == 0 {
		return ""
	}
	return fmt.Sprintf("%016x", uint64(h))
}
