package proof

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/webtest"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

const killConfig = `
[crawler]
max-depth = 3
max-concurrent-pages-open = 16
head-check = "auto"
sitemaps = "quality"
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

// A killableWeb is a web with the files of a crawl.
type killableWeb struct {
	server *webtest.Server
	config string // path
	state  string // path

	killed []death
}

// A death is the end of a crawler that was killed.
type death struct {
	at   time.Time              // the last moment at which it was certainly alive
	gone time.Time              // the first moment at which it had ended; zero: unknown
	of   func(host string) bool // hosts that it requested; nil: all
}

func newKillableWeb(t testing.TB, s *webtest.Server, text string) *killableWeb {
	t.Helper()
	w := &killableWeb{server: s}
	w.config, w.state = crawltest.Files(t, s, text)
	return w
}

// generatedWeb returns a web with the given number of hosts and pages on each, determined by the
// seed.
func generatedWeb(t testing.TB, seed uint64, hosts, pages int) *killableWeb {
	t.Helper()
	s := crawltest.Serve(t)
	web := s.Generate(seed, webtest.GenConfig{
		Domain: "gen.test", Hosts: hosts, Pages: pages, Links: 24, Hrefs: 9, Size: 2000, Leave: 0.3, Redirects: 0.1,
		Dead: 0.05,
	})
	seeds := web.Seeds()
	name := func(i int) string { return fmt.Sprintf("h%d.gen.test", i) }
	return newKillableWeb(t, s, fmt.Sprintf(killConfig, name(0), seeds[0], name(1), "https://"+name(1)+"/",
		name(hosts-1), name(hosts-2)))
}

// start starts the crawler. The channel receives its exit error.
func (w *killableWeb) start(t testing.TB) (*exec.Cmd, <-chan error) {
	t.Helper()
	cmd := child(w.config)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	return cmd, ended
}

// kill kills the crawler and records when.
func (w *killableWeb) kill(cmd *exec.Cmd, ended <-chan error) {
	d := death{at: time.Now()}
	_ = cmd.Process.Kill()
	<-ended
	d.gone = time.Now()
	w.killed = append(w.killed, d)
}

// crawl starts the crawler and kills it after a time; 0 lets it end. It reports whether the crawl
// reached its end.
func (w *killableWeb) crawl(t testing.TB, kill time.Duration) bool {
	t.Helper()
	cmd, ended := w.start(t)
	var late <-chan time.Time
	if kill > 0 {
		late = time.After(kill)
	}
	select {
	case err := <-ended:
		if err != nil {
			t.Fatalf("the crawler failed: %v", err)
		}
		return true
	case <-late:
		w.kill(cmd, ended)
		return w.completed(t)
	}
}

// killAfter starts the crawler and kills it after a number of answers. It reports whether that was
// before its end.
func (w *killableWeb) killAfter(t testing.TB, answers int) bool {
	t.Helper()
	cmd, ended := w.start(t)
	for want := w.answered() + answers; w.answered() < want; {
		select {
		case err := <-ended:
			if err != nil {
				t.Fatalf("the crawler failed: %v", err)
			}
			return false
		case <-time.After(time.Millisecond):
		}
	}
	w.kill(cmd, ended)
	return !w.completed(t)
}

// log returns the server's log from the point of view of the crawlers.
func (w *killableWeb) log() []webtest.Entry { return heardOf(w.server.Log(), w.killed) }

// heardOf returns a log from the point of view of crawlers, some of which were killed: an answer
// after a kill reached no crawler, and requests open at the kill ended then. A busy server notices
// only later that the connections are gone, and reads late requests that a crawler sent before it
// died: these arrive on a connection that existed before.
func heardOf(log []webtest.Entry, deaths []death) []webtest.Entry {
	for i, e := range log {
		for _, d := range deaths {
			gone := latest(d.at, d.gone)
			its := e.Arrived.Before(gone) || !e.Opened.IsZero() && e.Opened.Before(gone)
			if !its || !e.Done.IsZero() && !e.Done.After(d.at) || d.of != nil && !d.of(e.Host) {
				continue
			}
			if e.Arrived.After(gone) {
				log[i].Arrived = gone
			}
			log[i].Done = latest(d.at, log[i].Arrived)
			if e.FirstByte.After(d.at) {
				log[i].FirstByte, log[i].Status = time.Time{}, 0
			}
			break
		}
	}
	return log
}

// latest returns the later of two moments.
func latest(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// answered returns the number of answers that the server has sent.
func (w *killableWeb) answered() (n int) {
	for _, e := range w.server.Log() {
		if !e.Done.IsZero() {
			n++
		}
	}
	return n
}

// completed reports whether the run is completed: a kill may have come just after that.
func (w *killableWeb) completed(t testing.TB) bool {
	t.Helper()
	store, err := kv.Open(w.state, kv.Options{ReadOnly: true})
	if err != nil {
		return false // killed before the file existed
	}
	defer store.Close()
	var runs []schema.Run
	if err := store.View(func(tx *kv.Tx) (err error) { runs, err = tx.Runs.All(); return err }); err != nil {
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
		return done // killed before the file existed
	}
	defer store.Close()
	err = store.View(func(tx *kv.Tx) error {
		return tx.Visits.Each(1, func(v *schema.Visit) (bool, error) {
			norm, err := tx.URLs.Norm(v.URL)
			done[norm] = true
			return true, err
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return done
}

// pages returns what the state file says about every page, in a form that people can compare.
func (w *killableWeb) pages(t testing.TB) map[string]string {
	t.Helper()
	pages := map[string]string{}
	crawltest.EachPage(t, w.state, func(p *survey.Page) {
		pages[p.URL] = fmt.Sprint(p.State, " ", p.Depth, " ", p.Hops, " ", p.Error)
		if p.Visit != nil {
			pages[p.URL] += fmt.Sprint(" ", p.Visit.Status, " ", len(p.Visit.Links), " ", p.Visit.Form)
		}
	})
	return pages
}

// TestKilled kills a crawl at random moments and resumes it until it is done: the map is that of a
// crawl without kills, no committed page is requested again, and no host is requested early.
func TestKilled(t *testing.T) {
	t.Parallel()
	seed, crawls, kills, hosts, pages := crawltest.Seed(t), 1, 5, 24, 20
	if crawltest.Full() {
		crawls, kills, hosts, pages = 6, 40, 60, 34
	}
	r := rand.New(rand.NewPCG(seed, 0))
	total := 0
	for i := range crawls {
		whole := generatedWeb(t, seed+uint64(i), hosts, pages)
		whole.crawl(t, 0)
		want := crawltest.Digest(t, whole.state)

		w := generatedWeb(t, seed+uint64(i), hosts, pages)
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
		got, found := crawltest.Digest(t, w.state), w.pages(t)
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

// check checks the server's log: politeness over all restarts, and no committed page requested
// again.
func (w *killableWeb) check(t testing.TB, settled map[string]time.Time) {
	t.Helper()
	log := w.log()
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
	rules := []webtest.Rule{webtest.MinGap(100*time.Millisecond, 5*time.Millisecond), webtest.MaxOpen(1, 0),
		webtest.RobotsFirst()}
	for _, bad := range webtest.CheckLog(log, rules...) {
		t.Error(bad)
	}
}

// Requests of a dying crawler are not blamed on the next one; that one's own are.
func TestHeardOf(t *testing.T) {
	t.Parallel()
	start := time.Now()
	at := func(ms int) time.Time { return start.Add(time.Duration(ms) * time.Millisecond) }
	log := []webtest.Entry{
		{Arrived: at(0), FirstByte: at(50), Done: at(60)},
		{Arrived: at(200), FirstByte: at(310), Done: at(320)}, // answered after the kill
		{Arrived: at(303), Done: at(450)},                     // requested while dying
		{Opened: at(100), Arrived: at(340), Done: at(341)},    // requested while dying, and read late
		{Opened: at(400), Arrived: at(410), Done: at(500)},
	}
	got := heardOf(log, []death{{at: at(300), gone: at(305)}})
	for i, want := range []time.Time{at(60), at(300), at(303), at(305), at(500)} {
		if !got[i].Done.Equal(want) {
			t.Errorf("%d: ended at %v, want %v", i, got[i].Done.Sub(start), want.Sub(start))
		}
	}
	if !got[1].FirstByte.IsZero() || got[0].FirstByte.IsZero() {
		t.Error("an answer after the kill was heard, or one before it was not")
	}
}
