package config

import (
	"cmp"
	"fmt"
	"strings"
)

// An Origin is a domain for a sample, with its seeds.
type Origin struct {
	Domain string
	Seeds  []string
}

// Sample returns a configuration that explains every key. It is valid TOML, but is refused, key by key,
// until its placeholders are replaced. With origins, only the contact remains to be replaced.
func Sample(origins ...Origin) string {
	var b strings.Builder
	b.WriteString("# Configuration of Ripple. Replace every " + placeholder + "; what else is here is the default\n" +
		"# or a good start. Durations are written \"24h\", sizes \"10MB\" or \"16MiB\", regular\n" +
		"# expressions are RE2 and match anywhere.\n")
	given := map[string]string{}
	if len(origins) > 0 {
		given = map[string]string{
			"user-agent.crawler-name": tomlString(sampleName), "quality.domain": tomlString(origins[0].Domain),
			"quality.seeds": tomlStrings(origins[0].Seeds),
		}
	}
	for _, t := range declared() {
		writeSample(&b, t, given)
		if t.name != "quality" || len(origins) == 0 {
			continue
		}
		for _, o := range origins[1:] {
			fmt.Fprintf(&b, "\n%s\ndomain = %s\nseeds = %s\n", t.header(), tomlString(o.Domain), tomlStrings(o.Seeds))
		}
	}
	return b.String()
}

// sampleName is the crawler's name until the user chooses one.
const sampleName = "SumiRipple"

func tomlStrings(all []string) string {
	quoted := make([]string, len(all))
	for i, s := range all {
		quoted[i] = tomlString(s)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// writeSample writes one table, using the given values. A table array that may be empty is commented
// out.
func writeSample(b *strings.Builder, t table, given map[string]string) {
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
		if off == "" && !k.required && k.text() == "" { // absent by default, which differs from any value
			mark = "# "
		}
		if off != "" && t.oneOf() && k.name != "domain" {
			mark += "# "
		}
		value := cmp.Or(given[t.name+"."+k.name], k.example())
		b.WriteString(explained(mark+k.name+" = "+value, k.doc+unitNote(k)))
	}
}

// example returns the value in the sample.
func (k *key) example() string {
	if k.sample != "" {
		return k.sample
	}
	return k.text()
}

// explained puts the doc next to a line, or above a long one.
func explained(line, doc string) string {
	const column = 38
	if len(line) >= column {
		return "# " + doc + ":\n" + line + "\n"
	}
	return line + strings.Repeat(" ", column-len(line)) + "# " + doc + "\n"
}

// oneOf reports whether an entry must have exactly one of its keys.
func (t table) oneOf() bool { return t.name == "blacklist" || t.name == "stub" }

func unitNote(k key) string {
	if k.unit == "ms" || k.unit == "bytes" {
		return " (" + k.unit + ")"
	}
	return ""
}
