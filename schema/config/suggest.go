package config

import "fmt"

// unknownKey says that a key is unknown and which one may be meant: the nearest of
// its table, unless another table has one of that name.
func unknownKey(name string, in table, all []table) string {
	text := fmt.Sprintf("unknown key %s in %s", quote(name), in.header())
	for _, t := range all {
		for _, k := range t.keys {
			if k.name == name && !k.stored && t.name != in.name {
				return text + ": it belongs to " + t.header()
			}
		}
	}
	near, distance := "", 0
	for _, k := range in.keys {
		if d := editDistance(name, k.name); !k.stored && (near == "" || d < distance) {
			near, distance = k.name, d
		}
	}
	return text + did(near, distance, len(near))
}

// unknownTable says the same of a name outside any table.
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
	near, distance := table{}, 0
	for _, t := range all {
		if d := editDistance(name, t.name); near.name == "" || d < distance {
			near, distance = t, d
		}
	}
	return text + did(near.header(), distance, len(near.name))
}

func (t table) header() string {
	if t.array {
		return "[[" + t.name + "]]"
	}
	return "[" + t.name + "]"
}

func did(near string, distance, length int) string {
	if near != "" && near[0] != '[' {
		near = quote(near)
	}
	if distance <= max(1, length/3) {
		return ": did you mean " + near + "?"
	}
	return ": the nearest known is " + near
}

func clean(name string) string {
	q := quote(name)
	return q[1 : len(q)-1]
}

// editDistance counts the single-byte changes that lead from a to b. Long names
// are compared by their beginnings.
func editDistance(a, b string) int {
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
