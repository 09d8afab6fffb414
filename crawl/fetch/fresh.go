package fetch

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/sumi-ripple/ripple/schema"
)

// Fresh returns how long the answer stays fresh, counted from its first byte: the max-age of Cache-Control
// (RFC 9111 section 5.2.2) less its Age, in whole seconds and at most [schema.MaxFresh]. With no-cache,
// no-store or without a max-age it is zero.
func (r *Response) Fresh() time.Duration {
	fresh, given := int64(0), false
	for _, directive := range splitOutside(strings.Join(r.Header.Values("Cache-Control"), ","), ',') {
		name, value, _ := strings.Cut(directive, "=")
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "no-cache", "no-store":
			return 0
		case "max-age":
			n := wholeSeconds(strings.Trim(strings.TrimSpace(value), `"`))
			if !given || n < fresh { // the shortest of several
				fresh, given = n, true
			}
		}
	}
	fresh -= wholeSeconds(strings.TrimSpace(r.Header.Get("Age")))
	return time.Duration(max(0, min(fresh, int64(schema.MaxFresh/time.Second)))) * time.Second
}

// wholeSeconds parses a number of seconds; an invalid one is zero.
func wholeSeconds(s string) int64 {
	if strings.Trim(s, "0123456789") != "" || s == "" {
		return 0
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return math.MaxInt64 // out of range
	}
	return n
}
