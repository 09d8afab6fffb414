package suggest

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/sumi-ripple/ripple/schema/terrain"
)

// Block returns the [[quality]] entry that adds a candidate to a configuration;
// empty if it cannot be one, as an IP address cannot.
func (c *Candidate) Block() string {
	domain, seed, include := c.host, "https://"+c.host+"/", ""
	switch path := strings.TrimPrefix(c.Name, c.host); {
	case path != c.Name && strings.HasPrefix(path, "/"):
		seed, include = "https://"+c.Name, "^"+regexp.QuoteMeta(path)+`($|[/?])`
	case c.Name != c.host:
		domain = "*." + c.Name
	}
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
