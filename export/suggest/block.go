package suggest

import (
	"cmp"
	"encoding/json"
	"regexp"
	"strings"

	"github.com/sumi-ripple/ripple/schema/terrain"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// Host returns the name of the one host that a candidate is, without a port; empty: it is
// a part of one, or several.
func (c *Candidate) Host() string {
	if c.Name != c.label {
		return ""
	}
	name, _ := weburl.SplitPort(c.label)
	return name
}

// An entry is what adds candidates of one domain to a configuration.
type entry struct {
	domain         string
	seeds, include []string // no include: everything
}

// Block returns the [[quality]] entry that adds a candidate to a configuration;
// empty if its host cannot be the domain of one. Its seed is a page that
// answered; where none has, the front page.
func (c *Candidate) Block() string { return c.entry().text() }

// Blocks returns the entries that add all of some candidates, in their order. There can be only
// one of a domain: that of several ports, or parts, of one host stands where the first of these
// is, and is empty for the others.
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

// add lets an entry hold what another of its domain does.
func (e *entry) add(other entry) {
	e.seeds = append(e.seeds, other.seeds...)
	if len(e.include) > 0 && len(other.include) > 0 {
		e.include = append(e.include, other.include...)
		return
	}
	e.include = nil
}

// entry is the one of a candidate; zero: it cannot be one.
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
	if _, _, err := terrain.ParsePattern(domain); err != nil {
		return entry{}
	}
	return entry{domain, []string{cmp.Or(c.Answers, seed)}, include}
}

// text is the entry as TOML; empty: there is none.
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

// quoted quotes as JSON does, which TOML reads alike.
func quoted(s string) string {
	b, _ := json.Marshal(s) // a string always has a form
	return string(b)
}
