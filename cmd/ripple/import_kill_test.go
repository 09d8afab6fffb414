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
	for name, joins := range map[string]bool{"into a new file": false, "into the file of a crawl": true} {
		t.Run(name, func(t *testing.T) { killWhileImporting(t, joins) })
	}
}

func killWhileImporting(t *testing.T, joins bool) {
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
	if !joins {
		if err := os.Remove(state); err != nil {
			t.Fatal(err)
		}
	}
	kills := killImports(t, dir, state)
	crawltest.Verify(t, state)
	if got := crawltest.Digest(t, state); got != want || kills == 0 {
		t.Errorf("after %d kills the digest is %s, want %s", kills, got, want)
	}
	runs, err := command("query", "--json", "SELECT kind, status FROM runs ORDER BY id")
	expected := `"import"[^}]*"completed"[^}]*\}\s*\]`
	if joins {
		expected = `"import"[^}]*"completed"[^}]*\},\s*\{[^}]*"crawl"[^}]*"completed"[^}]*\}\s*\]`
	}
	if err != nil || !regexp.MustCompile(expected).MatchString(runs) {
		t.Errorf("%v: %s", err, runs)
	}
	for _, rest := range []string{".import", ".join", ".compact"} {
		if _, err := os.Stat(state + rest); err == nil {
			t.Errorf("%s is left", rest)
		}
	}
	if !joins {
		return
	}
	crawltest.Surveyed(t, state, func(s *survey.Survey) error {
		older, err := s.At(1)
		if err != nil {
			return err
		}
		got, err := survey.Digest(older)
		if got != want {
			t.Errorf("the import has digest %s, want %s", got, want)
		}
		return err
	})
}

// killImports kills an import again and again until one ends, and returns the number of kills.
func killImports(t *testing.T, dir, state string) (kills int) {
	random := rand.New(rand.NewPCG(crawltest.Seed(t), 1))
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
			return kills
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
}
