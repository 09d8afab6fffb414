package robots

const (
	gramsFrom  = 32 // number of wildcard rules above which indexing a path pays off
	gramsSlots = 1 << 13
	gramsLimit = 1<<16 - 2 // largest position that fits
)

// grams records the last position of each run of one to three bytes in a path, in a small hash table: it may
// report runs that do not exist, but never misses one. It rules out most wildcard rules that do not match, at
// a cost proportional to their length instead of the path's.
type grams struct {
	bytes [256]uint16        // last position + 1, from the start of the path
	runs  [gramsSlots]uint16 // of two or three bytes
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

// excludes reports that a pattern with its first "*" at star cannot match, because one of the runs after it
// does not occur late enough. A nil index excludes nothing.
func (g *grams) excludes(pattern string, star int) bool {
	if g == nil {
		return false
	}
	from := star // the smallest position in the path for the next byte
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

// last returns the last position + 1 of the run at the start of s.
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
