package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/cmd/ripple/answer"
	"github.com/sumi-ripple/ripple/cmd/ripple/command"
	"github.com/sumi-ripple/ripple/crawl/crawltest"
)

const fetchingConfig = `
[retry]
timeout = "10m"
[[quality]]
domain = "a.test"
seeds = ["https://a.test/"]
`

// A stalled web has a page that does not end before the test lets it. A crawl of the web is
// running.
type stalled struct {
	t      *testing.T
	config string
	asked  chan struct{} // closed when the page is requested
	let    func()        // ends the page
}

// newStalled starts the crawl, under a configuration with further keys. Its front page has further links.
func newStalled(t *testing.T, keys string, links ...string) *stalled {
	s := crawltest.Serve(t)
	asked, let := make(chan struct{}), make(chan struct{})
	reached := sync.OnceFunc(func() { close(asked) })
	a := s.Host("a.test")
	a.Page("/", crawltest.Anchors(append(links, "/slow", "/slow/later")...))
	a.Page("/slow/later", `later`)
	a.Handle("/slow", func(w http.ResponseWriter, r *http.Request) {
		reached()
		select {
		case <-let:
		case <-r.Context().Done():
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "slow")
	})
	f := &stalled{t: t, asked: asked, let: sync.OnceFunc(func() { close(let) })}
	f.config, _ = crawltest.Files(t, s, fetchingConfig+keys)
	ctx, cancel := context.WithCancel(t.Context())
	var g errgroup.Group
	g.Go(func() error {
		var told strings.Builder
		if err := command.New(&told, &told).Run(ctx, []string{"crawl", f.config}); err != nil {
			return fmt.Errorf("%w: %s", err, told.String())
		}
		return nil
	})
	t.Cleanup(func() {
		f.let()
		defer cancel()
		if err := g.Wait(); err != nil {
			t.Error(err)
		}
	})
	return f
}

func (f *stalled) ripple(args ...string) string {
	f.t.Helper()
	var out, told strings.Builder
	if err := command.New(&out, &told).Run(f.t.Context(), append(args, "--config", f.config)); err != nil {
		f.t.Fatalf("ripple %s: %v\n%s", strings.Join(args, " "), err, told.String())
	}
	return out.String()
}

// TestFetching reads a crawl with one open request from all interfaces: all report the same about
// it.
func TestFetching(t *testing.T) {
	t.Parallel()
	f := newStalled(t, "")
	<-f.asked
	const slow, later = "https://a.test/slow", "https://a.test/slow/later"
	s := decoded[answer.Stats](t, f.ripple("stats", "--json"))
	if s.Live == nil || s.Live.Fetching != 1 || s.Live.Hosts.Active != 1 || s.ByState["fetching"] != 1 ||
		s.ByState["queued"] != 1 {
		t.Errorf("stats: %+v, by state %v", s.Live, s.ByState)
	}
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"stats"}, " · 1 fetching\n"}, {[]string{"stats"}, "\nfetching           1\n"},
		{[]string{"inspect", slow}, "  state        fetching, since 2"},
		{[]string{"inspect", later}, "  waits for    the answer to 1 request, since 2"},
		{[]string{"inspect", "a.test"}, "  waits for       the answer to 1 request, since 2"},
	} {
		text := f.ripple(tt.args...)
		if plain := strings.Join(strings.Fields(text), " "); !strings.Contains(plain, strings.Join(strings.Fields(tt.want), " ")) {
			t.Errorf("%v: no %q in\n%s", tt.args, tt.want, text)
		}
	}
	d := serveState(t, filepath.Join(filepath.Dir(f.config), "state.bolt"))
	promised, _ := d.schemas()
	for _, tt := range []struct {
		name, path string
		want       map[string]any
	}{
		{"status", "status", map[string]any{"fetching": 1.0}}, {"fetching", "fetching", map[string]any{"fetching": 1.0}},
		{"page", "pages?url=" + slow, map[string]any{"state": "fetching"}},
		{"page", "pages?url=" + later, map[string]any{"state": "queued", "waits_for": "the answer to 1 request"}},
		{"host", "hosts/a.test", map[string]any{"fetching": 1.0, "waits_for": "the answer to 1 request"}},
	} {
		got := d.json(tt.path).(map[string]any)
		if err := promised[tt.name].Validate(got); err != nil {
			t.Errorf("%s: %v", tt.path, err)
		}
		for name, want := range tt.want {
			if got[name] != want {
				t.Errorf("%s: %s is %v, want %v", tt.path, name, got[name], want)
			}
		}
	}
	open := d.json("fetching").(map[string]any)["requests"].([]any)[0].(map[string]any)
	if open["page_url"] != slow || open["fetch_url"] != slow || open["domain"] != "a.test" || open["kind"] != "get" {
		t.Errorf("the open request is %v", open)
	}
	metrics := &testDesk{t, strings.TrimSuffix(d.base, "api/v1/"), d.token}
	if code, text := metrics.get("metrics"); code != http.StatusOK ||
		!strings.Contains(string(text), "\nripple_open_requests 1\n") {
		t.Errorf("metrics: %d %s", code, text)
	}
}

// TestDecideInCrawl decides about a host while a crawl is running: afterwards the desk and inspect
// report the new state.
func TestDecideInCrawl(t *testing.T) {
	t.Parallel()
	f := newStalled(t, "[decisions]\nfile = \"decided.toml\"\n", "https://b.test/")
	<-f.asked
	d := serveConfig(t, filepath.Join(filepath.Dir(f.config), "state.bolt"), f.config)
	if before := d.json("hosts/b.test").(map[string]any); before["class"] != "discovered" {
		t.Fatalf("the host is %v", before["class"])
	}
	if done, _ := d.decide(http.StatusOK, `{"host":"b.test","class":"quality"}`); done.Applied != "reload" {
		t.Fatalf("applied by %q", done.Applied)
	}
	told := decoded[map[string]any](t, f.ripple("inspect", "--json", "b.test"))
	got := decoded[map[string]any](t, string(d.fresh("hosts/b.test")))
	for _, name := range []string{"class", "rule", "quality_origins", "request_count", "request_limit", "coverage"} {
		if diff := cmp.Diff(told[name], got[name]); diff != "" {
			t.Errorf("%s, as inspect (-) and the desk have it: %s", name, diff)
		}
	}
	if got["class"] != "quality" {
		t.Errorf("after the decision the host is %v", got["class"])
	}
}

// fresh requests a current answer.
func (d *testDesk) fresh(path string) []byte {
	d.t.Helper()
	r, err := http.NewRequest(http.MethodGet, d.base+path, nil)
	if err != nil {
		d.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+d.token)
	r.Header.Set("Cache-Control", "no-cache")
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		d.t.Fatal(err)
	}
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	if err != nil || a.StatusCode != http.StatusOK {
		d.t.Fatalf("%s: %d %s, %v", path, a.StatusCode, text, err)
	}
	return text
}
