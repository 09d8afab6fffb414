package config

import "strings"

// Sample returns a configuration with every key explained. It is valid TOML and is
// refused, key by key, until its placeholders are replaced.
func Sample() string {
	var b strings.Builder
	b.WriteString("# Configuration of Ripple. Replace every " + placeholder + "; what else is here is the default\n" +
		"# or a good start. Durations are written \"24h\", sizes \"10MB\" or \"16MiB\", regular\n" +
		"# expressions are RE2 and match anywhere.\n")
	for _, t := range declared() {
		writeSample(&b, t)
	}
	return b.String()
}

// writeSample writes one table. An array that may be empty is commented out.
func writeSample(b *strings.Builder, t table) {
	off := ""
	if t.array && t.name != "quality" {
		off = "# "
	}
	b.WriteString("\n# " + t.doc + "\n" + off + t.header() + "\n")
	for _, k := range t.keys {
		if k.stored {
			continue
		}
		mark := off
		if off != "" && t.oneOf() && k.name != "domain" {
			mark += "# "
		}
		b.WriteString(explained(mark+k.name+" = "+k.example(), k.doc+unitNote(k)))
	}
}

// example is the value that the sample shows.
func (k *key) example() string {
	if k.sample != "" {
		return k.sample
	}
	return k.text()
}

// explained puts the doc beside a line, or above one that is long.
func explained(line, doc string) string {
	const column = 38
	if len(line) >= column {
		return "# " + doc + ":\n" + line + "\n"
	}
	return line + strings.Repeat(" ", column-len(line)) + "# " + doc + "\n"
}

// oneOf reports whether an entry has exactly one of its keys.
func (t table) oneOf() bool { return t.name == "blacklist" || t.name == "stub" }

func unitNote(k key) string {
	if k.unit == "ms" || k.unit == "bytes" {
		return " (" + k.unit + ")"
	}
	return ""
}
