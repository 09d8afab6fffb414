package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sumi-ripple/ripple/schema/terrain"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// WithSeeds returns the configuration with further seeds, each in the first entry
// that covers its host. A host that no entry covers is refused, unless asQuality
// makes it an entry of its own. Every refused URL is told, with its reason, as one
// of the [*Errors]. c stays as it is.
func (c *Config) WithSeeds(urls []string, asQuality bool) (*Config, error) {
	more := *c
	more.Quality = slices.Clone(c.Quality)
	errs := &Errors{Path: "--seeds"}
	for i, raw := range urls {
		if err := more.addSeed(raw, asQuality); err != nil {
			errs.add(Problem{Line: i + 1, Key: "seeds", Text: quote(raw) + " " + err.Error()})
		}
	}
	if err := errs.orNil(); err != nil {
		return nil, err
	}
	with, err := ParseEffective(more.Effective())
	if err == nil { // with what is no part of the effective configuration
		with.notes, with.Network.Proxy = c.notes, c.Network.Proxy
	}
	return with, err
}

func (c *Config) addSeed(raw string, asQuality bool) error {
	u, err := c.rules.Parse(raw)
	host := ""
	if err == nil {
		host = u.Host()
	}
	at := slices.IndexFunc(c.Quality, func(q Quality) bool { return q.Pattern.Match(host) })
	if at < 0 && err == nil {
		if !asQuality {
			return fmt.Errorf("belongs to no [[quality]] entry; --as-quality makes %s one for this run", quote(host))
		}
		q, err := newOrigin(host)
		if err != nil {
			return err
		}
		c.Quality = append(c.Quality, q)
		at = len(c.Quality) - 1
	}
	q := Quality{}
	if at >= 0 {
		q = c.Quality[at]
	}
	norm, err := c.seed(raw, &q)
	if err == nil {
		err = c.checkNewSeed(norm)
	}
	if err != nil {
		return err
	}
	if rule, refused := c.terrain.Refuse(weburl.Split(norm)); refused {
		return fmt.Errorf("would not be visited: %s", rule)
	}
	if !slices.Contains(q.Seeds, raw) {
		c.Quality[at].Seeds = append(slices.Clip(q.Seeds), raw)
	}
	return nil
}

// newOrigin is an entry for one host.
func newOrigin(host string) (Quality, error) {
	if i := strings.LastIndexByte(host, ':'); i >= 0 && !strings.HasSuffix(host, "]") {
		host = host[:i]
	}
	p, _, err := terrain.ParsePattern(host)
	return Quality{Name: p.String(), Pattern: p}, err
}
