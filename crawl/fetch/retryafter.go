package fetch

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// farOff is longer than any wait that Ripple observes.
const farOff = time.Duration(1 << 62)

// RetryAfter returns how long the answer asks the client to wait, counted from its first byte, or
// -1 if it does not. Retry-After may contain seconds or an HTTP date (RFC 9110 section 10.2.3).
// Other accepted spellings are "40s", "1m30s", "2 minutes", and a duration or date of ISO 8601.
// Without it, a 429 or 503 may have RateLimit fields that say that no requests are left; the wait
// then lasts until there are (draft-ietf-httpapi-ratelimit-headers). Partial seconds are rounded
// up. A date refers to the server's clock, which is known from the answer's Date, as either clock
// may be wrong.
func (r *Response) RetryAfter() time.Duration {
	if wait := r.untilThen(r.Header.Get("Retry-After"), false); wait >= 0 {
		return wait
	}
	if r.Status != http.StatusTooManyRequests && r.Status != http.StatusServiceUnavailable {
		return -1
	}
	wait := r.structuredLimit()
	for _, prefix := range []string{"RateLimit", "X-RateLimit", "X-Rate-Limit"} {
		if r.noneLeft(r.Header.Get(prefix + "-Remaining")) {
			wait = max(wait, r.untilThen(r.Header.Get(prefix+"-Reset"), true))
		}
	}
	return wait
}

// noneLeft parses the number of requests left. A 429 without one has none left.
func (r *Response) noneLeft(remaining string) bool {
	n, err := strconv.ParseFloat(strings.TrimSpace(remaining), 64)
	return err == nil && n <= 0 || remaining == "" && r.Status == http.StatusTooManyRequests
}

// structuredLimit parses the RateLimit field: items with the parameters r and t, or, in older drafts, a
// dictionary.
func (r *Response) structuredLimit() time.Duration {
	wait := time.Duration(-1)
	var whole map[string]string // the dictionary
	for _, item := range splitOutside(strings.Join(r.Header.Values("RateLimit"), ","), ',') {
		own := map[string]string{}
		for _, parameter := range splitOutside(item, ';') {
			name, value, _ := strings.Cut(parameter, "=")
			own[strings.ToLower(strings.TrimSpace(name))] = strings.TrimSpace(value)
		}
		if own["r"] != "" && r.noneLeft(own["r"]) {
			wait = max(wait, r.untilThen(own["t"], true))
		}
		if whole == nil {
			whole = map[string]string{}
		}
		whole["remaining"] += own["remaining"]
		whole["reset"] += own["reset"]
	}
	if whole["remaining"] != "" && r.noneLeft(whole["remaining"]) {
		wait = max(wait, r.untilThen(whole["reset"], true))
	}
	return wait
}

// splitOutside splits a text at a separator outside quotes.
func splitOutside(text string, separator byte) []string {
	var pieces []string
	start, quoted := 0, false
	for i := range len(text) {
		switch c := text[i]; {
		case c == '"':
			quoted = !quoted
		case c == separator && !quoted:
			pieces = append(pieces, text[start:i])
			start = i + 1
		}
	}
	return append(pieces, text[start:])
}

// untilThen parses a duration, or a time on the server's clock; -1 means that it is neither. A
// number is in seconds. It is a Unix time if that time is within a year, or, with unix set, any
// time since 2001.
func (r *Response) untilThen(value string, unix bool) time.Duration {
	value = strings.TrimSpace(strings.Trim(strings.TrimSpace(value), `"`))
	if value == "" || len(value) > 64 {
		return -1
	}
	if at, ok := unixTime(value); ok {
		const most = 366 * 24 * time.Hour // as seconds, such a number would be a wait of 50 years
		if wait := at.Sub(r.sent()); unix || wait.Abs() <= most {
			return max(0, wait)
		}
	}
	number := strings.TrimPrefix(value, "+")
	if end := strings.IndexAny(number, ",;("); end > 0 { // duplicated, or followed by a comment
		number = strings.TrimRight(number[:end], " ")
	}
	if wait, ok := seconds(number); ok {
		return wait
	}
	if wait, ok := spelled(value); ok {
		return wait
	}
	if at, ok := anyDate(value); ok {
		return max(0, at.Sub(r.sent()))
	}
	return -1
}

