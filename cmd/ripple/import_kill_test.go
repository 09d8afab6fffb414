package main

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/webtest"
	"github.com/sumi-ripple/ripple/kv/survey"
)

// An import that is killed at random moments leaves a whole file each time, and ends with the map of one that was not.
func TestKilledWhileImporting(t *testing.T) {
	t.Parallel()
	s := crawltest.Serve(t)
	s.Generate(3, webtest.GenConfig{Domain: "test", Hosts: 16, Pages: 30, Links: 8, Size: 4000, Leave: 0.4})
	config, state := crawltest.Files(t, s, crawltest.SeedsOfSites+"[pages]\nkeep = true\npath = \"pages\"\n")
	dir := filepath.Dir(config)
	command := func(args ...string) (string, error) {
		cmd := ripple(args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := command("crawl", "-q", "config.toml"); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	want := crawltest.Digest(t, state)
	if err := os.Remove(state); err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(crawltest.Seed(t), 1))
	kills := 0
	for tries := 0; ; tries++ {
		cmd := ripple("import", "--config", "config.toml", "--warc", "pages", "-q")
		cmd.Dir = dir
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		wait := time.Duration(random.IntN(40*(tries+2))) * time.Millisecond
		timer := time.AfterFunc(wait, func() { cmd.Process.Kill() })
		err := cmd.Wait()
		timer.Stop()
		if err == nil {
			break
		}
		if kills++; tries > 200 {
			t.Fatal(err)
		}
		if _, err := os.Stat(state); err != nil {
			continue
		}
		for _, problem := range crawltest.Problems(t, state) {
			if problem != survey.ErrNoRun.Error() { // killed while it listed what the archives hold
				t.Error(problem)
			}
		}
	}
	crawltest.Verify(t, state)
	if got := crawltest.Digest(t, state); got != want || kills == 0 {
		t.Errorf("after %d kills the digest is %s, want %s", kills, got, want)
	}
	out, err := command("query", "--json", "SELECT kind, requests, status FROM runs")
	if want := regexp.MustCompile(`"import"[^}]*0[^}]*"completed"`); err != nil || !want.MatchString(out) {
		t.Errorf("%v: %s", err, out)
	}
}
