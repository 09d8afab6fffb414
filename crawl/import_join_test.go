package crawl_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/record"
	"github.com/sumi-ripple/ripple/crawl/webtest"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

// join imports archives into a file of their own and joins that with a state file. It returns the path of the result and
// the digest of the import in its own file.
func join(t *testing.T, path string, cfg *config.Config, from crawl.Archives) (joined, alone string) {
	t.Helper()
	side := crawltest.Open(t, stateFile(t))
	importInto(t, side, cfg, from)
	joined = filepath.Join(t.TempDir(), "joined.bolt")
	store, err := kv.Open(path, kv.Options{})
	if err == nil {
		_, _, err = store.Join(t.Context(), joined, side)
	}
	if err := errors.Join(err, store.Close()); err != nil {
		t.Fatal(err)
	}
	crawltest.Verify(t, joined)
	return joined, must(survey.Digest(crawltest.Survey(t, side)))(t)
}

// digestOf returns the digest of a run of a state file.
func digestOf(t *testing.T, path string, run schema.RunID) (digest string) {
	t.Helper()
	crawltest.Surveyed(t, path, func(s *survey.Survey) error {
		if run == 0 {
			run = s.Run().ID
		}
		older, err := s.At(run)
		if err == nil {
			digest, err = survey.Digest(older)
		}
		return err
	})
	return digest
}

func tellOf(t *testing.T, path string) (told []string) {
	t.Helper()
	crawltest.Surveyed(t, path, func(s *survey.Survey) error {
		for _, line := range surveytest.Tell(t, s) {
			told = append(told, regexp.MustCompile(`runs .-.`).ReplaceAllString(line, "runs"))
		}
		return nil
	})
	return told
}

func runsOf(t *testing.T, path string) (all []string) {
	t.Helper()
	crawltest.Surveyed(t, path, func(s *survey.Survey) error {
		for _, r := range s.Runs() {
			all = append(all, fmt.Sprint(r.ID, " ", r.Kind, " ", r.Joined))
		}
		return nil
	})
	return all
}

