package sitemap

import (
	"strings"
	"time"
)

// parseDate reads a W3C date (sitemaps, Atom) or an RFC 822 one (RSS), with what is often
// wrong about them: no zone (taken as UTC), a blank for the T, two digits of a year. It
// returns the zero time for anything else.
func parseDate(s string) time.Time {
	s = strings.ToUpper(clean(s))
	if len(s) < 4 || len(s) > 64 {
		return time.Time{}
	}
	layouts := w3cLayouts()
	if s[0] < '0' || s[0] > '9' || !isDigits(s[:4]) {
		layouts = rfc822Layouts()
		if _, after, ok := strings.Cut(s, ","); ok {
			s = strings.TrimLeft(after, " ") // the day of the week is redundant, and often wrong
		}
	} else if len(s) > 10 && s[10] == ' ' {
		s = s[:10] + "T" + strings.TrimLeft(s[10:], " ")
	}
	for _, layout := range layouts {
		if t, err := time.Parse(layout, s); err == nil && t.Year() >= 1 && t.Year() <= 9999 {
			return t.UTC()
		}
	}
	return time.Time{}
}

// Go reads fractions of a second whether the layout has them or not.
func w3cLayouts() []string {
	return []string{
		"2006-01-02", "2006-01-02T15:04:05Z07:00", "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05",
		"2006-01-02T15:04", "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05 Z0700", "2006-01-02T15:04:05 Z07:00",
		"2006-01-02T15:04:05 MST", "2006-01", "2006", "20060102", "2006-1-2", "2006/01/02",
	}
}

func rfc822Layouts() []string {
	return []string{
		"2 Jan 2006 15:04:05 -0700", "2 Jan 2006 15:04:05 MST", "2 Jan 06 15:04:05 -0700", "2 Jan 06 15:04:05 MST",
		"2 Jan 2006 15:04 -0700", "2 Jan 2006 15:04 MST", "2 Jan 06 15:04 -0700", "2 Jan 06 15:04 MST",
		"2 Jan 2006 15:04:05", "2 Jan 2006 15:04", "2 Jan 2006", "2 Jan 06",
	}
}

func isDigits(s string) bool {
	return strings.IndexFunc(s, func(c rune) bool { return c < '0' || c > '9' }) < 0
}

// frequency returns a changefreq in lower case, or "" for a word that is none.
func frequency(s string) string {
	switch s = strings.ToLower(clean(s)); s {
	case "always", "hourly", "daily", "weekly", "monthly", "yearly", "never":
		return s
	}
	return ""
}
