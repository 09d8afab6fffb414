package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/sumi-ripple/ripple/cmd/ripple/command"
	"github.com/sumi-ripple/ripple/cmd/ripple/desk"
	"github.com/sumi-ripple/ripple/cmd/ripple/rippletest"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl/control"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
)

// Every answer equals that of the command with --json, and matches openapi.json.
func TestServeAnswers(t *testing.T) {
	t.Parallel()
	cfg := rippletest.Crawled(t, 5)
	state := filepath.Join(filepath.Dir(cfg), "state.bolt")
	d := serveState(t, state)
	promised, _ := d.schemas()
	page := "https://h0.gen.test/"
	tests := []struct {
		name, path string
		command    []string // nil: there is none
	}{
		{"status", "status", nil},
		{"stats", "stats", []string{"stats", "--json"}},
		{"stats", "stats?limit=1", []string{"stats", "--json", "--limit", "1"}},
		{"fetching", "fetching", nil},
		{"shown", "shown?hosts=a.test+xn--bcher-kva.test", nil},
		{"origins", "origins", nil},
		{"hosts", "hosts", nil},
		{"hosts", "hosts?search=h1&sort=requests&desc=1&class=quality&limit=3", nil},
		{"host", "hosts/h0.gen.test", []string{"inspect", "--json", "h0.gen.test"}},
		{"host", "hosts/never.met.test", []string{"inspect", "--json", "never.met.test"}},
		{"page", "pages?url=" + url.QueryEscape(page), []string{"inspect", "--json", page}},
		{"page", "pages?url=https://never.met.test/", []string{"inspect", "--json", "https://never.met.test/"}},
		{"pages", "pages/list", nil},
		{"pages", "pages/list?search=h1&sort=title&desc=1&state=processed&columns=url,title&choices=1&limit=3", nil},
		{"path", "path?url=" + url.QueryEscape(page), []string{"path", "--json", page}},
		{"suggest", "suggest?min_origins=0", []string{"suggest", "--json", "--min-origins", "0"}},
		{"suggest outside", "suggest/outside", []string{"suggest", "--outside", "--json"}},
		{"broken", "broken", []string{"broken", "--json"}},
		{"broken", "broken?state=dead_link", []string{"broken", "--only", "dead_link", "--json"}},
		{"broken targets", "broken/targets", nil},
		{"duplicates", "duplicates?limit=3", []string{"duplicates", "--json", "--limit", "3"}},
		{"duplicates", "duplicates?domain=h0.gen.test", []string{"duplicates", "h0.gen.test", "--json"}},
		{"duplicates", "duplicates?domain=never.met.test", nil},
		{"inlinks", "inlinks", []string{"inlinks", "--json"}},
		{"runs", "runs", nil},
		{"history", "history?run=1", nil},
		{"decisions", "decisions", nil},
		{"graph", "graph", nil},
		{"feed", "feed?since=0", nil},
		{"feed", "feed?since=3&brief=1", nil},
		{"feed", "feed", nil},
		{"requests", "hosts/h0.gen.test/requests", nil},
		{"requests", "hosts/never.met.test/requests", nil},
	}
	if diff := cmp.Diff(d.json("hosts/h0.gen.test/requests"), d.json("hosts/WWW.H0.gen.test/requests")); diff != "" {
		t.Errorf("requests of a host by another name of it: %s", diff)
	}
	seen := map[string]bool{}
	for _, tt := range tests {
		got := d.json(tt.path)
		seen[tt.name] = true
		if err := promised[tt.name].Validate(got); err != nil {
			t.Errorf("%s is not as openapi.json says: %v", tt.path, err)
		}
		if tt.command == nil {
			continue
		}
		if diff := cmp.Diff(printed(t, append(tt.command, "--state", state)...), got); diff != "" {
			t.Errorf("%s is not what %q prints: %s", tt.path, tt.command, diff)
		}
	}
	for name := range promised {
		switch name {
		case "pause", "unpause", "stop", "reload":
			if code, text := d.send(name, "{}"); code != http.StatusConflict {
				t.Errorf("%s where no crawl runs: %d %s", name, code, text)
			}
		case "diff", "query", "files", "file", "order", "ticket", "decide":
		default:
			if !seen[name] {
				t.Errorf("%s is promised and was not asked", name)
			}
		}
	}
}

// The map of the desk can have links of one kind alone. Those that are never in the text count at once.
func TestGraphOfAKind(t *testing.T) {
	t.Parallel()
	w := surveytest.New(t, surveytest.Minimal)
	w.Visit("a.test/", func(v *schema.Visit) {
		w.Links("b.test/", "c.test/")(v)
		v.Links[1].Kinds = surveytest.Kinds(schema.LinkBlogroll)
	})
	d := serveState(t, saved(t, w))
	for kind, want := range map[string]string{"": "3 hosts, 1 link text", "anchor": "3 hosts, 1 link text",
		"blogroll": "3 hosts, 1 link all", "redirect": "3 hosts, 0 links all"} {
		m := d.json("graph?kind=" + kind).(map[string]any)
		if got := fmt.Sprint(m["counts"], " ", m["counted"]); got != want {
			t.Errorf("kind %q: %s, want %s", kind, got, want)
		}
	}
}

