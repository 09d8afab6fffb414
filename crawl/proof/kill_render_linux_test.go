package proof

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/webtest/apps"
)

// A crawl with browsers comes to one map, however often it is killed while they render, and requests nothing again for
// scripts but what was just being answered.
func TestKilledRendering(t *testing.T) {
	if testing.Short() {
		t.Skip("short: browsers that are killed again and again take a minute; .ci/run runs it with the proofs")
	}
	if _, err := exec.LookPath("chromium"); err != nil && os.Getenv("RIPPLE_CI") != "1" {
		t.Skip("Chromium is not installed, so nothing is rendered; .ci/run installs it")
	}
	t.Parallel()
	s := crawltest.Serve(t)
	kills, pages := 1, []string{"caches", "database"}
	if crawltest.Full() {
		kills, pages = 12, nil // all pages
	}
	apps.Lively(s, pages...)
	text := fmt.Sprintf("[retry]\nmax-retries = 100\n[render]\nmode = \"auto\"\nmax-browsers = 2\ntimeout = \"5m\"\n"+
		"sandbox = %t\n[[quality]]\ndomain = \"lively.test\"\nseeds = [\"https://lively.test/\"]\n", os.Getuid() != 0)
	whole := newKillableWeb(t, s, text)
	whole.crawl(t, 0)
	want := crawltest.Digest(t, whole.state)

	random := rand.New(rand.NewPCG(crawltest.Seed(t), 1))
	s.ResetLog()
	w := newKillableWeb(t, s, text)
	ended := !w.killAfter(t, 3+random.IntN(3)) // the first pages and their scripts
	for n := 1; n < kills && !ended; n++ {
		ended = w.crawl(t, time.Second+time.Duration(random.Int64N(int64(5*time.Second))))
	}
	if !ended {
		w.crawl(t, 0)
	}
	t.Logf("%d kills", len(w.killed))
	if len(w.killed) == 0 {
		t.Error("it ended before it was killed")
	}
	last := map[string]time.Time{} // end of the last request for a resource
	for _, e := range s.Log() {
		before, again := last[e.Host+e.Path]
		if again && !slices.ContainsFunc(w.killed, func(d death) bool {
			return before.After(d.at.Add(-2*time.Second)) && before.Before(d.gone.Add(time.Second))
		}) {
			t.Errorf("%s%s was answered at %s and requested again at %s", e.Host, e.Path, before, e.Arrived)
		}
		if strings.Contains(path.Ext(e.Path), "js") {
			last[e.Host+e.Path] = e.Done
		}
	}
	if got := crawltest.Digest(t, w.state); got != want {
		t.Errorf("after %d kills the digest is %s, want %s", len(w.killed), got, want)
	}
}
