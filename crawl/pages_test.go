package crawl_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/archive"
	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/warc"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

// stored maps the pages of a state to their bodies in the page store.
func stored(t *testing.T, store *kv.Store, dir string) map[string]string {
	t.Helper()
	r, found := warc.NewReader(dir), map[string]string{}
	err := crawltest.Survey(t, store).EachPage(func(p *survey.Page) error {
		if p.Visit == nil || p.Visit.StoredPath == "" {
			return nil
		}
		rec, err := r.Page(p.Visit.StoredPath)
		if err != nil {
			return fmt.Errorf("%s: %w", p.URL, err)
		}
		found[strings.TrimPrefix(p.URL, "https://")] = rec.Type + " " + string(rec.Body)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func keeping(c *changing) (text, dir string) {
	dir = filepath.Join(c.t.TempDir(), "pages")
	return c.text + fmt.Sprintf("[pages]\nkeep = true\npath = %q\n", dir), dir
}

func TestPagesAreKept(t *testing.T) {
	t.Parallel()
	c := newChanging(t, 500, "off", "0s")
	var dir string
	c.text, dir = keeping(c)
	front := crawltest.Anchors("/one", "/same", "/hidden", "/private", "/header", "/text", "/gone", "/coded")
	c.page("a.test", "/", front)
	c.page("a.test", "/one", "the same")
	c.page("a.test", "/same", "the same")
	c.page("a.test", "/hidden", `<meta name=robots content=noindex>`)
	c.page("a.test", "/private", `<meta name=robots content=noarchive>`)
	c.Host("a.test").Page("/header", "x").Header("X-Robots-Tag", "noarchive")
	c.Host("a.test").Page("/text", "x").Type("text/plain")
	c.Host("a.test").Page("/coded", "coded body").Gzip()
	c.run()
	got := stored(t, c.store, dir)
	same := []string{got["a.test/one"], got["a.test/same"]}
	if same[0] > same[1] {
		same[0], same[1] = same[1], same[0]
	}
	if len(got) != 4 || got["a.test/"] != "response "+front || got["a.test/coded"] != "response coded body" ||
		same[0] != "response the same" || same[1] != "revisit the same" {
		t.Errorf("stored are %q", got)
	}

	c.page("a.test", "/one", "not the same")
	c.run() // a 304 refers to the same record
	got = stored(t, c.store, dir)
	if len(got) != 4 || got["a.test/"] != "response "+front || got["a.test/one"] != "response not the same" ||
		!strings.HasSuffix(got["a.test/same"], "the same") {
		t.Errorf("stored are %q", got)
	}
}

// The records of an exchange name the protocols that were spoken; those that are of none do not.
func TestPagesNameProtocols(t *testing.T) {
	t.Parallel()
	for http2, want := range map[bool]string{true: "h2 tls/1.3", false: "http/1.1 tls/1.3"} {
		c := newChanging(t, 500, "off", "0s")
		text, dir := keeping(c)
		c.text = strings.Replace(text, "[network]\n", fmt.Sprintf("[network]\nhttp2 = %t\n", http2), 1)
		c.page("a.test", "/", crawltest.Anchors("/one", "/same"))
		c.page("a.test", "/one", "the same")
		c.page("a.test", "/same", "the same")
		c.run()
		f, err := os.Open(segments(t, dir)[0])
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		r := must(archive.NewReader(f, must(f.Stat())(t).Size()))(t)
		got := map[string]int{}
		for {
			rec, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			got[rec.Type+" "+strings.Join(rec.Fields.Values("WARC-Protocol"), " ")]++
		}
		all := map[string]int{"warcinfo ": 1, "request " + want: 3, "response " + want: 2, "revisit " + want: 1}
		if diff := cmp.Diff(all, got); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}
}

// Pages that earlier runs have read and not stored are requested without conditions once pages are
// kept, and only once if they must not be stored.
func TestPagesKeptLater(t *testing.T) {
	t.Parallel()
	c := newChanging(t, 500, "off", "0s")
	c.page("a.test", "/", crawltest.Anchors("/one", "/hidden", "/private"))
	c.page("a.test", "/one", "one")
	c.page("a.test", "/hidden", `<meta name=robots content=noindex>`)
	c.page("a.test", "/private", `<meta name=robots content=noarchive>`)
	c.run()
	var dir string
	c.text, dir = keeping(c)
	want := func(statuses ...int) {
		t.Helper()
		asked := c.run()
		for i, path := range []string{"", "hidden", "one", "private"} {
			if line := fmt.Sprintf("a.test/%s %d", path, statuses[i]); asked[i] != line {
				t.Errorf("asked for %q, want %q", asked[i], line)
			}
		}
		if got := stored(t, c.store, dir); len(got) != 2 || got["a.test/one"] != "response one" {
			t.Errorf("stored are %q", got)
		}
	}
	want(200, 304, 200, 200)
	want(304, 304, 304, 304)
}

// TestPagesAfterKills kills a crawl in the middle, by copying its file and its page store as they
// are at that moment: committed pages can be read, and nothing else is in the store.
func TestPagesAfterKills(t *testing.T) {
	t.Parallel()
	c := newChanging(t, 500, "off", "0s")
	var dir string
	c.text, dir = keeping(c)
	var links []string
	for i := range 12 {
		links = append(links, fmt.Sprintf("/%d", i))
		c.page("a.test", links[i], fmt.Sprintf("body %d", i))
	}
	c.page("a.test", "/", crawltest.Anchors(links...))
	cfg := crawltest.Parse(t, c.text)
	state := filepath.Join(t.TempDir(), "killed.bolt")
	for kills := 0; ; kills++ {
		if crashed(t, state, dir, cfg, time.Duration(900+300*kills)*time.Millisecond) {
			if t.Logf("%d kills", kills); kills == 0 {
				t.Error("the crawl was never killed")
			}
			break
		}
	}
	store := crawltest.Open(t, state)
	if got := stored(t, store, dir); len(got) != 13 {
		t.Errorf("%d pages are stored: %v", len(got), got)
	}
}

// crashed crawls for a while, and then continues with a copy of the state that was made while the
// crawl was running and a page store with a torn tail. It reports whether the crawl reached its
// end.
func crashed(t *testing.T, state, dir string, cfg *config.Config, after time.Duration) bool {
	t.Helper()
	store := crawltest.Open(t, state)
	c, _, err := crawl.Begin(t.Context(), store, crawl.Options{Config: cfg, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	saved := state + ".copy"
	ctx, cancel := context.WithTimeout(context.Background(), after)
	defer cancel()
	copied := make(chan error, 1)
	timer := time.AfterFunc(after/2, func() {
		f, err := os.Create(saved)
		if err == nil {
			_, err = store.Snapshot(f)
			err = errors.Join(err, f.Close())
		}
		copied <- err
	})
	res, err := c.Run(ctx)
	if !timer.Stop() { // the copy must be complete before it is used and before its source is closed
		err = errors.Join(err, <-copied)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	if res.Walked {
		return true
	}
	if _, err := os.Stat(saved); err == nil {
		if err := os.Rename(saved, state); err != nil {
			t.Fatal(err)
		}
	}
	names, _ := filepath.Glob(filepath.Join(dir, "*.warc.gz"))
	for _, name := range names {
		f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = f.WriteString("half a record")
		f.Close()
	}
	return false
}

// TestReplay extracts again what a crawl extracted, and finds the same; with a further extract it
// finds more, and sends no request.
func TestReplay(t *testing.T) {
	t.Parallel()
	c := newChanging(t, 500, "off", "0s")
	c.text, _ = keeping(c)
	c.page("a.test", "/", `<title>Front</title><meta name=author content="Ann">`+crawltest.Anchors("/one",
		"https://b.test/x"))
	c.page("a.test", "/one", `<title>One</title><meta name=author content="Ben"><nav>`+crawltest.Anchors("/", "/two")+
		"</nav>")
	c.page("a.test", "/two", "<title>Two</title>")
	c.page("b.test", "/x", crawltest.Anchors("/y"))
	c.run()
	before := must(survey.Digest(c.survey()))(t)
	c.ResetLog()
	done, err := crawl.Replay(c.store, crawltest.Parse(t, c.text))
	if err != nil || done.Pages != 4 || done.Changed != 0 || done.Missing != 0 {
		t.Errorf("Replay = %+v, %v; want 4 pages, none changed", done, err)
	}
	if after := must(survey.Digest(c.survey()))(t); after != before {
		t.Errorf("the digest is %s, was %s", after, before)
	}

	spoil(t, c.store) // like the result of an older extractor
	if spoiled := must(survey.Digest(c.survey()))(t); spoiled == before {
		t.Error("the digest does not tell a map without links")
	}
	if done, err = crawl.Replay(c.store, crawltest.Parse(t, c.text)); err != nil || done.Changed == 0 {
		t.Errorf("Replay = %+v, %v; want changed pages", done, err)
	}
	if after := must(survey.Digest(c.survey()))(t); after != before {
		t.Errorf("the digest is %s, was %s before it was spoiled", after, before)
	}
	if done.Run.Status != schema.RunCompleted {
		t.Errorf("the run is %s", done.Run.Status)
	}

	c.text += "[[extract]]\nname = \"author\"\nselector = \"meta[name=author]\"\nattr = \"content\"\n"
	if done, err = crawl.Replay(c.store, crawltest.Parse(t, c.text)); err != nil || done.Changed != 2 {
		t.Errorf("Replay = %+v, %v; want 2 pages changed", done, err)
	}
	facts := map[string]string{}
	err = c.survey().EachPage(func(p *survey.Page) error {
		if p.Visit != nil && len(p.Visit.Facts) > 0 {
			facts[p.URL] = p.Visit.Facts[0].Value
		}
		return nil
	})
	if err != nil || len(facts) != 2 || facts["https://a.test/one"] != "Ben" {
		t.Errorf("facts %v (%v)", facts, err)
	}
	if log := c.Log(); len(log) > 0 {
		t.Errorf("%d requests were made", len(log))
	}
	if err := survey.Check(c.survey(), func(problem string) { t.Error(problem) }); err != nil {
		t.Fatal(err)
	}
}

// spoil removes the links and titles of all pages.
func spoil(t *testing.T, store *kv.Store) {
	t.Helper()
	err := store.Update(func(tx *kv.Tx) error {
		for seq := range store.LastSeq() {
			v, err := tx.Visits.At(seq + 1)
			if err != nil {
				return err
			}
			if store.Latest(v.URL) != v.Seq || v.StoredPath == "" {
				continue
			}
			again := *v
			again.Links, again.Title, again.Stand, again.Kept, again.Requests = nil, "spoiled", 0, true, 0
			if _, err := tx.Visits.Add(&again); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestReplayRefuses replays pages under rules by which other URLs are one page: nothing is
// recorded.
func TestReplayRefuses(t *testing.T) {
	t.Parallel()
	c := newChanging(t, 500, "off", "0s")
	c.text, _ = keeping(c)
	c.page("a.test", "/", crawltest.Anchors("/one?id=1", "/one?id=2"))
	c.run()
	before := c.store.LastCommit()
	cfg := crawltest.Parse(t, c.text+"[url]\nstrip-params = [\"id\"]\n")
	if done, err := crawl.Replay(c.store, cfg); !errors.Is(err, crawl.ErrIdentity) || c.store.LastCommit() != before {
		t.Errorf("Replay = %+v, %v after %d commits", done, err, c.store.LastCommit()-before)
	}
}
