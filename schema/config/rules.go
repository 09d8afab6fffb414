package config

import (
	"crypto/x509"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/scope"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// check checks the rules that involve several keys, and builds the rules and the terrain of c.
func (r *reader) check(c *Config) {
	if len(c.Quality) == 0 {
		r.problem("quality", "no [[quality]] entry: name at least one domain to crawl, with seeds")
	}
	if c.UserAgent.ContactURL == "" && c.UserAgent.ContactEmail == "" {
		r.notice("user-agent", "neither contact-url nor contact-email is given: sites may block the crawler")
	}
	r.checkSources("blacklist", c.Blacklist)
	r.checkSources("stub", c.Stub)
	for i, p := range c.PageTypes {
		if p.Pattern.IsZero() && p.Path == nil {
			r.problem(entryPath("page-type", i), "[[page-type]] needs domain, path or both")
		}
	}
	if c.Monitor.Listen != "" && checkListen(c.Monitor.Listen) == nil {
		if err := c.Monitor.CheckListen(); err != nil {
			r.problem("monitor.listen", err.Error())
		}
	}
	if !r.stored {
		r.checkWritten(c)
	}
	rules, err := weburl.NewRules(c.URL.StripParams, c.URL.MaxLength)
	if err != nil {
		r.problem("url", "[url] "+err.Error())
		return
	}
	c.rules = rules
	r.checkOrigins(c)
}

// checkWritten requires different paths for all files that a crawl writes.
func (r *reader) checkWritten(c *Config) {
	written := []struct{ table, key, path string }{
		{"state", "path", c.State.Path}, {"pages", "path", c.Pages.Path}, {"decisions", "file", c.Decisions.File},
		{"output", "database-path", c.Output.DatabasePath}, {"output", "summary-path", c.Output.SummaryPath},
		{"output", "graph-path", c.Output.GraphPath}, {"output", "map-path", c.Output.MapPath},
		{"monitor", "metrics-csv", c.Monitor.MetricsCSV}, {"monitor", "report-path", c.Monitor.ReportPath},
		{"monitor", "token-file", c.Monitor.TokenFile},
	}
	first := map[string]string{}
	for _, w := range written {
		if w.path == "" {
			continue
		}
		path, name := filepath.Clean(w.path), "["+w.table+"] "+w.key
		if other, twice := first[path]; twice {
			r.problem(w.table+"."+w.key, fmt.Sprintf("%s: %s names that file, too", name, other))
			continue
		}
		first[path] = name
	}
}

func (r *reader) checkOrigins(c *Config) {
	seen := map[scope.Pattern]int{}
	for i, q := range c.Quality {
		first, twice := seen[q.Pattern]
		if twice && !q.Pattern.IsZero() {
			r.problem(entryPath("quality", i)+".domain", fmt.Sprintf("[[quality]] domain: %s has an entry already, at line %d",
				quote(q.Name), r.outline.at(entryPath("quality", first)+".domain")))
			continue
		}
		seen[q.Pattern] = i
	}
	var err error
	c.scope, err = scope.New(c.spec())
	if err != nil && len(r.errs.List) == 0 {
		r.problem("", err.Error())
	}
	for i := range c.Quality {
		r.checkSeeds(c, i)
		r.checkSitemaps(c, i)
	}
}

// spec returns the input for the terrain.
func (c *Config) spec() scope.Spec {
	return scope.Spec{
		Origins:   c.Quality,
		Blacklist: terrainLists(c.Blacklist),
		Stub:      terrainLists(c.Stub),
		PageTypes: c.PageTypes,
		Entities:  c.Entities,
		Traps:     c.Traps,
		Decided:   c.decidedClasses(),
	}
}

func terrainLists(lists []List) []scope.List {
	all := make([]scope.List, len(lists))
	for i, l := range lists {
		switch {
		case l.File != "":
			all[i] = scope.List{Source: "file " + filepath.Base(l.File), Patterns: l.Names}
		case l.Preset != "":
			all[i] = scope.List{Source: "preset " + l.Preset, Patterns: l.Names}
		case l.URL != nil:
			all[i] = scope.List{URL: l.URL}
		case !l.Domain.IsZero():
			all[i] = scope.List{Patterns: []scope.Pattern{l.Domain}}
		}
	}
	return all
}

// checkSources requires exactly one source in each entry. A source with a refused value has been
// reported already.
func (r *reader) checkSources(name string, lists []List) {
	for i, l := range lists {
		path, count := entryPath(name, i), 0
		for _, set := range []bool{!l.Domain.IsZero(), l.File != "", l.Preset != "", l.URL != nil} {
			if set {
				count++
			}
		}
		if count > 1 || count == 0 && !r.failed(path) {
			r.problem(path, fmt.Sprintf("[[%s]] has %d of domain, file, preset and url: give exactly one", name, count))
		}
	}
}

// failed reports whether a problem was reported at a path or inside it.
func (r *reader) failed(path string) bool {
	for _, p := range r.errs.List {
		if p.Key == path || strings.HasPrefix(p.Key, path+".") {
			return true
		}
	}
	return r.errs.more > 0
}

func (r *reader) checkSeeds(c *Config, i int) {
	path := entryPath("quality", i) + ".seeds"
	for _, seed := range c.Quality[i].Seeds {
		if r.errs.more > 0 {
			return
		}
		norm, err := c.seed(seed, &c.Quality[i])
		if err == nil && !r.stored { // a stored configuration has already been used
			err = c.checkNewSeed(seed, norm)
		}
		if err != nil {
			r.problem(path, fmt.Sprintf("%s: %s %v", c.seedsOf(i), quote(seed), err))
			continue
		}
		if rule, refused := c.scope.Refuse(weburl.Split(norm)); refused {
			r.notice(path, fmt.Sprintf("seed %s will not be visited: %s", quote(seed), rule))
		}
	}
}

func (r *reader) checkSitemaps(c *Config, i int) {
	for _, sitemap := range c.Quality[i].Sitemaps {
		if r.errs.more > 0 {
			return
		}
		if _, err := c.fetched(sitemap); err != nil {
			r.problem(entryPath("quality", i)+".sitemaps", fmt.Sprintf("[[quality]] sitemaps: %s %v", quote(sitemap), err))
		}
	}
}

// seedsOf names the seeds of an entry, which may come from a decision.
func (c *Config) seedsOf(i int) string {
	if class, decided := c.decidedClasses()[c.Quality[i].Pattern]; decided && class == schema.ClassQuality {
		return "[decisions] file: seeds of " + quote(c.Quality[i].Name)
	}
	return "[[quality]] seeds"
}

// seed checks one seed of an entry and returns its canonical form.
func (c *Config) seed(seed string, q *Quality) (norm string, err error) {
	u, err := c.rules.Parse(seed)
	if err == nil && !u.HTTP && !q.Pattern.IsZero() && !q.Pattern.Match(u.Host()) { // no pattern: reported elsewhere
		return "", fmt.Errorf("does not belong to %s: "+
			"give its domain an entry of its own, or write a \"*.\" pattern that covers it", quote(q.Name))
	}
	return c.fetched(seed)
}

// fetched checks a URL to be requested and returns its canonical form.
func (c *Config) fetched(raw string) (norm string, err error) {
	u, err := c.rules.Parse(raw)
	switch {
	case err != nil && !strings.Contains(raw, "://"):
		return "", errors.New("is not a URL: one begins with https://")
	case err != nil:
		return "", fmt.Errorf("is not a URL that can be crawled: %w", plain(err))
	case u.HTTP:
		return "", errors.New("must begin with https://")
	}
	if v := c.scope.Classify(u.Norm); !v.Class.Visitable() {
		return "", fmt.Errorf("is refused by %s", v.Rule)
	}
	return u.Norm, nil
}

// plain returns the reason without the URL, which the message already contains.
func plain(err error) error {
	for _, reason := range []error{weburl.ErrMalformed, weburl.ErrScheme, weburl.ErrNoHost, weburl.ErrTooLong} {
		if errors.Is(err, reason) {
			return reason
		}
	}
	return err
}

func checkAnchors(pem []byte) error {
	if !x509.NewCertPool().AppendCertsFromPEM(pem) {
		return errors.New("contains no certificate in PEM form")
	}
	return nil
}
