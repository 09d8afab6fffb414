package term

import (
	"strings"
	"unicode/utf8"
)

// Ends cleans a text like [Clean], but cuts its middle, so that long names that differ only at the end do not look
// alike.
func Ends(text string, most int) string {
	const gap = "…"
	text = Clean(text, max(most, len(text)))
	if len(text) <= most {
		return text
	}
	head, tail := (most-len(gap))/2, len(text)-(most-len(gap)-(most-len(gap))/2)
	for head > 0 && !utf8.RuneStart(text[head]) {
		head--
	}
	for tail < len(text) && !utf8.RuneStart(text[tail]) {
		tail++
	}
	return strings.TrimSpace(text[:head]) + gap + strings.TrimSpace(text[tail:])
}