// unixTime parses a time since 2001, in seconds or milliseconds.
func unixTime(value string) (at time.Time, ok bool) {
	whole, _, _ := strings.Cut(value, ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	switch {
	case err != nil || n < 1_000_000_000:
		return at, false
	case n < 1_000_000_000_000:
		return time.Unix(n, 0), true
	}
	return time.UnixMilli(n), true
}

// seconds parses a number of seconds.
func seconds(value string) (wait time.Duration, ok bool) {
	whole, part, _ := strings.Cut(value, ".")
	if whole == "" || strings.Trim(whole+part, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || n >= int64(farOff/time.Second) {
		return farOff, true
	}
	if strings.Trim(part, "0") != "" {
		n++
	}
	return time.Duration(n) * time.Second, true
}

var (
	// isoDuration is a duration of ISO 8601.
	isoDuration = regexp.MustCompile(`^(?i)P(?:[0-9.,]+[YMWD])*(?:T(?:[0-9.,]+[HMS])+)?$`)
	// unitDuration is a list of numbers with units.
	unitDuration = regexp.MustCompile(`^(?:[0-9.]+\s*[a-zA-Z]+[\s,]*)+$`)
	isoPart      = regexp.MustCompile(`([0-9.,]+)([A-Za-z])`)
	clockParts   = regexp.MustCompile(`^(\d{1,3}):(\d\d):(\d\d)$`)
	unitPart     = regexp.MustCompile(`([0-9.]+)\s*([a-zA-Z]+)`)
	// dateFringe matches a weekday before a date, in any spelling, and a zone after it that is UTC.
	dateFringe = regexp.MustCompile(`^[A-Za-z]+,?\s+|(?i)\s(?:GMT|UTC|Z)$`)
)

// spelled parses a duration with units: "1m30s", "2 minutes", "PT1M30S", "00:01:30".
func spelled(value string) (wait time.Duration, ok bool) {
	const day = 24 * time.Hour
	if len(value) > 2 && isoDuration.MatchString(value) {
		date, clock, _ := strings.Cut(strings.ToUpper(value[1:]), "T")
		days, ok1 := total(isoPart.FindAllStringSubmatch(date, -1), map[string]time.Duration{
			"Y": 365 * day, "M": 30 * day, "W": 7 * day, "D": day})
		rest, ok2 := total(isoPart.FindAllStringSubmatch(clock, -1), map[string]time.Duration{
			"H": time.Hour, "M": time.Minute, "S": time.Second})
		return min(days, farOff-rest) + rest, ok1 && ok2
	}
	if c := clockParts.FindStringSubmatch(value); c != nil {
		return total([][]string{{"", c[1], "H"}, {"", c[2], "M"}, {"", c[3], "S"}}, map[string]time.Duration{
			"H": time.Hour, "M": time.Minute, "S": time.Second})
	}
	if !unitDuration.MatchString(value) {
		return 0, false
	}
	return total(unitPart.FindAllStringSubmatch(strings.ToLower(value), -1), map[string]time.Duration{
		"ms": time.Millisecond, "msec": time.Millisecond, "millisecond": time.Millisecond, "milliseconds": time.Millisecond,
		"s": time.Second, "sec": time.Second, "secs": time.Second, "second": time.Second, "seconds": time.Second,
		"m": time.Minute, "min": time.Minute, "mins": time.Minute, "minute": time.Minute, "minutes": time.Minute,
		"h": time.Hour, "hr": time.Hour, "hrs": time.Hour, "hour": time.Hour, "hours": time.Hour,
		"d": day, "day": day, "days": day, "w": 7 * day, "week": 7 * day, "weeks": 7 * day,
	})
}

// total adds up numbers with units, rounded up to a full second.
func total(parts [][]string, units map[string]time.Duration) (sum time.Duration, ok bool) {
	for _, part := range parts {
		n, err := strconv.ParseFloat(strings.Replace(part[1], ",", ".", 1), 64)
		unit := units[part[2]]
		if err != nil || unit == 0 {
			return 0, false
		}
		more := farOff / 2
		if n < float64(more/unit) {
			more = time.Duration(n * float64(unit))
		}
		sum = min(sum+more, farOff/2)
	}
	return (sum + time.Second - 1).Truncate(time.Second), true
}

// sent returns when the answer was sent on the server's clock. If that is unknown or more than a day off, it
// is when the answer arrived on the local clock.
func (r *Response) sent() time.Time {
	const most = 24 * time.Hour // maximum difference between the clocks
	if at, ok := httpDate(r.Header.Get("Date")); ok && at.Sub(r.FirstByte).Abs() <= most {
		return at
	}
	return r.FirstByte
}

// httpDate parses a date (RFC 9110 section 5.6.7). It is taken as UTC, whatever zone an obsolete
// form names and however UTC is spelled.
func httpDate(value string) (at time.Time, ok bool) {
	for _, zone := range []string{" UTC", " +0000"} {
		if date, cut := strings.CutSuffix(value, zone); cut {
			value = date + " GMT"
		}
	}
	return firstDate(value, http.TimeFormat, time.RFC850, time.ANSIC)
}

// anyDate parses a date of HTTP or of ISO 8601; the latter is in UTC if it names no zone.
func anyDate(value string) (at time.Time, ok bool) {
	if at, ok = httpDate(value); ok {
		return at, true
	}
	value = strings.TrimSpace(dateFringe.ReplaceAllString(value, ""))
	return firstDate(value, "2 Jan 2006 15:04:05", "2 Jan 2006 15:04:05 -0700", "2-Jan-06 15:04:05", "2-Jan-2006 15:04:05",
		"2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05", "2006-01-02T15:04Z07:00",
		"2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05 Z0700", "2006-01-02 15:04:05",
		"2006-01-02T15:04", "20060102T150405Z0700", "20060102T150405", "2006-01-02")
}

// firstDate parses a date in the first matching layout.
func firstDate(value string, layouts ...string) (at time.Time, ok bool) {
	for _, layout := range layouts {
		if at, err := time.ParseInLocation(layout, value, time.UTC); err == nil {
			return at, true
		}
	}
	return time.Time{}, false
}
