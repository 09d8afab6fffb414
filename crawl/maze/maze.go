// Package maze recognises parts of a host that never end: text made by a machine, calendars, filters, session numbers,
// trees that repeat themselves. It sees pages in the order of their visits, and makes no requests.
//
// A [Trail] is what was seen below one path prefix. It is suspected if (1) its links stay below the prefix, (2) its
// latest pages name as many new URLs as its first ones, and (3) its pages are alike: either 30 % of them are
// near-duplicates of earlier ones, or most of them name new URLs with hardly any new words (at most one in a hundred).
// In an ordinary part of a host, new URLs become rarer as the crawl proceeds, or every page has text of its own.
// Package record decides the rest from the log, such as which pages lead there.
//
// A trail takes less than 4 KiB and has no locks.
package maze

import (
	"math/bits"

	"github.com/sumi-ripple/ripple/schema"
)

const (
	// Window is the number of pages below a prefix that are judged, and the least for a suspicion.
	Window = 50

	half      = Window / 2
	hashes    = 128 // SimHashes kept
	mostNew   = 20  // new URLs of a page that count, because a few pages may have very many
	ways      = 32  // targets outside that are counted one by one
	wordBits  = 1 << 14
	leastStay = 95 // percent of the links, without those that most pages have
	leastNear = 30 // percent of the pages
	leastMute = 80 // percent of the pages, if they are no near-duplicates
)

// A Page is what one visit shows of a trail.
type Page struct {
	SimHash schema.SimHash
	Words   []uint32    // hashes of words outside links
	Below   int         // number of links to pages of the trail
	New     int         // of those, to URLs that were unknown
	Out     []schema.ID // targets of the other links
}

// A Suspicion says in which way the pages of a trail are alike.
type Suspicion uint8

// The suspicions.
const (
	None   Suspicion = iota
	Copies           // near-duplicates
	Babble           // new URLs, and hardly any new words
	Clones           // nearly all are near-duplicates: no honest part of a host is, even if its pages link to each other
)

// A Trail is what was seen below a prefix. The zero value has seen nothing.
type Trail struct {
	Pages int // seen

	seen   [Window]look // the latest pages, by number modulo Window
	first  int          // new URLs of the pages after the first, half a window of them
	hashes [hashes]schema.SimHash
	below  int
	out    int
	ways   []way
	words  *[wordBits / 64]uint64 // a Bloom filter with two bits for each word
	set    int                    // bits set
}

// A look is what is kept of a page.
type look struct {
	fresh uint8 // new URLs
	near  bool  // a near-duplicate of an earlier page
	mute  bool  // all words but one in a hundred were known
}

// A way is a target outside, and how many pages link there.
type way struct {
	to    schema.ID
	pages int
}

// Add adds a page.
func (t *Trail) Add(p *Page) {
	l := look{fresh: uint8(min(p.New, mostNew)), near: t.nearOther(p.SimHash), mute: t.learn(p.Words)}
	if 0 < t.Pages && t.Pages <= half { // the first page may be a list of all others
		t.first += int(l.fresh)
	}
	t.seen[t.Pages%Window] = l
	t.hashes[t.Pages%hashes] = p.SimHash
	t.Pages++
	t.below += p.Below
	t.out += len(p.Out)
	for _, to := range p.Out {
		t.leave(to)
	}
}

// nearOther reports whether a page is a near-duplicate of one of the latest pages.
func (t *Trail) nearOther(h schema.SimHash) bool {
	for _, other := range t.hashes[:min(t.Pages, hashes)] {
		if h.Near(other) {
			return true
		}
	}
	return false
}

// learn adds the words of a page. It reports whether all but one in a hundred were known.
func (t *Trail) learn(words []uint32) (mute bool) {
	if t.words == nil {
		t.words = new([wordBits / 64]uint64)
	}
	unknown := 0
	for _, w := range words {
		added := t.mark(w%wordBits) + t.mark(w>>16*0x9e37%wordBits)
		if added > 0 {
			unknown++
		}
		t.set += added
	}
	return unknown*100 <= len(words) && t.set <= wordBits/2 // with more bits set, many new words seem known
}

// mark sets a bit, and returns 1 if it was not set.
func (t *Trail) mark(bit uint32) int {
	word, mask := &t.words[bit/64], uint64(1)<<(bit%64)
	added := bits.OnesCount64(mask &^ *word)
	*word |= mask
	return added
}

// leave counts a link that leads out.
func (t *Trail) leave(to schema.ID) {
	for i := range t.ways {
		if t.ways[i].to == to {
			t.ways[i].pages++
			return
		}
	}
	if len(t.ways) < ways {
		t.ways = append(t.ways, way{to, 1})
	}
}

// stays reports whether nearly all links stay below the prefix. Those that most pages have are navigation, and do not
// count.
func (t *Trail) stays() bool {
	out := t.out
	for _, w := range t.ways {
		if 2*w.pages > t.Pages {
			out -= w.pages
		}
	}
	return t.below*100 >= (t.below+out)*leastStay
}

// Suspicion judges the latest pages.
func (t *Trail) Suspicion() Suspicion {
	if t.Pages < Window || !t.stays() {
		return None
	}
	latest, yielding, near, mute := 0, 0, 0, 0
	for i := range Window {
		l := t.seen[(t.Pages+i)%Window]
		if i >= half {
			latest += int(l.fresh)
		}
		if l.fresh > 0 {
			yielding++
		}
		if l.near {
			near++
		}
		if l.near || l.mute {
			mute++
		}
	}
	switch {
	case latest*10 < half*9 || latest*4 < t.first*3:
		return None
	case near*100 >= Window*leastMute:
		return Clones
	case near*100 >= Window*leastNear:
		return Copies
	case yielding*100 >= Window*leastMute && mute*100 >= Window*leastMute:
		return Babble
	}
	return None
}