// proceed crawls a state file, until it has seen most pages if that is not 0, and returns the requests.
func proceed(t *testing.T, s *webtest.Server, path string, cfg *config.Config, most int) (asked []string) {
	t.Helper()
	store, err := kv.Open(path, kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	s.ResetLog()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	n := 0
	c, _, err := crawl.Begin(t.Context(), store, crawl.Options{Config: cfg, Log: slog.New(slog.DiscardHandler),
		OnVisit: func(record.Event) {
			if n++; n == most {
				stop()
			}
		}})
	if err == nil {
		_, err = c.Run(ctx)
	}
	if err == nil && most == 0 {
		err = c.Complete()
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range s.Log() {
		asked = append(asked, fmt.Sprintf("%s %s%s %d %s", e.Method, e.Host, e.Path, e.Status, e.Header.Get("If-None-Match")))
	}
	slices.Sort(asked)
	return asked
}

func copyOf(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	to := stateFile(t)
	if err := errors.Join(err, os.WriteFile(to, b, 0o600)); err != nil {
		t.Fatal(err)
	}
	return to
}

// archived crawls a web of the same hosts as of years ago, and returns what it stored.
func archived(t *testing.T, seed uint64) crawl.Archives {
	t.Helper()
	s := crawltest.Serve(t)
	s.Generate(seed, webtest.GenConfig{Domain: "test", Hosts: 16, Pages: 12, Links: 8, Size: 800, Leave: 0.4})
	dir := filepath.Join(t.TempDir(), "pages")
	text := crawltest.Config(t, s, crawltest.SeedsOfSites)
	walk(t, crawltest.Open(t, stateFile(t)), crawltest.Parse(t, text+fmt.Sprintf("[pages]\nkeep = true\npath = %q\n", dir)))
	return crawl.Archives{WARC: segments(t, dir)}
}

// A crawl continues as if no import had been added, and the import has the same results as in a file of its own.
func TestImportJoinsCrawl(t *testing.T) {
	t.Parallel()
	old, older := archived(t, 3), archived(t, 4)
	s := crawltest.Serve(t)
	s.Generate(7, webtest.GenConfig{Domain: "test", Hosts: 16, Pages: 12, Links: 8, Size: 800, Leave: 0.4})
	cfg := crawltest.Parse(t, crawltest.Config(t, s, crawltest.SeedsOfSites))
	half := stateFile(t)
	proceed(t, s, half, cfg, 60)
	before := digestOf(t, half, 0)

	tellBefore := tellOf(t, half)
	joined, alone := join(t, copyOf(t, half), cfg, old)
	if diff := cmp.Diff(tellBefore, tellOf(t, joined)); diff != "" {
		t.Errorf("what is told of the crawl (-before +after)\n%s", diff)
	}
	if got := digestOf(t, joined, 0); got != before {
		t.Errorf("the unfinished crawl has digest %s, before the import %s", got, before)
	}
	if got := digestOf(t, joined, 1); got != alone {
		t.Errorf("the import has digest %s, in its own file %s", got, alone)
	}
	joined, olderAlone := join(t, joined, cfg, older)
	if diff := cmp.Diff([]string{"1 import 3", "2 import 3", "3 crawl 0"}, runsOf(t, joined)); diff != "" {
		t.Errorf("runs (-want +got)\n%s", diff)
	}
	want := proceed(t, s, half, cfg, 0)
	got := proceed(t, s, joined, cfg, 0)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("requests without and with imports (-want +got)\n%s", diff)
	}
	for run, want := range map[schema.RunID]string{1: alone, 2: olderAlone, 3: digestOf(t, half, 0)} {
		if got := digestOf(t, joined, run); got != want {
			t.Errorf("run %d has digest %s, want %s", run, got, want)
		}
	}

	complete, _ := join(t, copyOf(t, half), cfg, old)
	if got, want := digestOf(t, complete, 0), digestOf(t, half, 0); got != want {
		t.Errorf("the completed crawl has digest %s, want %s", got, want)
	}
	crawltest.Verify(t, joined)
}

// The run that begins after an import requests what the archive knows within reach, without its validators, and keeps
// young what the crawl before it has visited. What is left of the archive's links can then be told.
func TestCrawlAfterJoinedImport(t *testing.T) {
	t.Parallel()
	c := newChanging(t, 500, "off", "1000h")
	c.page("a.test", "/", "<title>Now</title>"+crawltest.Anchors("/kept"))
	c.page("a.test", "/kept", "<title>Kept</title>")
	c.run()
	var w warcFile
	now := time.Now().UTC().Format(time.RFC3339)
	w.answer("http://a.test/", now, "200 OK", "<title>Then</title>"+crawltest.Anchors("/kept", "/lost"), `ETag: "x"`)
	w.answer("http://a.test/kept", now, "200 OK", "<title>Kept</title>", `ETag: "y"`)
	w.answer("http://a.test/lost", now, "200 OK", "<title>Lost</title>", `ETag: "z"`)
	path := c.store.Path()
	if err := c.store.Close(); err != nil {
		t.Fatal(err)
	}
	joined, _ := join(t, path, crawltest.Parse(t, c.text), crawl.Archives{WARC: []string{w.write(t)}})
	c.store, c.told = crawltest.Open(t, joined), nil
	if diff := cmp.Diff([]string{"a.test/lost 404"}, c.run()); diff != "" {
		t.Errorf("requests (-want +got)\n%s", diff)
	}
	for _, e := range c.Log() {
		if e.Header.Get("If-None-Match") != "" {
			t.Errorf("%s was requested with a validator of the archive", e.Path)
		}
	}
	for to, dead := range map[schema.RunID]int{2: 0, 3: 1} {
		d := must(survey.Compare(c.survey(), 1, to))(t)
		if sum := must(d.Sum())(t); len(sum.Rot) != 1 || sum.Rot[0].Dead != dead {
			t.Errorf("link rot until run %d: %+v", to, sum.Rot)
		}
	}
	d := must(survey.Compare(c.survey(), 2, 3))(t)
	if sum := must(d.Sum())(t); sum.Changed != 0 {
		t.Errorf("between the crawls: %+v", sum)
	}
}

// A file with an import and a crawl is pruned, reclassified and replayed like one with a crawl; what makes no sense for an
// import is refused.
func TestWorkOnImports(t *testing.T) {
	t.Parallel()
	from := archived(t, 3)
	s := crawltest.Serve(t)
	s.Generate(7, webtest.GenConfig{Domain: "test", Hosts: 8, Pages: 12, Links: 8, Size: 400, Leave: 0.4})
	text := crawltest.Config(t, s, crawltest.SeedsOfSites) + fmt.Sprintf("[pages]\nkeep = true\npath = %q\n",
		filepath.Join(t.TempDir(), "pages"))
	cfg := crawltest.Parse(t, text)
	alone := stateFile(t)
	proceed(t, s, alone, cfg, 0)
	joined, importAlone := join(t, copyOf(t, alone), cfg, from)

	pruned := stateFile(t)
	store := must(kv.Open(joined, kv.Options{}))(t)
	must(store.Prune(t.Context(), pruned, 2))(t)
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	crawltest.Verify(t, pruned)
	if got, want := tellOf(t, pruned), tellOf(t, alone); !slices.Equal(got, want) {
		t.Errorf("without the import (-want +got)\n%s", cmp.Diff(want, got))
	}
	crawltest.Surveyed(t, pruned, func(s *survey.Survey) error {
		if _, err := s.At(1); !errors.Is(err, survey.ErrRun) {
			t.Errorf("the import that was pruned: %v", err)
		}
		return nil
	})
	again, _ := join(t, pruned, cfg, from)
	if got := digestOf(t, again, 2); got != importAlone {
		t.Errorf("joined after a prune, the import has digest %s, want %s", got, importAlone)
	}

	for name, work := range map[string]func(*kv.Store, *config.Config) error{
		"replay":     func(s *kv.Store, c *config.Config) error { _, err := crawl.Replay(s, c); return err },
		"reclassify": func(s *kv.Store, c *config.Config) error { _, err := crawl.Reclassify(s, c); return err },
	} {
		near := crawltest.Parse(t, "[[blacklist]]\ndomain = \"h3.test\"\n"+text)
		for _, path := range []string{alone, joined} {
			store := must(kv.Open(path, kv.Options{}))(t)
			if err := errors.Join(work(store, near), store.Close()); err != nil {
				t.Fatal(name, err)
			}
			crawltest.Verify(t, path)
		}
		if got, want := tellOf(t, joined), tellOf(t, alone); !slices.Equal(got, want) {
			t.Errorf("%s with an import (-without +with)\n%s", name, cmp.Diff(want, got))
		}
		if got := digestOf(t, joined, 1); got != importAlone {
			t.Errorf("after %s the import has digest %s, want %s", name, got, importAlone)
		}
	}
	side := crawltest.Open(t, stateFile(t))
	importInto(t, side, cfg, from)
	must(crawl.Reclassify(side, crawltest.Parse(t, "[[blacklist]]\ndomain = \"h3.test\"\n"+text)))(t)
	checkMeaning(t, side)
	if run := crawltest.Survey(t, side).Run(); run.Status != schema.RunCompleted || run.Kind != schema.RunImport {
		t.Errorf("an import that was reclassified is %v", run)
	}
	if _, err := crawl.Replay(side, cfg); !errors.Is(err, crawl.ErrArchives) {
		t.Errorf("replay of an import: %v", err)
	}
}