// printed returns the JSON that a command prints.
func printed(t *testing.T, args ...string) (v any) {
	t.Helper()
	var out, complaints bytes.Buffer
	if err := command.New(&out, &complaints).Run(t.Context(), args); err != nil && !errors.Is(err, term.ErrQuiet) {
		t.Fatalf("%q: %v\n%s", args, err, complaints.Bytes())
	}
	if err := json.Unmarshal(out.Bytes(), &v); err != nil {
		t.Fatalf("%q: %v\n%s", args, err, out.Bytes())
	}
	return v
}

// A crawl can begin while its file is served, and its results are then shown.
func TestServeBesideWriter(t *testing.T) {
	t.Parallel()
	state := filepath.Join(filepath.Dir(rippletest.Crawled(t, 5)), "state.bolt")
	d := serveState(t, state)
	before := d.json("stats")
	for round := range 2 {
		store, err := kv.Open(state, kv.Options{})
		if err != nil {
			t.Fatalf("round %d: a crawl cannot begin: %v", round, err)
		}
		code, text := d.get("hosts?offset=" + fmt.Sprint(round)) // a request that was not made before
		if code != http.StatusServiceUnavailable || !strings.Contains(string(text), "in use") {
			t.Errorf("round %d: while another process writes: %d %s", round, code, text)
		}
		err = store.Update(func(tx *kv.Tx) error {
			if round == 0 {
				return nil
			}
			runs, err := tx.Runs.All()
			if err != nil {
				return err
			}
			runs[0].Requests += 1000
			return tx.Runs.Put(runs[0])
		})
		if err := errors.Join(err, store.Close()); err != nil {
			t.Fatal(err)
		}
		after := d.json("stats")
		if same := cmp.Equal(before, after); same != (round == 0) {
			t.Errorf("round %d: the same figures: %v", round, same)
		}
	}
}

// The desk shows the file that has the name now.
func TestServeReplaced(t *testing.T) {
	t.Parallel()
	state := filepath.Join(filepath.Dir(rippletest.Crawled(t, 5)), "state.bolt")
	d := serveState(t, state)
	before := d.json("hosts")
	other := filepath.Join(filepath.Dir(rippletest.Crawled(t, 6)), "state.bolt")
	if err := os.Rename(other, state); err != nil {
		t.Fatal(err)
	}
	if after := d.json("hosts"); cmp.Equal(before, after) {
		t.Error("the file that was replaced is still shown")
	}
	if err := os.Remove(state); err != nil {
		t.Fatal(err)
	}
	code, text := d.get("hosts")
	if code != http.StatusServiceUnavailable || !strings.Contains(string(text), "there is no state file") {
		t.Errorf("a file that was removed: %d %s", code, text)
	}
}

