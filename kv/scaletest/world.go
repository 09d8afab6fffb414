package scaletest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

// The numbers that shape a terrain.
const (
	maxDepth      = 2
	hostsOfOrigin = 4   // an origin has as many hosts
	ownPages      = 0.4 // of all pages where visitedPages are visited, those of origins
	nearPages     = 0.2 // at depth 1
	farPages      = 0.34
	visitedPages  = 0.9
	budgetShare   = 15 // the budget of a host is this part of all pages
)

// A fate is how the crawl treats a host.
type fate uint8

const (
	fateDiscovered fate = iota
	fateOwn             // belongs to an origin
	fateListed          // blacklisted, or a stub: never visited
	fateAway            // never answers, and was given up
)

// A site is a host of the terrain.
type site struct {
	name    string
	fate    fate
	id      schema.HostID // 0: not met yet
	pages   []schema.ID   // by the order in which they were met
	sitemap schema.ID     // 0: not met yet
	others  int           // pages that were not the host's own when they were met
	// of the run
	visited, requests int
}

// A world is all hosts, met or not, and the configuration that maps them.
type world struct {
	words
	sites []*site // the largest first, if there is a choice
	own   []int   // those of origins
	cfg   *config.Config
}

func newWorld(size Size) (*world, error) {
	r := rand.New(rand.NewPCG(uint64(size.Pages), uint64(size.Hosts)))
	w := &world{words: newWords(r)}
	origins := max(3, min(size.Hosts/40, 200))
	every := size.Hosts / origins
	for i := range size.Hosts {
		w.sites = append(w.sites, w.newSite(i, every, origins))
		if w.sites[i].fate == fateOwn {
			w.own = append(w.own, i)
		}
	}
	var err error
	w.cfg, _, err = config.Parse([]byte(w.config(size)), "", nil)
	return w, err
}

// newSite returns the i-th host. Hosts of origins are placed at regular intervals; every fifth of
// the other hosts is a subdomain of the one before.
func (w *world) newSite(i, every, origins int) *site {
	below := func(parent *site) *site {
		return &site{name: fmt.Sprintf("%s-%d.%s", w.word(), i, parent.name), fate: parent.fate}
	}
	s := &site{name: fmt.Sprintf("%s-%d.test", w.word(), i)}
	switch at := i % every; {
	case at < hostsOfOrigin && i/every < origins:
		if at > 0 {
			return below(w.sites[i-at])
		}
		s.fate = fateOwn
	case i%40 == 7:
		s.fate = fateListed
	case i%40 == 17:
		s.fate = fateAway
	case i%5 == 4:
		return below(w.sites[i-1])
	}
	return s
}

// config is the text of the configuration.
func (w *world) config(size Size) string {
	var b strings.Builder
	fmt.Fprintf(&b, "[crawler]\nmax-depth = %d\nmax-domain-requests = %d\n", maxDepth, size.budget())
	fmt.Fprintf(&b, "[traps]\nmax-urls-per-host = %d\n", size.Pages)
	fmt.Fprint(&b, "[user-agent]\ncrawler-name = \"Scale\"\ncontact-url = \"https://scale.test/\"\n")
	for i, s := range w.sites {
		switch {
		case s.fate == fateOwn && strings.Count(s.name, ".") == 1:
			fmt.Fprintf(&b, "[[quality]]\ndomain = \"*.%s\"\nseeds = [\"https://%s/\"]\n", s.name, s.name)
		case s.fate == fateListed && i%80 < 40:
			fmt.Fprintf(&b, "[[blacklist]]\ndomain = \"%s\"\n", s.name)
		case s.fate == fateListed:
			fmt.Fprintf(&b, "[[stub]]\ndomain = \"%s\"\n", s.name)
		}
	}
	return b.String()
}

// budget is the number of requests that a host may be sent.
func (s Size) budget() int { return max(500, s.Pages/budgetShare) }

// seeds returns the hosts whose front pages are seeds.
func (w *world) seeds() []int {
	return slices.DeleteFunc(slices.Clone(w.own), func(i int) bool { return strings.Count(w.sites[i].name, ".") > 1 })
}
