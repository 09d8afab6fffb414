package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/sumi-ripple/ripple/cmd/ripple/desk"
	"github.com/sumi-ripple/ripple/cmd/ripple/output"
	"github.com/sumi-ripple/ripple/cmd/ripple/seeds"
	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/cluster/hub"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema/config"
	"github.com/sumi-ripple/ripple/schema/scope"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// runDryRun shows what a configuration means and what a crawl would do, or fails as a crawl does.
// No page is visited and nothing is written. The robots.txt of each seed's host is requested once,
// unless a crawl has a copy.
func runDryRun(ctx context.Context, v *term.Voice, stdout io.Writer, cfg *config.Config, extra seeds.Extra,
	opts Options) error {
	p, err := foreseen(ctx, v, cfg, extra, opts)
	if err != nil {
		return err
	}
	defer p.close()
	fmt.Fprintf(stdout, "user agent  %s\n", cfg.UserAgentString())
	fmt.Fprintf(stdout, "state       %s\n", p.state)
	fmt.Fprintf(stdout, "crawl       %s\n\n", strings.Join(p.lines, "\n            "))
	showLimits(stdout, p.cfg)
	showLists(stdout, p.cfg)
	seeds := showSeeds(stdout, p.cfg)
	fmt.Fprintln(stdout, "robots.txt of the seeds' hosts")
	peeks, err := showRobots(ctx, stdout, p, seeds)
	if err != nil {
		return err
	}
	if err := showEstimate(stdout, p, peeks); err != nil {
		return err
	}
	showOutputs(stdout, cfg)
	if p.busy {
		return statefile.Advise(cfg.State.Path, fmt.Errorf("%s is being crawled: %w", term.Shown(cfg.State.Path),
			kv.ErrLocked))
	}
	return nil
}

// A prospect is what a crawl would find and do.
type prospect struct {
	state string         // its path
	cfg   *config.Config // with the further seeds of the run
	store *kv.Store      // nil: there is none
	goes  bool           // a run of the store resumes
	fresh bool           // the map starts empty
	busy  bool           // another crawl is running
	lines []string
}

func (p *prospect) close() {
	if p.store != nil {
		p.store.Close()
	}
}

// foreseen returns what a crawl would do on this machine, or the error with which it would fail.
func foreseen(ctx context.Context, v *term.Voice, cfg *config.Config, extra seeds.Extra,
	opts Options) (*prospect, error) {
	at := cfg.Monitor
	if at.Listen = cmp.Or(opts.Listen, at.Listen); at.Listen != "" {
		if err := desk.MayListen(at, v.Logger()); err != nil {
			return nil, term.Usage("%v", err)
		}
	}
	if err := errors.Join(term.CrawlMemory(cfg).Refuse(), refusePages(cfg.Pages)); err != nil {
		return nil, err
	}
	if err := refuseBrowsers(ctx, cfg); err != nil {
		return nil, err
	}
	if cfg.Cluster.Hub != "" {
		return nodeProspect(cfg, opts)
	}
	if err := errors.Join(output.Refuse(cfg), refuseMetrics(cfg.Monitor.MetricsCSV)); err != nil {
		return nil, err
	}
	return newProspect(ctx, statefile.Files{Voice: v}, cfg, extra, opts.Fresh)
}

// refuseBrowsers returns an error if the browsers of a configuration cannot be opened.
func refuseBrowsers(ctx context.Context, cfg *config.Config) error {
	m := crawl.NewShared(0)
	return errors.Join(m.KeepBrowsers(ctx, cfg), m.LeaveBrowsers())
}

// nodeProspect is the prospect of one of several machines of a terrain. It does not ask the hub for their progress.
func nodeProspect(cfg *config.Config, opts Options) (*prospect, error) {
	if err := refuseNode(opts); err != nil {
		return nil, err
	}
	if err := hub.CheckCredentials(cfg.Cluster.Credentials); err != nil {
		return nil, hubError(err)
	}
	return &prospect{
		state: term.Shown(cfg.Cluster.Folder) + ", this machine's shards",
		cfg:   cfg,
		lines: []string{
			"with the other machines at the hub " + term.Shown(cfg.Cluster.Hub), "the estimate is of a first run of all of them",
		},
	}, nil
}

