package summary

import (
	"strconv"
	"time"

	"github.com/sumi-ripple/ripple/schema/inert"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// maxText bounds a text from a peer in bytes.
const maxText = 300

// quoted is a text from a peer, or from the configuration, as it stands in Markdown.
func quoted(s string) string { return inert.Markdown(s, maxText) }

// named is a host or a URL as it stands in Markdown: itself, and how its host reads.
func named(name string) string {
	if reading := quoted(weburl.Reading(name)); reading != "" {
		return quoted(name) + " " + reading
	}
	return quoted(name)
}

// moment writes a time, or a dash for none.
func moment(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format(time.RFC3339)
}

// span writes a duration as hours, minutes and seconds: 4h 15m 23s.
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
