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
		text := k.sample
		if text == "" {
			text = k.text()
		}
		line := k.name + " = " + text
		if off != "" && t.oneOf() && k.name != "domain" {
			line = "# " + line
		}
		b.WriteString(off + pad(line) + "# " + k.doc + unitNote(k) + "\n")
	}
}

// oneOf reports whether an entry has exactly one of its keys.
func (t table) oneOf() bool { return t.name == "blacklist" || t.name == "stub" }

func pad(line string) string {
	const column = 36
	return line + strings.Repeat(" ", max(1, column-len(line)))
}

func unitNote(k key) string {
	if k.unit == "ms" || k.unit == "bytes" {
		return " (" + k.unit + ")"
	}
	return ""
}
