package robots

const (
	gramsFrom  = 32 // wildcard rules from which indexing a path pays
	gramsSlots = 1 << 13
	gramsLimit = 1<<16 - 2 // positions that fit
)

// grams knows where each run of one to three bytes of a path occurs last, as far as a
// small hash table can: it may know a run that is not there, but never misses one. Most
// wildcard rules that do not match are seen by it not to, at the cost of their own length
// rather than the path's.
type grams struct {
	bytes [256]uint16        // last position + 1, from the start of the path
	runs  [gramsSlots]uint16 // of two and three bytes
}

func newGrams(s string) *grams {
	if s == "" || len(s) > gramsLimit {
		return nil
	}
	g := new(grams)
	for i := range len(s) {
		at := uint16(i + 1)
		g.bytes[s[i]] = at
		if i+2 <= len(s) {
			g.runs[slot(s[i], s[i+1], 0)] = at
		}
		if i+3 <= len(s) {
			g.runs[slot(s[i], s[i+1], s[i+2])] = at
		}
	}
	return g
}

// excludes reports that a pattern whose first "*" is at star cannot match: one of the runs
// after it does not occur late enough. A nil index excludes nothing.
func (g *grams) excludes(pattern string, star int) bool {
	if g == nil {
		return false
	}
	from := star // the least position in the path at which the next byte can be
	for i := star + 1; i < len(pattern); i++ {
		if pattern[i] == '*' {
			continue
		}
		if int(g.last(pattern[i:])) <= from {
			return true
		}
		from++
	}
	return false
}

// last is the last position + 1 at which the run that s begins with can occur.
func (g *grams) last(s string) uint16 {
	switch {
	case len(s) < 2 || s[1] == '*':
		return g.bytes[s[0]]
	case len(s) < 3 || s[2] == '*':
		return g.runs[slot(s[0], s[1], 0)]
	}
	return g.runs[slot(s[0], s[1], s[2])]
}

func slot(a, b, c byte) uint32 {
	return (uint32(a)<<16 | uint32(b)<<8 | uint32(c)) * 0x9E3779B1 >> (32 - 13)
}
