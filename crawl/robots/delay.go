package robots

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"
)

const maxDelay = 365 * 24 * time.Hour

// delays keeps the longest Crawl-delay of a group.
type delays struct {
	longest time.Duration
	valid   bool
}

// delay adds a Crawl-delay if the current group already names the agent. An agent named after the line is not
// slowed: many files give one robot only a delay and continue with "*".
func (g *group) delay(value string) {
	if !g.open {
		return
	}
	if d, ok := parseDelay(value); ok {
		g.delays.longest, g.delays.valid = max(g.delays.longest, d), true
	}
}

// parseDelay parses seconds, with a fraction; text after the number ("10s", "5 seconds") is ignored. NaN,
// spelled-out infinities and negative numbers are invalid.
func parseDelay(s string) (time.Duration, bool) {
	s, _, _ = strings.Cut(s, " ")
	if s == "" || s[0] != '.' && (s[0] < '0' || s[0] > '9') {
		return 0, false
	}
	seconds, err := strconv.ParseFloat(s, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		end := strings.IndexFunc(s, func(c rune) bool { return c != '.' && (c < '0' || c > '9') })
		if end < 0 {
			return 0, false
		}
		if seconds, err = strconv.ParseFloat(s[:end], 64); err != nil && !errors.Is(err, strconv.ErrRange) {
			return 0, false
		}
	}
	if seconds >= maxDelay.Seconds() {
		return maxDelay, true
	}
	return time.Duration(math.Round(seconds * float64(time.Second))), true
}