// newProspect reads the state file as a crawl would, and fails as it would.
func newProspect(ctx context.Context, from statefile.Files, cfg *config.Config,
	extra seeds.Extra, fresh bool) (*prospect, error) {
	path := cfg.State.Path
	if err := hasFolder(path); err != nil {
		return nil, err
	}
	p := &prospect{state: term.Shown(path), lines: []string{"run #1 begins"}}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		if err := statefile.MayWriteState(path); err != nil {
			return nil, err
		}
		p.cfg, err = extra.Join(cfg)
		return p, err
	}
	if err := mayCrawl(from.Voice.Logger(), path, fresh); err != nil {
		return nil, err
	}
	store, live, err := from.Open(ctx, path)
	if err != nil && !(fresh && statefile.Unreadable(err)) {
		return nil, err
	}
	p.store, p.busy, p.fresh = store, live != nil, fresh
	if fresh {
		if err := statefile.MayBackUp(path + ".bak"); err != nil {
			p.close()
			return nil, err
		}
		p.lines = append(p.lines, "with an empty map; the old state is kept as "+term.Shown(path+".bak"))
		p.cfg, err = extra.Join(cfg)
	} else {
		err = p.foresee(cfg, extra)
	}
	if p.busy {
		p.lines = []string{fmt.Sprintf("run #%d is being crawled; a second crawl is refused until it ends", live.RunID)}
	}
	if err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

// mayCrawl returns an error if a crawl cannot write a state file. If only its folder is read-only, it warns, as a crawl
// does: a crawl needs the folder only with --fresh.
func mayCrawl(log *slog.Logger, path string, fresh bool) error {
	err := statefile.MayWriteState(path)
	if fresh && err != nil {
		return err
	}
	f, failed := os.OpenFile(path, os.O_RDWR, 0)
	if failed != nil {
		return statefile.Advise(path, failed)
	}
	if err != nil {
		log.Warn("other commands cannot reach this crawl", "error", err)
	}
	return f.Close()
}

// foresee finds which run resumes or starts.
func (p *prospect) foresee(cfg *config.Config, extra seeds.Extra) (err error) {
	m := term.CrawlMemory(cfg)
	if err := m.Explain(p.store.Fits(m.ForURLs())); err != nil {
		return err
	}
	if p.cfg, _, err = extra.OfRun(p.store, cfg); err != nil {
		return err
	}
	begun, err := crawl.Foresee(p.store, p.cfg)
	if err != nil {
		return err
	}
	p.goes = begun.Resumed
	p.lines, err = begunLines(p.store, p.cfg, begun, extra.Same)
	return err
}

func showLimits(w io.Writer, cfg *config.Config) {
	c := cfg.Crawler
	fmt.Fprintln(w, "limits")
	t := term.NewTable(w)
	t.Row("  max-depth", c.MaxDepth)
	t.Row("  requests to one host", fmt.Sprintf("%d a run, %s apart or more", c.MaxDomainRequests,
		term.Gap(c.MinimumTimeOnPage)))
	t.Row("  requests open at a time", term.Commas(cfg.MaxOpen()))
	t.Row("  pages of a run", orNone(c.MaxPages))
	if c.MaxRunTime > 0 {
		t.Row("  time of a process", term.Span(c.MaxRunTime))
	}
	t.Row("  sitemaps", string(c.Sitemaps))
	t.Row("  memory", term.CrawlMemory(cfg))
	t.Flush()
}

func orNone(n int) string {
	if n == 0 {
		return "no limit"
	}
	return term.Commas(n)
}

