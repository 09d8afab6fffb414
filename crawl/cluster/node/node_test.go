package node_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl/cluster/node"
	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/webtest"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/shard"
)

// Three nodes that share a terrain together produce the map of a single machine, in the next run too.
func TestNodes(t *testing.T) {
	t.Parallel()
	cfg := web(t, 1)
	tr := newTerrain(t, cfg, 3, 4)
	for run := 1; run <= 2; run++ {
		tr.all()
		if got, want := tr.merged(), alone(t, cfg, run); got != want {
			t.Errorf("run %d: digest %s, want %s", run, got, want)
		}
		tr.tellsPages()
	}
	tr.apart()
}

// tellsPages checks that after a run, when no node answers any more, the number of pages that each shard has
// visited is still known.
func (tr *terrain) tellsPages() {
	tr.t.Helper()
	seen, err := node.Look(tr.t.Context(), tr.connect())
	if err != nil {
		tr.t.Fatal(err)
	}
	for n := range tr.folders {
		for _, s := range seen.Shards {
			store, err := kv.Open(tr.file(n, s.Number), kv.Options{ReadOnly: true})
			if errors.Is(err, fs.ErrNotExist) {
				continue // another node has it
			} else if err != nil {
				tr.t.Fatal(err)
			}
			var runs []schema.Run
			err = store.View(func(tx *kv.Tx) (err error) { runs, err = tx.Runs.All(); return err })
			if last := runs[len(runs)-1]; err != nil || s.Report != nil || s.Pages != last.Pages {
				tr.t.Errorf("shard %d is said to have visited %d pages; its file says %d, %v", s.Number, s.Pages,
					last.Pages, err)
			}
			store.Close()
		}
	}
}