// A desk of a running crawl shows its status, and a copy of its state.
func TestServeCrawl(t *testing.T) {
	t.Parallel()
	c := startCrawl(t)
	d := serveState(t, filepath.Join(c.dir, "ripple.bolt"))
	promised, _ := d.schemas()
	for _, path := range []string{"status", "stats", "origins", "hosts"} {
		if err := promised[path].Validate(d.json(path)); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	d.commands(promised)
	d.watched(promised)
	r, err := http.NewRequest("GET", d.base+"runs", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+d.token)
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	a.Body.Close()
	if a.Header.Get(desk.AgeHeader) == "" {
		t.Error("the age of the copy is not told")
	}
	if err := c.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	c.wait()
	d.showsEnd(promised)
}

// showsEnd checks the status and the counts of an interrupted run.
func (d *testDesk) showsEnd(promised map[string]*jsonschema.Resolved) {
	d.t.Helper()
	got, whole := d.json("status").(map[string]any), d.json("stats").(map[string]any)
	if err := promised["status"].Validate(got); err != nil {
		d.t.Errorf("when the crawl is over: %v", err)
	}
	run := whole["run"].(map[string]any)
	want := []any{"file", run["id"], "interrupted", run["pages"],
		run["requests"], whole["left"].(map[string]any)["max_depth"]}
	is := []any{got["mode"], got["run_id"], got["status"], got["pages_requested"], got["requests"], got["max_depth"]}
	if diff := cmp.Diff(want, is); diff != "" || run["id"] != 1.0 {
		d.t.Errorf("when the crawl is over: %s", diff)
	}
	if whole["live"] != nil {
		d.t.Errorf("when the crawl is over, it is still shown: %v", whole["live"])
	}
}

// commands sends a crawl all commands except stop.
func (d *testDesk) commands(promised map[string]*jsonschema.Resolved) {
	d.t.Helper()
	is := func(want string) {
		d.t.Helper()
		got := d.json("status").(map[string]any)
		if got["mode"] != "crawl" || got["status"] != want {
			d.t.Errorf("the status is %v, want %s", got, want)
		}
	}
	is("running")
	steps := []struct{ command, then string }{{"pause", "paused"}, {"unpause", "running"}, {"reload", "running"}}
	for _, step := range steps {
		code, text := d.send(step.command, "{}")
		var v any
		if err := json.Unmarshal(text, &v); err != nil || code != http.StatusOK {
			d.t.Fatalf("%s: %d %s", step.command, code, text)
		}
		if err := promised[step.command].Validate(v); err != nil {
			d.t.Errorf("%s: %v", step.command, err)
		}
		is(step.then)
	}
}

// watched checks that the last requests kept the promised delays, and checks the visits.
func (d *testDesk) watched(promised map[string]*jsonschema.Resolved) {
	d.t.Helper()
	got := d.json("hosts/a.test/requests")
	if err := promised["requests"].Validate(got); err != nil {
		d.t.Error(err)
	}
	list := got.(map[string]any)["requests"].([]any)
	if len(list) == 0 {
		d.t.Fatal("there are no requests")
	}
	for _, one := range list {
		r := one.(map[string]any)
		if r["gap_ms"].(float64) < r["promised_ms"].(float64) {
			d.t.Errorf("less was kept than promised: %v", r)
		}
	}
	if first := list[len(list)-1].(map[string]any); first["kind"] != "robots" {
		d.t.Errorf("the first request was %v", first)
	}
	if err := promised["feed"].Validate(d.json("feed?since=0")); err != nil {
		d.t.Error(err)
	}
}

// A crawl serves a desk itself, and streams its activity until it ends.
func TestCrawlListens(t *testing.T) {
	t.Parallel()
	c := startCrawl(t, "--listen", "127.0.0.1:0")
	d := newTestDesk(t, c.desk())
	promised, _ := d.schemas()
	lines := d.events()
	for found := false; !found; {
		if !lines.Scan() {
			t.Fatalf("the stream ended: %v", lines.Err())
		}
		found = lines.Text() == "event: status"
	}
	d.commands(promised)
	d.watched(promised)
	if got := d.json("stats").(map[string]any)["live"]; got == nil {
		t.Error("the figures are not those of a running crawl")
	}
	metrics := &testDesk{t, strings.TrimSuffix(d.base, "api/v1/"), d.token}
	if code, text := metrics.get("metrics"); code != http.StatusOK ||
		!strings.Contains(string(text), "\nripple_requests_total{code=\"200\"} ") {
		t.Errorf("metrics: %d %.300s", code, text)
	}
	metrics.token = "wrong"
	if code, text := metrics.get("metrics"); code != http.StatusUnauthorized {
		t.Errorf("metrics without the token: %d %.300s", code, text)
	}
	if code, text := d.send("stop", "{}"); code != http.StatusOK {
		t.Errorf("stop: %d %s", code, text)
	}
	if code := c.wait(); code != 0 {
		t.Errorf("the crawl ended with %d: %s", code, c.told())
	}
	for lines.Scan() {
	}
}

// The reader process ends with the desk, however that ends.
func TestServeKilled(t *testing.T) {
	state := filepath.Join(filepath.Dir(rippletest.Crawled(t, 5)), "state.bolt")
	t.Setenv("TMPDIR", t.TempDir())
	cmd := ripple("serve", "--state", state, "--listen", "127.0.0.1:0")
	address, _ := servedDesk(t, cmd)
	d := newTestDesk(t, address)
	d.json("stats")
	sockets, err := filepath.Glob(filepath.Join(os.TempDir(), ".ripple-new-*", "r1"))
	if err != nil || len(sockets) != 1 {
		t.Fatalf("%d sockets, %v", len(sockets), err)
	}
	asks := func() error {
		_, err := (&http.Transport{DialContext: dialTo(sockets[0])}).RoundTrip(&http.Request{
			Method: "GET", URL: &url.URL{Scheme: "http", Host: "reader", Path: control.Root + "runs"},
			Header: http.Header{}, Close: true})
		return err
	}
	if err := asks(); err != nil {
		t.Fatalf("the reader does not answer: %v", err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if !rippletest.Soon(func() bool { return asks() != nil }) {
		t.Fatal("the reader has outlived the desk")
	}
}

func dialTo(socket string) func(context.Context, string, string) (net.Conn, error) {
	return func(context.Context, string, string) (net.Conn, error) { return net.Dial("unix", socket) }
}
