package crawl_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/webtest"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

// envChild makes the test binary crawl the configuration that it names, so that
// a test can kill it.
const envChild = "RIPPLE_TEST_CRAWL"

func TestMain(m *testing.M) {
	if path := os.Getenv(envChild); path != "" {
		os.Exit(crawlAsChild(path))
	}
	if os.Getenv(envServer) != "" {
		os.Exit(serveAsChild())
	}
	goleak.VerifyTestMain(m)
}

func crawlAsChild(path string) int {
	cfg, _, err := config.Load(path)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	store, err := kv.Open(cfg.State.Path, kv.Options{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	c, _, err := crawl.Begin(context.Background(), store, crawl.Options{Config: cfg, Log: quiet()})
	if err == nil {
		_, err = c.Run(context.Background())
	}
	if err == nil {
		err = c.Complete()
	}
	if err == nil {
		err = store.Close()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

const killConfig = `
[crawler]
max-depth = 3
max-concurrent-pages-open = 16
minimum-time-on-page = 100
head-check = "auto"
[user-agent]
crawler-name = "KillBot"
[retry]
delay = "100ms"
[[quality]]
domain = %q
seeds = [%q]
[[quality]]
domain = %q
seeds = [%q]
[[blacklist]]
domain = %q
[[stub]]
domain = %q
`

// A killableWeb is a generated web, and what a crawl of it needs.
type killableWeb struct {
	server *webtest.Server
	config string // path
	state  string // path
}

func newKillableWeb(t testing.TB, seed uint64, hosts, pages int) *killableWeb {
	t.Helper()
	s := newServer(t)
	web := s.Generate(seed, webtest.GenConfig{Domain: "gen.test", Hosts: hosts, Pages: pages, Links: 24, Hrefs: 9, Size: 2000, Leave: 0.3, Redirects: 0.1, Dead: 0.05})
	seeds := web.Seeds()
	name := func(i int) string { return fmt.Sprintf("h%d.gen.test", i) }
	text := fmt.Sprintf(killConfig, name(0), seeds[0], name(1), "https://"+name(1)+"/", name(hosts-1), name(hosts-2))
	w := &killableWeb{server: s}
	w.config, w.state = webConfig(t, s, text)
	return w
}

// crawl starts the crawler and kills it after a time; 0 lets it end. It reports
// whether the crawl came to its end.
func (w *killableWeb) crawl(t testing.TB, kill time.Duration) bool {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), envChild+"="+w.config)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if kill > 0 {
		timer := time.AfterFunc(kill, func() { _ = cmd.Process.Kill() })
		defer timer.Stop()
	}
	err := cmd.Wait()
	if cmd.ProcessState.ExitCode() > 0 {
		t.Fatalf("the crawler failed: %v", err)
	}
	return err == nil || w.completed(t)
}

// completed reports whether the run is: a kill may have come just after that.
func (w *killableWeb) completed(t testing.TB) bool {
	t.Helper()
	store, err := kv.Open(w.state, kv.Options{ReadOnly: true})
	if err != nil {
		return false // killed before there was a file
	}
	defer store.Close()
	var runs []schema.Run
	if err := store.View(func(tx *kv.Tx) (err error) { runs, err = tx.Runs(); return err }); err != nil {
		t.Fatal(err)
	}
	return len(runs) > 0 && runs[len(runs)-1].Status == schema.RunCompleted
}

// visited returns the URLs whose visit is committed.
func (w *killableWeb) visited(t testing.TB) map[string]bool {
	t.Helper()
	done := map[string]bool{}
	store, err := kv.Open(w.state, kv.Options{ReadOnly: true})
	if err != nil {
		return done // killed before there was a file
	}
	defer store.Close()
	err = store.View(func(tx *kv.Tx) error {
		return tx.EachVisit(1, func(v *schema.Visit) (bool, error) {
			norm, err := tx.Norm(v.URL)
			done[norm] = true
			return true, err
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return done
}

// seedOf returns the seed of a random test: RIPPLE_SEED repeats one.
func seedOf(t testing.TB) uint64 {
	if n, err := strconv.ParseUint(os.Getenv("RIPPLE_SEED"), 10, 64); err == nil {
		return n
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("RIPPLE_SEED=%d", seed)
	return seed
}

// pages returns what the state file says of every page, for a person to compare.
func (w *killableWeb) pages(t testing.TB) map[string]string {
	t.Helper()
	pages := map[string]string{}
	eachPage(t, w.state, func(p *survey.Page) {
		pages[p.URL] = fmt.Sprint(p.State, " ", p.Depth, " ", p.Hops, " ", p.Error)
		if p.Visit != nil {
			pages[p.URL] += fmt.Sprint(" ", p.Visit.Status, " ", len(p.Visit.Links), " ", p.Visit.Form)
		}
	})
	return pages
}

// TestKilled kills a crawl at random moments and resumes it until it is done:
// the map is that of a crawl nobody killed, no committed page is asked again,
// and no host is asked early.
func TestKilled(t *testing.T) {
	seed, crawls, kills, hosts, pages := seedOf(t), 1, 5, 24, 20
	if os.Getenv("RIPPLE_PROOF") == "full" {
		crawls, kills, hosts, pages = 6, 40, 60, 34
	}
	r := rand.New(rand.NewPCG(seed, 0))
	total := 0
	for i := range crawls {
		whole := newKillableWeb(t, seed+uint64(i), hosts, pages)
		whole.crawl(t, 0)
		want := digestOf(t, whole.state)

		w := newKillableWeb(t, seed+uint64(i), hosts, pages)
		settled := map[string]time.Time{}
		done := false
		for range kills {
			if done = w.crawl(t, time.Duration(50+r.IntN(500))*time.Millisecond); done {
				break
			}
			total++
			for u := range w.visited(t) {
				if settled[u].IsZero() {
					settled[u] = time.Now()
				}
			}
		}
		for !done {
			done = w.crawl(t, 0)
		}
		got, found := digestOf(t, w.state), w.pages(t)
		for u, state := range found {
			if strings.HasPrefix(state, schema.Queued.String()) {
				t.Errorf("seed %d, crawl %d: %s is left waiting", seed, i, u)
			}
		}
		if got != want {
			report(t, "state", found, whole.pages(t))
			t.Fatalf("seed %d, crawl %d: the map differs after kills", seed, i)
		}
		w.check(t, settled)
		t.Logf("seed %d, crawl %d: %d pages, %d kills so far, 0 lost, 0 duplicated", seed, i, len(found), total)
	}
	if total == 0 {
		t.Error("no crawl was killed")
	}
}

// check reads the server's log: politeness over all restarts, and no committed
// page asked again.
func (w *killableWeb) check(t testing.TB, settled map[string]time.Time) {
	t.Helper()
	log := w.server.Log()
	for _, e := range log {
		path := strings.TrimSuffix(e.Path, "/")
		if path == "" {
			path = "/"
		}
		at := settled["https://"+strings.TrimPrefix(e.Host, "www.")+path]
		if !at.IsZero() && e.Arrived.After(at) {
			t.Errorf("%s%s was committed and is asked again", e.Host, e.Path)
		}
	}
	rules := []webtest.Rule{webtest.MinGap(100*time.Millisecond, 5*time.Millisecond), webtest.MaxOpen(1, 0), webtest.RobotsFirst()}
	for _, bad := range webtest.CheckLog(log, rules...) {
		t.Error(bad)
	}
}