// With the timing of real nodes, the first request follows the start of the last node by a few seconds: a shard that
// was never held has no holder to wait for.
func TestBeginsSoon(t *testing.T) {
	t.Parallel()
	tr := newTerrain(t, web(t, 3), 3, 4)
	tr.faster = 1
	var ended []<-chan error
	for n := range tr.folders {
		_, end := tr.start(n)
		ended = append(ended, end)
	}
	began := time.Now()
	for tr.requests() == 0 {
		if err := sleep(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	took := time.Since(began)
	if t.Logf("the first request after %s", took); took > tr.timing().Watch/2 {
		t.Errorf("the first request after %s", took)
	}
	tr.ends(ended...)
	tr.same(1)
}

// The longest redirects that a server can send to hosts of another shard end up in the map, and the run ends: that
// of a robots.txt, and four to one page, each under another form of it.
func TestLongRedirects(t *testing.T) {
	t.Parallel()
	rule, err := shard.New(2)
	if err != nil {
		t.Fatal(err)
	}
	away := ""
	for i := 0; away == "" || rule.Of(away) == rule.Of("h0.test"); i++ {
		away = fmt.Sprintf("v%d.test", i)
	}
	s := crawltest.Serve(t, webtest.WithoutLog())
	h := s.Host("h0.test")
	h.HTTP1()
	redirects := func(path, to string) {
		head := "HTTP/1.1 301\r\nLocation://" + away + to + "?"
		head += strings.Repeat("&", 64<<10-len(head)-len("\r\n\r\n")) + "\r\n\r\n"
		h.Handle(path, func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			_, _ = conn.Write([]byte(head))
			conn.Close()
		})
	}
	redirects("/robots.txt", "/robots")
	var links []string
	for n := range 4 {
		path := fmt.Sprintf("/r%d", n)
		redirects(path, "/a"+strings.Repeat("/", n+1))
		links = append(links, path)
	}
	h.Page("/", crawltest.Anchors(links...))
	s.Host("h1.test").Page("/", "<p>nothing")
	s.Host(away).Page("/*", "<p>a")
	cfg := crawltest.Parse(t, crawltest.Config(t, s, "[crawler]\nmax-depth = 3\nhead-check = \"never\"\n"+
		crawltest.SeedsOfSites))
	tr := newTerrain(t, cfg, 1, 2)
	tr.faster = 8
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	if err := tr.run(ctx, 0, cfg); err != nil {
		t.Fatalf("the run does not end: %v", err)
	}
	tr.same(1)
}

// Nodes that are stopped and restarted, even with a hub that has lost everything, lose nothing.
func TestNodesComeAgain(t *testing.T) {
	t.Parallel()
	tr := slow(t, 2, 2, 3)
	cfg := tr.cfg
	ended := make(chan error)
	go func() { ended <- tr.run(t.Context(), 0, cfg) }()
	for round := range 3 {
		ctx, cancel := context.WithCancel(t.Context())
		second := make(chan error)
		go func() { second <- tr.run(ctx, 1, cfg) }()
		for before := tr.requests(); tr.requests() < before+10+round; {
			if err := sleep(ctx); err != nil {
				t.Fatal(err)
			}
		}
		if round == 1 {
			tr.lose()
		}
		cancel()
		if err := <-second; !errors.Is(err, context.Canceled) {
			t.Fatalf("round %d: the stopped node ends with %v", round, err)
		}
	}
	go func() { ended <- tr.run(t.Context(), 1, cfg) }()
	for range 2 {
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
	}
	if got, want := tr.merged(), alone(t, cfg, 1); got != want {
		t.Errorf("digest %s, want %s", got, want)
	}
	tr.apart()
}

// A node whose files were reserved but never made, or lost before their shards were taken, makes them again. A
// file that is lost after its shard was taken is not replaced.
func TestFilesAreGone(t *testing.T) {
	t.Parallel()
	cfg := web(t, 4)
	tr := newTerrain(t, cfg, 1, 2)
	ctx, cancel := context.WithCancel(t.Context())
	tr.onShard = func(_, _ int, state string) {
		if state == "waiting" {
			cancel()
		}
	}
	if err := tr.run(ctx, 0, cfg); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	tr.onShard = nil
	tr.empty(0)
	tr.all()
	if got, want := tr.merged(), alone(t, cfg, 1); got != want {
		t.Errorf("digest %s, want %s", got, want)
	}
	tr.empty(0)
	if err := tr.run(t.Context(), 0, cfg); !errors.Is(err, node.ErrGone) {
		t.Errorf("without its files: %v", err)
	}
	left, err := filepath.Glob(filepath.Join(tr.folders[0], "*.bolt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range left {
		tr.read(path, func(runs []schema.Run) {
			if len(runs) > 0 {
				t.Errorf("%s has runs", path)
			}
		})
	}
}

// A node that has made the files of shards, and finds that another node has them, leaves them to that node, removes
// its own, and continues.
func TestFilesAreElsewhere(t *testing.T) {
	t.Parallel()
	h := newHolder(t)
	h.tr.empty(0)
	for shard := range 2 {
		if err := crawltest.Open(t, h.tr.file(0, shard)).Close(); err != nil {
			t.Fatal(err)
		}
	}
	h.take(0)
	_, letGo := h.keep()
	defer letGo()
	told := make(chan string, 10)
	h.tr.onShard = func(_, shard int, state string) { told <- fmt.Sprint(shard, " ", state) }
	end, ended := h.tr.start(0)
	for want := map[string]bool{"0 elsewhere": true, "1 elsewhere": true}; len(want) > 0; {
		select {
		case line := <-told:
			delete(want, line)
		case err := <-ended:
			t.Fatalf("the node ends before it says %v: %v", want, err)
		}
	}
	if err := end(); !errors.Is(err, context.Canceled) {
		t.Errorf("a node without a file: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(h.tr.folders[0], "*.bolt")); len(left) > 0 {
		t.Errorf("files are left: %v", left)
	}
}

// If the file of a crawled shard is away for a while when its node is started, no new file is made, even if the
// hub has lost everything except what other nodes remember. The shard is taken when its file is back.
func TestFileIsAwayAndHubIsLost(t *testing.T) {
	t.Parallel()
	tr := slow(t, 31, 2, 3)
	var ends [2]func() error
	var ended [2]<-chan error
	ends[0], ended[0] = tr.start(0)
	ends[1], ended[1] = tr.start(1)
	tr.works(20)
	has := 0
	if files, _ := filepath.Glob(filepath.Join(tr.folders[1], "*.bolt")); len(files) == 2 {
		has = 1
	}
	if err := ends[has](); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	shard, away := tr.shardOf(has), filepath.Join(t.TempDir(), "away.bolt")
	tr.becomes(has, shard, "")
	tr.move(tr.file(has, shard), away)
	tr.lose()
	tr.until("the charter is restored", tr.connect(), func(s node.Shard) bool { return s.Made })
	_, ended[has] = tr.start(has)
	for began := time.Now(); time.Since(began) < 3*tr.timing().Watch; {
		if state := tr.stateOf(has, shard); state != "" {
			t.Fatalf("shard %d is %s without its file", shard, state)
		}
		select {
		case err := <-ended[has]:
			t.Fatalf("the node ends: %v", err)
		default:
		}
		if err := sleep(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	tr.move(away, tr.file(has, shard))
	tr.ends(ended[:]...)
	tr.same(1)
}

// empty removes a node's files.
func (tr *terrain) empty(n int) {
	tr.t.Helper()
	files, err := filepath.Glob(filepath.Join(tr.folders[n], "*.bolt"))
	if err != nil {
		tr.t.Fatal(err)
	}
	for _, path := range files {
		if err := os.Remove(path); err != nil {
			tr.t.Fatal(err)
		}
	}
}

// A node that joins when the hub has just lost everything joins the existing terrain, and waits for its end
// without a shard.
func TestLateNode(t *testing.T) {
	t.Parallel()
	cfg := web(t, 5)
	tr := newTerrain(t, cfg, 2, 2)
	tr.faster = 5 // a connection is not re-established any faster than with real nodes
	ended := make(chan error, 2)
	go func() { ended <- tr.run(t.Context(), 0, cfg) }()
	for tr.requests() < 5 {
		if err := sleep(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	tr.lose()
	go func() { ended <- tr.run(t.Context(), 1, cfg) }()
	for range 2 {
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
	}
	tr.folders = tr.folders[:1]
	if got, want := tr.merged(), alone(t, cfg, 1); got != want {
		t.Errorf("digest %s, want %s", got, want)
	}
}

// A node without files that meets a hub first after it has lost everything begins no terrain there. It joins the one
// that a node with files restores, however late.
func TestNewNodeFirst(t *testing.T) {
	t.Parallel()
	tr := slow(t, 33, 2, 2)
	tr.most = nil // the first one makes all files
	end, _ := tr.start(0)
	tr.works(10)
	if err := end(); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	tr.lose()
	_, late := tr.start(1)
	conn := tr.connect()
	for began := time.Now(); time.Since(began) < 2*tr.timing().Watch; {
		if seen, err := node.Look(t.Context(), conn); err == nil {
			t.Fatalf("it begins terrain %x", seen.ID)
		}
		if err := sleep(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	_, ended := tr.start(0)
	tr.ends(ended, late)
	tr.folders = tr.folders[:1]
	tr.same(1)
}

// If the hub loses everything between two runs, the terrain is restored: the next run begins when all files are
// there, and includes them all.
func TestHubIsLostBetweenRuns(t *testing.T) {
	t.Parallel()
	cfg := web(t, 7)
	tr := newTerrain(t, cfg, 2, 3)
	tr.most = map[int]int{0: 2, 1: 2} // so that both have files, even if one joins late
	tr.all()
	tr.lose()
	var once sync.Once
	over := make(chan struct{})
	tr.onShard = func(_, _ int, state string) {
		if state == "over" {
			once.Do(func() { close(over) })
		}
	}
	ended := make(chan error, 2)
	go func() { ended <- tr.run(t.Context(), 0, cfg) }()
	<-over // it only answers for its files
	go func() { ended <- tr.run(t.Context(), 1, cfg) }()
	for range 2 {
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
	}
	if got, want := tr.merged(), alone(t, cfg, 2); got != want {
		t.Errorf("digest %s, want %s", got, want)
	}
	for n := range 2 {
		if runs := tr.runs(n); runs != 2 {
			t.Errorf("the files of node %d know of %d runs", n, runs)
		}
	}
}

// Files for which one node has no room are made by another one, after a while.
func TestMaxShards(t *testing.T) {
	t.Parallel()
	cfg := web(t, 6)
	tr := newTerrain(t, cfg, 2, 4)
	tr.most = map[int]int{0: 1}
	tr.all()
	if got, want := tr.merged(), alone(t, cfg, 1); got != want {
		t.Errorf("digest %s, want %s", got, want)
	}
	for n, want := range []int{1, 3} {
		if files, err := filepath.Glob(filepath.Join(tr.folders[n], "*.bolt")); err != nil || len(files) != want {
			t.Errorf("node %d has %v, %v; want %d", n, files, err, want)
		}
	}
}

// Machines of one name share a terrain like others.
func TestSameName(t *testing.T) {
	t.Parallel()
	cfg := web(t, 28)
	tr := newTerrain(t, cfg, 3, 3)
	tr.alike, tr.most = true, map[int]int{0: 1, 1: 1, 2: 1}
	var ended []<-chan error
	for n := range tr.folders {
		_, end := tr.start(n)
		ended = append(ended, end)
	}
	tr.ends(ended...)
	if got, want := tr.merged(), alone(t, cfg, 1); got != want {
		t.Errorf("digest %s, want %s", got, want)
	}
}

// Two machines with the same ID end each other, and name each other, whether or not the second one has files.
func TestSameID(t *testing.T) {
	for name, files := range map[string]bool{"a copy of the ID": false, "a copy of the folder": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tr := slow(t, 27, 2, 2)
			tr.twins, tr.most = true, nil
			end, ended := tr.start(0)
			tr.works(3)
			if files {
				if err := end(); !errors.Is(err, context.Canceled) {
					t.Fatal(err)
				}
				if err := os.CopyFS(tr.folders[1], os.DirFS(tr.folders[0])); err != nil {
					t.Fatal(err)
				}
				_, ended = tr.start(0)
				tr.works(3)
			}
			if err := tr.run(t.Context(), 1, tr.cfg); !errors.Is(err, node.ErrTwin) || !strings.Contains(err.Error(), "node 0 at 127") {
				t.Errorf("the second one ends with %v", err)
			}
			if err := <-ended; !errors.Is(err, node.ErrTwin) || !strings.Contains(err.Error(), "node 1 at 127") {
				t.Errorf("the first one ends with %v", err)
			}
		})
	}
}

// Files, configurations and hubs that do not belong together are refused.
func TestRefused(t *testing.T) {
	t.Parallel()
	cfg := web(t, 3)
	cfg.Crawler.MinimumTimeOnPage = pace
	tr, other := newTerrain(t, cfg, 1, 2), newTerrain(t, cfg, 1, 2)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- tr.run(ctx, 0, cfg) }()
	for tr.requests() < 5 {
		if err := sleep(ctx); err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	<-ended
	changed := *cfg
	changed.Crawler.MaxDepth = 2
	for _, hub := range []string{"the hub", "a hub that has lost everything"} {
		err := tr.run(t.Context(), 0, &changed)
		if !errors.Is(err, node.ErrConfig) || !strings.Contains(err.Error(), "crawler.max-depth") {
			t.Errorf("another configuration at %s: %v", hub, err)
		}
		tr.lose()
	}
	other.all()
	own := other.folders
	other.folders = tr.folders
	if err := other.run(t.Context(), 0, cfg); !errors.Is(err, node.ErrTerrain) {
		t.Errorf("files of another terrain: %v", err)
	}
	other.folders = own
	if err := crawltest.Open(t, filepath.Join(own[0], "shard-007.bolt")).Close(); err != nil {
		t.Fatal(err)
	}
	err := other.run(t.Context(), 0, cfg)
	if !errors.Is(err, node.ErrTerrain) || !strings.Contains(err.Error(), "never crawled") {
		t.Errorf("a file that no shard of the terrain has: %v", err)
	}
}
