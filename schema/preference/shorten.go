package preference

import (
	"maps"
	"slices"
	"strings"

	"github.com/sumi-ripple/ripple/schema/sanitize"
)

// knownKeys returns the keys that the vocabulary of a field defines, the most important first.
func knownKeys(f Field) []string {
	switch f {
	case ContentUsage:
		return []string{"train-ai", "search"}
	case ContentSignal:
		return []string{"use", "ai-train", "ai-input", "search"}
	}
	return nil
}

// shortened returns a value cleaned and in at most [MaxValue] bytes. One with keys that is longer keeps whole keys, in
// canonical form: first those that its vocabulary knows.
func shortened(f Field, value string) string {
	value = sanitize.Line(value, 3*len(value)) // an invalid byte becomes three
	if len(value) <= MaxValue {
		return value
	}
	var said map[string]string
	switch f {
	case ContentUsage:
		if said = usage(value); said == nil {
			return sanitize.Line(value, MaxValue-1) + "," // malformed, so the beginning must not become a dictionary
		}
	case ContentSignal:
		said = signals(value)
	default:
		return sanitize.Line(value, MaxValue)
	}
	keys := slices.Concat(knownKeys(f), slices.Sorted(maps.Keys(said)))
	var kept strings.Builder
	for _, key := range keys {
		word, ok := said[key]
		delete(said, key)
		if !ok || kept.Len()+len(", ")+len(word) > MaxValue {
			continue
		}
		if kept.Len() > 0 {
			kept.WriteString(", ")
		}
		kept.WriteString(word)
	}
	return kept.String()
}

// fitting returns those of the lines of a text that fit into [MaxText], in their order. For each known key the shortest
// line that says what all lines together say is kept before other lines.
func fitting(lines []string) (fit []string) {
	each := make([][License]map[string]string, len(lines))
	for i, line := range lines {
		each[i] = words(line)
	}
	all := words(strings.Join(lines, "\n"))
	keep, room := make([]bool, len(lines)), MaxText
	add := func(i int) {
		if n := len(lines[i]) + 1; !keep[i] && n <= room {
			keep[i] = true
			room -= n
		}
	}
	for _, f := range []Field{ContentSignal, ContentUsage} {
		for _, key := range knownKeys(f) {
			shortest := -1
			for i := range lines {
				word, ok := each[i][f][key]
				if ok && word == all[f][key] && (shortest < 0 || len(lines[i]) < len(lines[shortest])) {
					shortest = i
				}
			}
			if shortest >= 0 {
				add(shortest)
			}
		}
	}
	for i := range lines {
		add(i)
	}
	for i, line := range lines {
		if keep[i] {
			fit = append(fit, line)
		}
	}
	return fit
}
