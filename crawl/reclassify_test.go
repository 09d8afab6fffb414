package crawl

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// lists are the lists of one configuration for a random web.
type lists struct {
	depth   int
	origins map[string]bool // hosts
	black   map[string]bool
	stub    map[string]bool
	noP3    bool // pages /p3 are blacklisted
}

func drawLists(t *rapid.T, label string) lists {
	l := lists{
		depth:   rapid.IntRange(0, 3).Draw(t, label+" max-depth"),
		origins: map[string]bool{"h0.test": true}, black: map[string]bool{}, stub: map[string]bool{},
		noP3: rapid.Bool().Draw(t, label+" p3"),
	}
	for h := 1; h < 9; h++ {
		host := fmt.Sprintf("h%d.test", h)
		switch rapid.IntRange(0, 7).Draw(t, label+" "+host) {
		case 0:
			l.black[host] = true
		case 1:
			l.stub[host] = true
		case 2:
			l.origins[host] = true
		}
	}
	return l
}

func (l lists) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "[crawler]\nmax-depth = %d\n", l.depth)
	for host := range l.origins {
		fmt.Fprintf(&b, "[[quality]]\ndomain = %q\nseeds = [\"https://%s/p1\"]\n", host, host)
	}
	for host := range l.black {
		fmt.Fprintf(&b, "[[blacklist]]\ndomain = %q\n", host)
	}
	for host := range l.stub {
		fmt.Fprintf(&b, "[[stub]]\ndomain = %q\n", host)
	}
	if l.noP3 {
		b.WriteString("[[blacklist]]\nurl = '/p3$'\n")
	}
	return crawltest.Paper(b.String())
}

func (l lists) visitable(u string) bool {
	host := weburl.Host(u)
	return !l.black[host] && !l.stub[host] && (!l.noP3 || !strings.HasSuffix(u, "/p3"))
}

// A paperMap is the result of a crawl: distances, states, and requests.
type paperMap struct {
	depths  map[string]near
	states  map[string]string
	visited map[string]bool
}

func (p *paperCrawl) read() paperMap {
	p.t.Helper()
	m := paperMap{map[string]near{}, map[string]string{}, map[string]bool{}}
	crawltest.Surveyed(p.t, p.path, func(s *survey.Survey) error {
		err := s.EachPage(func(page *survey.Page) error {
			if page.InRun {
				m.depths[page.URL] = near{int(page.Depth), int(page.Hops), page.Own}
				m.states[page.URL] = page.State.String()
			}
			m.visited[page.URL] = page.Visited
			return nil
		})
		if err == nil {
			err = survey.Check(s, func(problem string) { p.t.Error(problem) })
		}
		return err
	})
	return m
}

// asFarAsVisited returns the web without the links of unvisited pages.
func (w *paperWeb) asFarAsVisited(visited map[string]bool) *paperWeb {
	less := &paperWeb{links: maps.Clone(w.links), redirect: maps.Clone(w.redirect), gone: w.gone}
	maps.DeleteFunc(less.links, func(u string, _ []string) bool { return !visited[u] })
	maps.DeleteFunc(less.redirect, func(u, _ string) bool { return !visited[u] })
	return less
}

// TestReclassifyEqualsFreshCrawl crawls a random web under some lists, reclassifies it under
// others, and compares with a crawl that had these from the start: at once for visited pages, and
// completely when the crawl has been resumed.
func TestReclassifyEqualsFreshCrawl(t *testing.T) {
	checks := flag.Lookup("rapid.checks").Value
	if whole := checks.String(); !crawltest.Full() {
		defer func() { _ = checks.Set(whole) }()
		_ = checks.Set("15")
	}
	dir, n := t.TempDir(), 0
	rapid.Check(t, func(rt *rapid.T) {
		seed := rapid.Uint64().Draw(rt, "seed")
		web := randomVoices(rand.New(rand.NewPCG(seed, 0)))
		before, after := drawLists(rt, "before"), drawLists(rt, "after")
		crawlOf := func(web *paperWeb, l lists) *paperCrawl {
			n++
			p := newPaper(t, rand.New(rand.NewPCG(seed, uint64(n))), web, l.text())
			p.path = filepath.Join(dir, fmt.Sprint(n))
			return p
		}
		p := crawlOf(web, before)
		p.run(0)
		p.complete()
		visited := p.read().visited
		p.cfg = crawltest.Parse(t, after.text())
		p.reclassify()
		got := p.read()

		fresh := crawlOf(web.asFarAsVisited(visited), after)
		fresh.run(0)
		want := fresh.read()
		if !maps.Equal(got.depths, want.depths) {
			rt.Fatalf("depths: %s", difference(got.depths, want.depths))
		}
		for u, state := range want.states {
			if visited[u] {
				continue // its facts stay
			}
			if state == "processed" || state == "dead_link" {
				state = "queued"
			}
			if got.states[u] != state {
				rt.Errorf("%s is %s, want %s", u, got.states[u], state)
			}
		}
		p.run(rapid.IntRange(0, 2).Draw(rt, "kills"))
		whole := crawlOf(web, after)
		whole.run(0)
		got, want = p.read(), whole.read()
		if !maps.Equal(got.depths, want.depths) {
			rt.Fatalf("gone on: %s", difference(got.depths, want.depths))
		}
		for u, state := range want.states {
			if !visited[u] && state != "failed" && got.states[u] != state { // old visits may close a loop
				rt.Errorf("gone on: %s is %s, want %s", u, got.states[u], state)
			}
			if want.visited[u] && !got.visited[u] {
				rt.Errorf("gone on: %s was not visited", u)
			}
		}
		for u, times := range p.asked {
			if times > 3 || !before.visitable(u) && !after.visitable(u) {
				rt.Errorf("%s was asked %d times", u, times)
			}
		}
		os.Remove(p.path)
		os.Remove(fresh.path)
		os.Remove(whole.path)
	})
}

