package config

import (
	"fmt"
	"slices"
	"strings"
)

// unknownKey reports an unknown key and suggests the likely one: a key of another table, one with a
// similar spelling, or any key of its table.
func unknownKey(name string, in table, all []table) string {
	text := fmt.Sprintf("unknown key %s in %s", quote(name), in.header())
	for _, t := range all {
		for _, k := range t.keys {
			if k.name == name && !k.stored && t.name != in.name {
				return text + ": it belongs to " + t.header()
			}
		}
	}
	var known []string
	for _, k := range in.keys {
		if !k.stored {
			known = append(known, k.name)
		}
	}
	return text + meant(name, known, quote)
}

// unknownTable does the same for a name outside any table.
func unknownTable(name string, isTable bool, all []table) string {
	text := "unknown key " + quote(name) + " outside any table"
	if isTable {
		text = "unknown table [" + clean(name) + "]"
	} else {
		for _, t := range all {
			for _, k := range t.keys {
				if k.name == name && !k.stored {
					return text + ": it belongs to " + t.header()
				}
			}
		}
	}
	headers := map[string]string{}
	var known []string
	for _, t := range all {
		known, headers[t.name] = append(known, t.name), t.header()
	}
	return text + meant(name, known, func(name string) string { return headers[name] })
}

func (t table) header() string {
	if t.array {
		return "[[" + t.name + "]]"
	}
	return "[" + t.name + "]"
}

// meant suggests the known name with the most similar spelling. If it is not similar enough, it lists
// all.
func meant(name string, known []string, show func(string) string) string {
	near := slices.MinFunc(known, func(a, b string) int { return EditDistance(name, a) - EditDistance(name, b) })
	if EditDistance(name, near) <= max(1, len(near)/3) {
		return ": did you mean " + show(near) + "?"
	}
	all := make([]string, len(known))
	for i, k := range known {
		all[i] = show(k)
	}
	return ": the nearest known is " + show(near) + " of " + strings.Join(all, ", ")
}

func clean(name string) string {
	q := quote(name)
	return q[1 : len(q)-1]
}

// EditDistance counts the single-byte edits from a to b. Only the beginnings of long names are
// compared.
func EditDistance(a, b string) int {
	const longest = 64
	a, b = a[:min(len(a), longest)], b[:min(len(b), longest)]
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
