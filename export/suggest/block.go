package suggest

import (
	"cmp"
	"encoding/json"
	"regexp"
	"strings"

	"github.com/sumi-ripple/ripple/schema/terrain"
)

// Block returns the [[quality]] entry that adds a candidate to a configuration;
// empty if it cannot be one, as an IP address cannot. Its seed is a page that
// answered; where none has, the front page.
func (c *Candidate) Block() string {
	domain, seed, include := c.label, "https://"+c.label+"/", ""
	switch path := strings.TrimPrefix(c.Name, c.label); {
	case path != c.Name && strings.HasPrefix(path, "/"):
		seed, include = "https://"+c.Name, "^"+regexp.QuoteMeta(path)+`($|[/?])`
	case c.Name != c.label:
		domain = "*." + c.Name
	}
	seed = cmp.Or(c.Answers, seed)
	if i := strings.LastIndexByte(domain, ':'); i >= 0 && !strings.HasSuffix(domain, "]") {
		domain = domain[:i]
	}
	if _, _, err := terrain.ParsePattern(domain); err != nil {
		return ""
	}
	var b strings.Builder
	b.WriteString("[[quality]]\ndomain = " + quoted(domain) + "\nseeds = [" + quoted(seed) + "]\n")
	if include != "" {
		b.WriteString("include = [" + quoted(include) + "]\n")
	}
	return b.String()
}

// quoted quotes as JSON does, which TOML reads alike.
func quoted(s string) string {
	b, _ := json.Marshal(s) // a string always has a form
	return string(b)
}
