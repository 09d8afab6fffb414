package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/schema/config"
	"github.com/sumi-ripple/ripple/schema/terrain"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// runDryRun shows what a configuration means: no page is visited and nothing is
// written. Of each seed's host robots.txt is asked once.
func runDryRun(ctx context.Context, a *app, cfg *config.Config) error {
	fmt.Fprintf(a.stdout, "user agent  %s\n", cfg.UserAgentString())
	fmt.Fprintf(a.stdout, "state       %s\n\n", shown(cfg.State.Path))
	showLimits(a.stdout, cfg)
	showLists(a.stdout, cfg)
	hosts := showSeeds(a.stdout, cfg)
	fmt.Fprintln(a.stdout, "robots.txt of the seeds' hosts")
	return showRobots(ctx, a.stdout, cfg, hosts)
}

func showLimits(w io.Writer, cfg *config.Config) {
	c := cfg.Crawler
	fmt.Fprintln(w, "limits")
	t := newTable(w)
	t.row("  max-depth", c.MaxDepth)
	t.row("  requests to one host", fmt.Sprintf("%d a run, %s apart or more", c.MaxDomainRequests, span(c.MinimumTimeOnPage)))
	t.row("  requests open at a time", c.MaxConcurrentPagesOpen)
	t.row("  pages of a run", orNone(c.MaxPages))
	if c.MaxRunTime > 0 {
		t.row("  time of a process", span(c.MaxRunTime))
	}
	t.row("  sitemaps", string(c.Sitemaps))
	t.Flush()
}

func orNone(n int) string {
	if n == 0 {
		return "no limit"
	}
	return commas(n)
}

// showLists shows the lists in the order in which they decide.
func showLists(w io.Writer, cfg *config.Config) {
	fmt.Fprintln(w, "\nclasses; the first that matches a URL decides")
	t := newTable(w)
	showList(t, "blacklist", cfg.Blacklist)
	showList(t, "stub", cfg.Stub)
	for _, q := range cfg.Quality {
		t.row("  quality", q.Name, scope(&q))
	}
	t.row("  discovered", "everything else")
	t.Flush()
}

func showList(t table, class string, lists []config.List) {
	for _, l := range lists {
		switch {
		case l.File != "":
			t.row("  "+class, "file "+shown(l.File), count(len(l.Names), "name", "names"))
		case l.Preset != "":
			t.row("  "+class, "preset "+l.Preset, count(len(l.Names), "name", "names"))
		case l.URL != nil:
			t.row("  "+class, "url '"+clean(l.URL.String(), 200)+"'")
		default:
			t.row("  "+class, l.Domain)
		}
	}
}

// scope tells the rules of an origin.
func scope(o *terrain.Origin) string {
	var parts []string
	if o.MaxRequests > 0 {
		parts = append(parts, fmt.Sprintf("max-requests = %d", o.MaxRequests))
	}
	for _, re := range o.Include {
		parts = append(parts, "include '"+clean(re.String(), 100)+"'")
	}
	for _, re := range o.Exclude {
		parts = append(parts, "exclude '"+clean(re.String(), 100)+"'")
	}
	return strings.Join(parts, ", ")
}

// showSeeds shows the seeds as pages and returns their hosts, each once.
func showSeeds(w io.Writer, cfg *config.Config) []string {
	fmt.Fprintln(w, "\nseeds, and the pages that they are")
	var hosts []string
	seen := map[string]bool{}
	t := newTable(w)
	for _, q := range cfg.Quality {
		for _, raw := range q.Seeds {
			u, err := cfg.Rules().Parse(raw)
			if err != nil {
				continue // the configuration was checked
			}
			page := ""
			if u.Norm != raw {
				page = "-> " + u.Norm
			}
			t.row("  "+clean(raw, 300), page)
			if host := weburl.Host(u.Form); !seen[host] {
				seen[host] = true
				hosts = append(hosts, host)
			}
		}
	}
	t.Flush()
	fmt.Fprintln(w)
	return hosts
}

// maxPeeked bounds how many hosts a dry run asks.
const maxPeeked = 100

func showRobots(ctx context.Context, w io.Writer, cfg *config.Config, hosts []string) error {
	asked := hosts[:min(len(hosts), maxPeeked)]
	peeks, err := crawl.Peek(ctx, cfg, asked)
	if err != nil {
		return err
	}
	t := newTable(w)
	for _, p := range peeks {
		t.row("  "+clean(p.Host, 253), peekText(&p))
	}
	t.Flush()
	if n := len(hosts) - len(asked); n > 0 {
		fmt.Fprintf(w, "  %s not asked\n", count(n, "further host was", "further hosts were"))
	}
	return nil
}

func peekText(p *crawl.Peeked) string {
	switch {
	case p.Error != "" && p.Status == 0:
		return "not asked (" + clean(p.Error, 120) + ")"
	case p.Rules == nil:
		return fmt.Sprintf("unavailable (%d): nothing is visited until it can be had", p.Status)
	case p.Status < 200 || p.Status > 299:
		return fmt.Sprintf("none (%d): everything is allowed", p.Status)
	}
	text := "no rule for us"
	if agent := p.Rules.Agent(); agent != "" {
		text = fmt.Sprintf("rules for %q hold", agent)
	}
	if delay, ok := p.Rules.CrawlDelay(); ok && delay > 0 {
		text += ", Crawl-delay " + span(delay.Round(100*time.Millisecond))
	}
	if n := len(p.Rules.Sitemaps()); n > 0 {
		text += ", " + count(n, "sitemap", "sitemaps")
	}
	if !p.Rules.Check("/").Allowed {
		text += "; the front page is forbidden"
	}
	return text
}