// showLists shows the lists in order of precedence.
func showLists(w io.Writer, cfg *config.Config) {
	fmt.Fprintln(w, "\nclasses; the first that matches a URL decides")
	t := term.NewTable(w)
	if n := cfg.Decided(); n > 0 {
		t.Row("  decided", "file "+term.Shown(cfg.Decisions.File), term.Count(n, "host",
			"hosts")+", whatever lists of names say")
	}
	showList(t, "blacklist", cfg.Blacklist)
	showList(t, "stub", cfg.Stub)
	for _, q := range cfg.Quality {
		t.Row("  quality", q.Name, originRules(&q))
	}
	t.Row("  discovered", "everything else")
	t.Flush()
}

func showList(t term.Table, class string, lists []config.List) {
	for _, l := range lists {
		switch {
		case l.File != "":
			t.Row("  "+class, "file "+term.Shown(l.File), term.Count(len(l.Names), "name", "names"))
		case l.Preset != "":
			t.Row("  "+class, "preset "+l.Preset, term.Count(len(l.Names), "name", "names"))
		case l.URL != nil:
			t.Row("  "+class, "url '"+term.Clean(l.URL.String(), 200)+"'")
		default:
			t.Row("  "+class, l.Domain)
		}
	}
}

// originRules describes the rules of an origin.
func originRules(o *scope.Origin) string {
	var parts []string
	if o.MaxRequests > 0 {
		parts = append(parts, fmt.Sprintf("max-requests = %d", o.MaxRequests))
	}
	for _, re := range o.Include {
		parts = append(parts, "include '"+term.Clean(re.String(), 100)+"'")
	}
	for _, re := range o.Exclude {
		parts = append(parts, "exclude '"+term.Clean(re.String(), 100)+"'")
	}
	return strings.Join(parts, ", ")
}

// showSeeds shows the seeds as pages and returns the first of each host.
func showSeeds(w io.Writer, cfg *config.Config) []weburl.URL {
	fmt.Fprintln(w, "\nseeds, and the pages that they are")
	var firsts []weburl.URL
	seen := map[string]bool{}
	t := term.NewTable(w)
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
			t.Row("  "+term.Clean(raw, 300), page)
			if !seen[u.Host()] {
				seen[u.Host()] = true
				firsts = append(firsts, u)
			}
		}
	}
	t.Flush()
	fmt.Fprintln(w)
	return firsts
}

// maxPeeked is the maximum number of hosts that a dry run requests robots.txt of.
const maxPeeked = 100

func showRobots(ctx context.Context, w io.Writer, p *prospect, seeds []weburl.URL) ([]crawl.Peeked, error) {
	asked := seeds[:min(len(seeds), maxPeeked)]
	peeks, err := crawl.Peek(ctx, crawl.PeekOptions{Config: p.cfg, Store: p.store, Busy: p.busy, Seeds: asked})
	if err != nil {
		return nil, err
	}
	t := term.NewTable(w)
	for _, p := range peeks {
		text := peekText(&p)
		if !p.Copied.IsZero() {
			text += " (copy of " + p.Copied.UTC().Format(time.RFC3339) + ")"
		}
		t.Row("  "+term.ShownHost(p.Host, 253), text)
	}
	t.Flush()
	if n := len(seeds) - len(asked); n > 0 {
		fmt.Fprintf(w, "  %s not asked\n", term.Count(n, "further host was", "further hosts were"))
	}
	return peeks, nil
}

func peekText(p *crawl.Peeked) string {
	switch {
	case p.Error != "" && p.Rules != nil:
		return "no answer (" + term.Clean(p.Error, 120) + "): everything is allowed"
	case p.Error != "" && p.Asked:
		return "no answer (" + term.Clean(p.Error, 120) + "): nothing is visited until it can be had"
	case p.Error != "":
		return "not asked (" + term.Clean(p.Error, 120) + ")"
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
		text += ", Crawl-delay " + term.Gap(delay.Round(100*time.Millisecond))
	}
	if n := len(p.Rules.Sitemaps()); n > 0 {
		text += ", " + term.Count(n, "sitemap", "sitemaps")
	}
	if !p.Rules.Check("/").Allowed {
		text += "; the front page is forbidden"
	}
	return text
}
