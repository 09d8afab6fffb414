package suggest

import (
	"cmp"
	"encoding/json"
	"regexp"
	"strings"

	"github.com/sumi-ripple/ripple/schema/terrain"
)

// Host returns the name of the one host that a candidate is, without a port; empty: it is
// a part of one, or several.
func (c *Candidate) Host() string {
	if c.Name != c.label {
		return ""
	}
	return withoutPort(c.label)
}

func withoutPort(host string) string {
	if i := strings.LastIndexByte(host, ':'); i >= 0 && !strings.HasSuffix(host, "]") {
		return host[:i]
	}
	return host
}

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
	domain = withoutPort(domain)
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
