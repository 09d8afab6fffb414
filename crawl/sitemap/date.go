package sitemap

import (
	"strconv"
	"strings"
	"time"
)

// parseDate parses a W3C date (sitemaps, Atom) or an RFC 822 date (RSS), with their common errors: no zone
// (taken as UTC), a blank instead of the T, two-digit years. It returns the zero time for anything else. The
// result does not depend on the machine's time zone.
func parseDate(s string) time.Time {
	s = strings.ToUpper(clean(s))
	if len(s) < 4 || len(s) > 64 {
		return time.Time{}
	}
	layouts := w3cLayouts()
	if !isDigits(s[:4]) {
		s, layouts = plainDate(s), rfc822Layouts()
	} else if len(s) > 10 && s[10] == ' ' {
		s = s[:10] + "T" + strings.TrimLeft(s[10:], " ")
	}
	s, leap := cutLeap(s)
	s, ahead := cutZone(s)
	for _, layout := range layouts {
		if t, err := time.Parse(layout, s); err == nil && t.Year() >= 1 && t.Year() <= 9999 {
			return t.Add(leap - ahead).UTC()
		}
	}
	return time.Time{}
}

// w3cLayouts returns the layouts of W3C dates. Go parses fractions of a second whether or not the layout has
// them. No layout contains a zone name, since Go would take it for the local zone if that has the name.
func w3cLayouts() []string {
	return []string{
		"2006-01-02", "2006-01-02T15:04:05Z07:00", "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05",
		"2006-01-02T15:04", "2006-01-02T15:04:05Z0700", "2006-01-02T15:04Z0700", "2006-01-02T15:04:05Z07",
		"2006-01", "2006", "20060102", "2006-1-2", "2006/01/02",
	}
}

func rfc822Layouts() []string {
	return []string{"2 Jan 2006 15:04:05", "2 Jan 2006 15:04", "2 Jan 2006"}
}

// plainDate normalizes an RFC 822 date: without comments, blanks at colons, and the day of the week, which is
// redundant and often wrong, with three letters for the month and four digits for the year.
func plainDate(s string) string {
	s = strings.ReplaceAll(withoutComments(s), ",", " ")
	s = strings.ReplaceAll(strings.ReplaceAll(s, " :", ":"), ": ", ":")
	fields := strings.Fields(s)
	if len(fields) > 0 && isName(fields[0]) {
		fields = fields[1:]
	}
	if len(fields) > 1 && isName(fields[1]) {
		fields[1] = fields[1][:min(3, len(fields[1]))]
	}
	if len(fields) > 2 {
		fields[2] = fullYear(fields[2])
	}
	return strings.Join(fields, " ")
}

// withoutComments replaces each comment by a blank; comments may be nested.
func withoutComments(s string) string {
	depth := 0
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '(':
			depth++
			b.WriteByte(' ')
		case depth == 0:
			b.WriteByte(c)
		case c == ')':
			depth--
		case c == '\\':
			i++
		}
	}
	return b.String()
}

// fullYear expands a year of two or three digits (RFC 5322, section 4.3).
func fullYear(s string) string {
	n, err := strconv.Atoi(s)
	switch {
	case err != nil || !isDigits(s) || len(s) != 2 && len(s) != 3:
		return s
	case len(s) == 2 && n < 50:
		return strconv.Itoa(2000 + n)
	}
	return strconv.Itoa(1900 + n)
}

// cutLeap replaces a leap second by the previous one, and returns the difference.
func cutLeap(s string) (string, time.Duration) {
	const leap = ":60"
	if i := strings.Index(s, leap); i >= 0 && strings.Count(s[:i], ":") == 1 {
		return s[:i] + ":59" + s[i+len(leap):], time.Second
	}
	return s, 0
}

// cutZone cuts off a zone after a blank at the end of a date, and returns its offset from UTC.
func cutZone(s string) (rest string, ahead time.Duration) {
	i := strings.LastIndexByte(s, ' ')
	if i < 0 {
		return s, 0
	}
	name, digits := s[i+1:], ""
	if sign := strings.IndexAny(name, "+-"); sign >= 0 {
		name, digits = name[:sign], name[sign:]
	}
	if name != "" && !isName(name) || name == "" && digits == "" {
		return s, 0
	}
	ahead, ok := offset(digits)
	if !ok {
		return s, 0
	}
	return strings.TrimRight(s[:i], " "), zone(name) + ahead
}

// zone returns the offset from UTC of the zones named in RFC 822. Others, including those of one letter,
// count as UTC (RFC 5322, section 4.3).
func zone(name string) time.Duration {
	switch name {
	case "EDT":
		return -4 * time.Hour
	case "EST", "CDT":
		return -5 * time.Hour
	case "CST", "MDT":
		return -6 * time.Hour
	case "MST", "PDT":
		return -7 * time.Hour
	case "PST":
		return -8 * time.Hour
	}
	return 0
}

// offset parses "+0130", "+01:30" or "+01"; an empty string is no offset.
func offset(s string) (ahead time.Duration, ok bool) {
	if s == "" {
		return 0, true
	}
	sign, digits := s[0], strings.Replace(s[1:], ":", "", 1)
	if len(digits) == 2 {
		digits += "00"
	}
	t, err := time.Parse("1504", digits)
	if err != nil {
		return 0, false
	}
	ahead = time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute
	if sign == '-' {
		ahead = -ahead
	}
	return ahead, true
}

func isName(s string) bool {
	return s != "" && strings.IndexFunc(s, func(c rune) bool { return c < 'A' || c > 'Z' }) < 0
}

func isDigits(s string) bool {
	return strings.IndexFunc(s, func(c rune) bool { return c < '0' || c > '9' }) < 0
}

// frequency returns a changefreq in lower case, or "" for an invalid one.
func frequency(s string) string {
	switch s = strings.ToLower(clean(s)); s {
	case "always", "hourly", "daily", "weekly", "monthly", "yearly", "never":
		return s
	}
	return ""
}
