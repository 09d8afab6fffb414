package suggest

import (
	"cmp"
	"encoding/json"
	"regexp"
	"strings"

	"github.com/sumi-ripple/ripple/schema/scope"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// Host returns the name of the candidate's host, without a port. It is empty if the candidate is a part
// of a host or several hosts.
func (c *Candidate) Host() string {
	if c.Name != c.label {
		return ""
	}
	name, _ := weburl.SplitPort(c.label)
	return name
}

// An entry is a [[quality]] entry that adds candidates of one domain.
type entry struct {
	domain         string
	seeds, include []string // no include: everything
}

// Block returns the [[quality]] entry that adds a candidate to a configuration, or "" if its host
// cannot be a domain in the configuration. The seed is a page that answered, else the front page.
func (c *Candidate) Block() string { return c.entry().text() }

// Blocks returns the entries that add all candidates, in order. A domain can have only one entry, so
// candidates that are ports or parts of one host share it: it is at the position of the first, and the
// others are empty.
func Blocks(all []Candidate) []string {
	blocks, first, entries := make([]string, len(all)), map[string]int{}, make([]entry, len(all))
	for i := range all {
		e := all[i].entry()
		if at, ok := first[e.domain]; ok && e.domain != "" {
			entries[at].add(e)
			continue
		}
		first[e.domain], entries[i] = i, e
	}
	for i := range entries {
		blocks[i] = entries[i].text()
	}
	return blocks
}

// add merges another entry of the same domain into e.
func (e *entry) add(other entry) {
	e.seeds = append(e.seeds, other.seeds...)
	if len(e.include) > 0 && len(other.include) > 0 {
		e.include = append(e.include, other.include...)
		return
	}
	e.include = nil
}

// Block returns the [[quality]] entry that adds a host, or a domain with all hosts below it, to a configuration, or ""
// if it cannot be a domain in the configuration. The seed is the front page.
func Block(name string, below bool) string {
	e := (&Candidate{Name: name, label: name}).entry()
	if below && e.domain != "" {
		e.domain = "*." + e.domain
	}
	return e.text()
}

// entry returns the entry of a candidate; zero if it cannot have one.
func (c *Candidate) entry() entry {
	domain, seed := c.label, "https://"+c.label+"/"
	var include []string
	switch path := strings.TrimPrefix(c.Name, c.label); {
	case path != c.Name && strings.HasPrefix(path, "/"):
		seed, include = "https://"+c.Name, []string{"^" + regexp.QuoteMeta(path) + `($|[/?])`}
	case c.Name != c.label:
		domain = "*." + c.Name
	}
	domain, _ = weburl.SplitPort(domain)
	if _, _, err := scope.ParsePattern(domain); err != nil {
		return entry{}
	}
	return entry{domain, []string{cmp.Or(c.Answers, seed)}, include}
}

// text returns the entry as TOML; empty for the zero entry.
func (e entry) text() string {
	if e.domain == "" {
		return ""
	}
	text := "[[quality]]\ndomain = " + quoted(e.domain) + "\nseeds = " + list(e.seeds) + "\n"
	if len(e.include) > 0 {
		text += "include = " + list(e.include) + "\n"
	}
	return text
}

func list(texts []string) string {
	all := make([]string, len(texts))
	for i, text := range texts {
		all[i] = quoted(text)
	}
	return "[" + strings.Join(all, ", ") + "]"
}

// quoted quotes a string as JSON, which is also valid TOML.
func quoted(s string) string {
	b, _ := json.Marshal(s) // strings always marshal
	return string(b)
}