func (p *paperCrawl) reclassify() schema.Run {
	p.t.Helper()
	store, err := kv.Open(p.path, kv.Options{})
	if err != nil {
		p.t.Fatal(err)
	}
	defer store.Close()
	run, err := Reclassify(store, p.cfg)
	if err != nil {
		p.t.Fatal(err)
	}
	return run
}

// TestReclassifyKeepsRunCompleted: a run with nothing new to request stays completed; any other
// continues.
func TestReclassifyKeepsRunCompleted(t *testing.T) {
	const origin = "[[quality]]\ndomain = \"h0.test\"\nseeds = [\"https://h0.test/p0\"]\n"
	p := newEmptyPaper(t, origin+"[[stub]]\ndomain = \"h1.test\"\n")
	p.web.links["https://h0.test/p0"] = []string{"https://h1.test/p0", "https://h2.test/p0"}
	p.run(0)
	p.complete()
	if run := p.reclassify(); run.Status != schema.RunCompleted || run.ID != 1 {
		t.Errorf("under the same lists: run %d is %s", run.ID, run.Status)
	}
	p.cfg = crawltest.Parse(t, twoSteps(origin+"[[stub]]\ndomain = \"h1.test\"\n[[blacklist]]\ndomain = \"h2.test\"\n"))
	if run := p.reclassify(); run.Status != schema.RunCompleted {
		t.Errorf("under a longer blacklist: %s", run.Status)
	}
	if state := p.read().states["https://h2.test/p0"]; state != "blacklisted" {
		t.Errorf("the visited page is %s", state)
	}
	p.cfg = crawltest.Parse(t, twoSteps(origin))
	if run := p.reclassify(); run.Status != schema.RunInterrupted || run.End.Kind != schema.EndReclassified ||
		run.ID != 1 {
		t.Errorf("under no stub list: run %d is %s (%s)", run.ID, run.Status, run.End)
	}
	asked := maps.Clone(p.asked)
	p.run(0)
	if p.asked["https://h1.test/p0"] != 1 || p.asked["https://h2.test/p0"] != asked["https://h2.test/p0"] {
		t.Errorf("the crawl went on with %v, had asked for %v", p.asked, asked)
	}
}

// TestReclassifyKilledBeforeOutputs kills a reclassification before its last commit, in a run that
// lacks only its outputs: pages that came within reach are visited before the outputs are written.
func TestReclassifyKilledBeforeOutputs(t *testing.T) {
	const origin = "[[quality]]\ndomain = \"h0.test\"\nseeds = [\"https://h0.test/p0\"]\n"
	p := newEmptyPaper(t, origin+"[[stub]]\ndomain = \"h1.test\"\n")
	p.web.links["https://h0.test/p0"] = []string{"https://h1.test/p0"}
	p.run(0)
	p.cfg = crawltest.Parse(t, twoSteps(origin))
	p.reclassify()
	store, err := kv.Open(p.path, kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	err = store.Update(func(tx *kv.Tx) error {
		run, err := tx.Runs.At(1)
		run.Status, run.Walked, run.End = schema.RunRunning, true, schema.End{Kind: schema.EndFrontier}
		return errors.Join(err, tx.Runs.Put(run), tx.Meta.SetReapply(true))
	})
	if err != nil {
		t.Fatal(err)
	}
	if b, err := Foresee(store, p.cfg); err != nil || b.Run.Walked {
		t.Errorf("Foresee = %+v, %v", b, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c, b, err := Begin(ctx, store, Options{Config: p.cfg, Log: quietLog()})
	if err != nil {
		t.Fatal(err)
	}
	if b.Run.Walked || !b.Run.Finished.IsZero() || b.Run.End != (schema.End{}) {
		t.Errorf("only the outputs of run %+v are missing", b.Run)
	}
	if _, err := c.Run(ctx); err != nil {
		t.Error(err)
	}
}

// Reclassify on an empty store has nothing to apply.
func TestReclassifyWithoutRun(t *testing.T) {
	store := crawltest.Open(t, filepath.Join(t.TempDir(), "state.bolt"))
	cfg := crawltest.Parse(t, twoSteps("[[quality]]\ndomain = \"h0.test\"\nseeds = [\"https://h0.test/p0\"]\n"))
	if _, err := Reclassify(store, cfg); err == nil {
		t.Errorf("Reclassify = %v, want an error", err)
	}
}
