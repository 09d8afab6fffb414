package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/media"
	"github.com/sumi-ripple/ripple/export/atomicfile"
	"github.com/sumi-ripple/ripple/export/broken"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
	"github.com/sumi-ripple/ripple/schema/scope"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// CheckOptions are the options of a check of links.
type CheckOptions struct {
	Config   string   // a configuration whose settings apply; empty: none
	URLs     []string // where to begin
	State    string   // the state file to keep; empty: none is kept
	MaxPages int
	Contact  string // URL or email address; empty: none
}

// Checked is the result of a check of links.
type Checked struct {
	Links     []broken.Link // those of [broken.Find], seeds that are broken, and fragments that lead nowhere
	Skipped   []broken.Link // links to pages behind a wall, which are not known to be broken
	Pages     int           // visited pages and other addresses
	Total     int           // links that were found, and fragments that were checked
	Waiting   int           // pages that a limit left waiting
	Forbidden int           // pages that robots.txt forbids
	Unpaid    int           // pages whose servers ask for payment
	Walled    int           // pages of the sites behind a wall
	Outside   int           // other pages behind a wall
	Resting   int           // pages of hosts that asked Ripple to wait for too long
	Unread    []string      // what is wrong with the seeds, if no page of the sites could be read
	Unknown   int           // fragments of pages whose ids are not known, or beyond the limits
	Earlier   int           // pages that an earlier process has visited, and whose fragments were lost in a power cut
	MaxPages  bool          // that limit ended the check
}

// maxStrays is how often a check follows a site to another host.
const maxStrays = 5

// Check crawls sites and finds their broken links. It prints to found each broken target when it is found, with
// the first page that links to it; found may be nil. It returns what is known also if it returns an error.
func Check(ctx context.Context, v *term.Voice, found io.Writer, opts CheckOptions) (*Checked, error) {
	c := &checker{voice: v, out: found, typed: opts.URLs, urls: opts.URLs, told: map[string]bool{}}
	if err := c.configure(opts); err != nil {
		return nil, err
	}
	if opts.State == "" {
		dir, remove, err := atomicfile.Scratch(os.TempDir())
		if err != nil {
			return nil, err
		}
		defer remove()
		c.scratch, c.limits.State = true, filepath.Join(dir, "check.bolt")
	}
	term.OutliveReaders()
	for fresh := false; len(c.urls) < len(c.typed)+maxStrays; fresh = true { // what HEAD said of the site is not enough
		cfg, err := c.config()
		if err != nil {
			return nil, err
		}
		sender, err := NewSender(cfg, v.Logger())
		if err != nil {
			return nil, err
		}
		w := newWalk(v, "", cfg)
		w.sender, w.check, c.strayed, c.pending = sender, c, false, make(chan schema.ID, maxPending)
		if err := w.run(ctx, fresh); err != nil || !c.strayed {
			return c.result, err
		}
	}
	return c.result, fmt.Errorf("the site redirects from host to host: %s", term.Clean(strings.Join(c.urls, ", "), 500))
}

// A checker is what a check of links adds to a walk.
type checker struct {
	voice   *term.Voice
	out     io.Writer // nil: nothing is printed before the end
	scratch bool      // the state is removed at the end
	limits  config.LinkCheck
	typed   []string // where the user begins
	urls    []string // where to begin: typed, and where it redirects to
	anchors anchorBook
	resumed bool // an earlier process has visited pages
	strayed bool // another walk follows, because a site redirects to another host
	result  *Checked

	told    map[string]bool // targets that were printed
	pending chan schema.ID  // targets that may have to be printed; of one walk
}

func (c *checker) configure(opts CheckOptions) (err error) {
	c.limits = config.LinkCheck{MaxPages: opts.MaxPages}
	if opts.State != "" {
		if c.limits.State, err = filepath.Abs(opts.State); err != nil {
			return err
		}
		c.anchors.log.path = c.limits.State + ".anchors"
	}
	if opts.Config != "" {
		if c.limits.Base, err = statefile.LoadConfig(opts.Config, c.voice); err != nil {
			return err
		}
	}
	switch {
	case strings.Contains(opts.Contact, "://"):
		c.limits.ContactURL = opts.Contact
	default:
		c.limits.ContactEmail = opts.Contact
	}
	return nil
}

func (c *checker) config() (*config.Config, error) {
	limits := c.limits
	limits.URLs = c.urls
	cfg, err := limits.Config()
	var wrong *config.Errors
	if errors.As(err, &wrong) {
		var lines []string
		for _, p := range wrong.List {
			lines = append(lines, p.Text)
		}
		return nil, term.Usage("%s", term.Clean(strings.Join(lines, "; "), 1000))
	}
	return cfg, err
}

// mayEnter returns an error if a state file holds something else than an earlier check of the same sites. It
// resumes one that went on to another host.
func (c *checker) mayEnter(store *kv.Store, path string, cfg *config.Config) (*config.Config, error) {
	var last []byte
	err := store.View(func(tx *kv.Tx) error {
		runs, err := tx.Runs.All()
		if err != nil || len(runs) == 0 {
			return err
		}
		last, err = tx.Runs.Config(runs[len(runs)-1].Config)
		return err
	})
	if err != nil || last == nil {
		return cfg, err
	}
	before, err := config.ParseEffective(last)
	if err != nil {
		return nil, err
	}
	if before.Crawler.HeadCheck != config.HeadOutside || before.Crawler.MaxDepth != 1 {
		return nil, term.Usage("%s is no state of \"ripple check\"; name another file with --state", term.Shown(path))
	}
	s, err := survey.New(store)
	if err != nil {
		return nil, err
	}
	if err := c.follow(s, cfg.Scope()); err != nil {
		return nil, err
	}
	c.strayed = false // this walk goes there
	if cfg, err = c.config(); err != nil {
		return nil, err
	}
	if !slices.Equal(domains(before), domains(cfg)) {
		return nil, term.Usage("%s is a check of %s; name another file with --state", term.Shown(path),
			term.Clean(strings.Join(domains(before), ", "), 500))
	}
	return cfg, nil
}

