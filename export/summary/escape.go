package summary

import (
	"strconv"
	"time"

	"github.com/sumi-ripple/ripple/schema/sanitize"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// maxText is the maximum length of a text from a peer, in bytes.
const maxText = 300

// quoted escapes a text from a peer or from the configuration for Markdown.
func quoted(s string) string { return sanitize.Markdown(s, maxText) }

// named escapes a host or a URL for Markdown, and appends the decoded form of the host.
func named(name string) string {
	if reading := quoted(weburl.Reading(name)); reading != "" {
		return quoted(name) + " " + reading
	}
	return quoted(name)
}

// moment formats a time, or a dash for the zero time.
func moment(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format(time.RFC3339)
}

// span formats a duration as hours, minutes and seconds: 4h 15m 23s.
func span(d time.Duration) string {
	s := int(d.Round(time.Second) / time.Second)
	switch {
	case s >= 3600:
		return strconv.Itoa(s/3600) + "h " + strconv.Itoa(s/60%60) + "m " + strconv.Itoa(s%60) + "s"
	case s >= 60:
		return strconv.Itoa(s/60) + "m " + strconv.Itoa(s%60) + "s"
	}
	return strconv.Itoa(s) + "s"
}