func domains(cfg *config.Config) (names []string) {
	for _, q := range cfg.Quality {
		names = append(names, q.Name)
	}
	slices.Sort(names)
	return names
}

// follow adds the addresses to which seeds redirect, on hosts that are not known to be checked.
func (c *checker) follow(s *survey.Survey, known *scope.Scope) error {
	strays, err := survey.StraySeeds(s)
	for _, stray := range strays {
		if slices.Contains(c.urls, stray.End) || len(known.OriginsOf(weburl.Host(stray.End))) > 0 {
			continue
		}
		c.voice.Tell(term.Event("the site is elsewhere", fmt.Sprintf("%s redirects to %s, which is checked instead",
			term.ShownHost(stray.Seed, 500), term.ShownHost(stray.End, 500)), "seed", term.Clean(stray.Seed, 2048), "at",
			term.Clean(stray.End, 2048)))
		c.urls, c.strayed = append(slices.Clone(c.urls), stray.End), true
	}
	return err
}

// finish finds what is broken after a walk.
func (c *checker) finish(ctx context.Context, w *walk, r crawl.Result) error {
	s, err := survey.New(w.store)
	if err != nil {
		return err
	}
	if r.Walked {
		if err := c.follow(s, s.Scope()); err != nil || c.strayed {
			return err
		}
		if err := w.crawl.Complete(); err != nil {
			return err
		}
	}
	c.result = &Checked{Pages: r.Run.Pages, MaxPages: r.Run.End.Kind == schema.EndMaxPages}
	counts, err := s.Counts()
	if err != nil {
		return err
	}
	c.result.Total, c.result.Waiting = counts.Links, counts.Frontier+counts.ByState[schema.RequestLimitHit]
	if !r.Walked {
		c.result.Waiting = max(1, c.result.Waiting)
	}
	if c.result.Links, c.result.Skipped, err = broken.Find(s); err == nil {
		err = c.seeds(s)
	}
	if err == nil {
		err = c.count(s)
	}
	if err == nil {
		c.result.Links = append(c.result.Links, c.anchors.broken(s, c.result)...)
		err = c.printAll(c.result.Links)
	}
	if err = errors.Join(err, early(ctx)); err == nil && r.Walked {
		err = c.anchors.log.remove()
	}
	return err
}

// seeds adds the seeds that are broken. If no page of the sites could be read, it says why.
func (c *checker) seeds(s *survey.Survey) error {
	read := false
	var wrong []broken.Link
	for _, raw := range c.urls {
		u, err := s.Config().Rules().Parse(raw)
		if err != nil {
			return err
		}
		id, known, err := s.Lookup(u.Norm)
		if err != nil || !known {
			return err
		}
		p, err := s.Page(id)
		if err != nil {
			return err
		}
		if p.State == schema.Processed {
			read = true
			continue
		}
		c.result.Unread = append(c.result.Unread, fmt.Sprintf("%s: %s", term.ShownHost(u.Norm, 500),
			term.Clean(orState(p), 300)))
		if p.Broken() && !slices.ContainsFunc(c.result.Links, func(l broken.Link) bool { return l.To == u.Norm }) {
			wrong = append(wrong, broken.Link{Source: &broken.Source{From: "the command line"},
				Target: &broken.Target{To: u.Norm, State: p.State, Answer: p.Answer, Status: p.Status(), Why: p.Why()}})
		}
	}
	if read {
		c.result.Unread = nil
		c.result.Links = append(c.result.Links, wrong...)
	}
	return nil
}

func orState(p *survey.Page) string {
	if p.Error != "" {
		return p.Error
	}
	return p.State.String()
}

// count counts the pages that could not be requested, and those whose fragments were lost.
func (c *checker) count(s *survey.Survey) error {
	return s.EachSketch(func(p *survey.Page) error {
		switch {
		case p.Visit != nil && p.Visit.Answer == schema.AnswerChallenge:
			if s.Scope().OriginsOf(p.HostName) == nil {
				c.result.Outside++
			} else {
				c.result.Walled++
			}
		case p.State == schema.RateLimited:
			c.result.Resting++
		case p.State == schema.Failed && p.Visit != nil && p.Visit.Reason.Cause == schema.CausePayment:
			c.result.Unpaid++
		case p.State == schema.Failed && !p.Broken():
			c.result.Forbidden++
		case c.resumed && p.State == schema.Processed && p.VisitedNow() && p.Visit.Status < 300 && !p.Visit.Unchanged &&
			media.Extract(p.Visit.ContentType).IsHTML() && s.Scope().OriginsOf(p.HostName) != nil:
			url, err := s.Norm(p.ID)
			if err == nil && !c.anchors.has(url) {
				c.result.Earlier++
			}
			return err
		}
		return nil
	})
}

// withFragment returns the URL of a place on a page, and the id there. The fragment is decoded if that can be read.
func withFragment(page, fragment string) (at, id string) {
	decoded, err := url.PathUnescape(fragment)
	if err == nil && utf8.ValidString(decoded) && !strings.ContainsFunc(decoded, unicode.IsControl) {
		fragment = decoded
	}
	return page + "#" + fragment, fragment
}
