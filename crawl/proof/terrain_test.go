package proof

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/cluster/exchange"
	"github.com/sumi-ripple/ripple/crawl/cluster/termination"
	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/crawl/webtest"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
	"github.com/sumi-ripple/ripple/schema/shard"
)

// patience is the time limit of a crawl of a terrain.
const patience = 6 * time.Minute

// errAway reports a shard that is not being crawled.
var errAway = errors.New("nobody crawls it")

// A terrain is a web that several crawls share. Letters between them are lost, duplicated and late
// until it is calm. The end of the run is looked for from the beginning.
type terrain struct {
	t      *testing.T
	cfg    *config.Config
	id     [16]byte
	paths  []string
	stray  sync.WaitGroup // late letters
	mu     sync.Mutex
	r      *rand.Rand
	calm   bool
	nodes  []*holder                 // by shard; nil: it is away
	asked  map[string]map[int]string // by host: the shards that requested it, and what they requested first
	run    uint64                    // number of the run
	number uint64                    // of the configuration
	with   *crawl.Shared             // shared by all; nil: each has its own
	shows  *crawltest.Browser        // nil: pages are not rendered
	starts int
	lost   int    // lost letters and answers
	told   int    // shards that were asked to finish
	still  string // why the run was not over the last time
}

// A holder crawls one shard, or has its file if the run is over.
type holder struct {
	crawl *crawl.Crawl        // nil: the run is over
	rest  termination.Reading // reading of the file after that
	store *kv.Store
	stop  context.CancelFunc
	lost  chan struct{} // closed when the lease is lost
	ended chan error

	reading sync.Mutex // of the store, after that
}

// Held implements [crawl.Lease].
func (n *holder) Held() bool {
	select {
	case <-n.lost:
		return false
	default:
		return true
	}
}

// Ready implements [crawl.Lease].
func (n *holder) Ready(context.Context) bool { return n.Held() }

// Lost implements [crawl.Lease].
func (n *holder) Lost() <-chan struct{} { return n.lost }

// View implements [exchange.Recipient], for a shard whose run is over.
func (n *holder) View(f func(*kv.Tx) error) error {
	n.reading.Lock()
	defer n.reading.Unlock()
	return n.store.View(f)
}

// Apply implements [exchange.Recipient]. A shard whose run is over needs no referrals.
func (*holder) Apply([]ring.Referral) error { return exchange.ErrNobody }

// Errand implements [exchange.Recipient].
func (*holder) Errand(ring.Errand, int, int) (ring.Report, bool, error) {
	return ring.Report{}, false, exchange.ErrNobody
}

func newTerrain(t *testing.T, r *rand.Rand, cfg *config.Config, shards int) *terrain {
	tr := &terrain{t: t, r: r, cfg: cfg, id: [16]byte{7}, nodes: make([]*holder, shards),
		asked: map[string]map[int]string{}, run: 1, number: 1}
	dir := t.TempDir()
	for n := range shards {
		tr.paths = append(tr.paths, filepath.Join(dir, fmt.Sprintf("shard-%03d.bolt", n)))
	}
	return tr
}

// start starts the crawl of a shard.
func (tr *terrain) start(n int) {
	tr.t.Helper()
	store, err := kv.Open(tr.paths[n], kv.Options{})
	if err != nil {
		tr.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(tr.t.Context())
	on := &holder{store: store, stop: cancel, lost: make(chan struct{}), ended: make(chan error, 1)}
	part := schema.Part{
		Terrain: tr.id, Rule: shard.Version, Shard: n, Shards: len(tr.nodes), Run: tr.run,
		Configuration: tr.number,
	}
	cfg, err := config.ParseEffective(tr.cfg.Effective())
	if err != nil {
		tr.t.Fatal(err)
	}
	cfg.State.Path = tr.paths[n]
	on.crawl, _, err = crawl.Begin(ctx, store, crawl.Options{
		Config: cfg, Log: slog.New(slog.DiscardHandler), Shard: &crawl.Shard{Part: part, Carrier: tr, Lease: on},
		OnRequest: func(q crawl.Request) { tr.note(n, q.URL) }, Shared: tr.with, OpenRenderer: shownBy(tr.shows),
	})
	switch {
	case errors.Is(err, crawl.ErrOver):
		on.crawl = nil
		if on.rest, err = termination.Of(store); err != nil {
			tr.t.Fatal(err)
		}
		on.ended <- nil
	case err != nil:
		tr.t.Fatal(err)
	default:
		go on.run(ctx)
	}
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.nodes[n] = on
	tr.starts++
}

func (n *holder) run(ctx context.Context) {
	res, err := n.crawl.Run(ctx)
	if err == nil && res.Walked {
		err = n.crawl.Complete()
	}
	n.ended <- err
}

// leave takes a shard away: by a stop, or by the loss of its lease, after which nothing may be
// written.
func (tr *terrain) leave(n int, lost bool) {
	tr.t.Helper()
	tr.mu.Lock()
	on := tr.nodes[n]
	tr.nodes[n] = nil
	tr.mu.Unlock()
	commit := uint64(0)
	if lost && on.crawl != nil {
		err := on.crawl.Query(func(store *kv.Store) error { // between two commits
			commit = store.LastCommit()
			close(on.lost)
			return nil
		})
		lost = err == nil // otherwise it has just ended
	}
	on.stop()
	if err := <-on.ended; err != nil && !(lost && errors.Is(err, crawl.ErrLease)) {
		tr.t.Errorf("a crawl ends with %v", err)
	}
	if now := on.store.LastCommit(); commit != 0 && lost && now != commit {
		tr.t.Errorf("shard %d has come from commit %d to %d after its lease was lost", n, commit, now)
	}
	if err := on.store.Close(); err != nil {
		tr.t.Error(err)
	}
}

// note records which shard requests which host.
func (tr *terrain) note(n int, url string) {
	host := strings.TrimPrefix(strings.SplitN(url, "/", 4)[2], "www.")
	tr.mu.Lock()
	defer tr.mu.Unlock()
	if tr.asked[host] == nil {
		tr.asked[host] = map[int]string{}
	}
	if tr.asked[host][n] == "" {
		tr.asked[host][n] = url
	}
}

func (tr *terrain) node(n int) (*holder, error) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	if tr.nodes[n] == nil {
		return nil, errAway
	}
	return tr.nodes[n], nil
}

// below returns a random number.
func (tr *terrain) below(n int) int {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return tr.r.IntN(n)
}

// chance returns what happens to a letter.
func (tr *terrain) chance() (what int, late time.Duration) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	if tr.calm {
		return 9, 0
	}
	if what = tr.r.IntN(10); what == 0 || what == 3 {
		tr.lost++
	}
	return what, time.Duration(tr.r.IntN(int(300 * time.Millisecond)))
}

// Ask implements [exchange.Carrier].
func (tr *terrain) Ask(ctx context.Context, to int, letter []byte) ([]byte, error) {
	what, late := tr.chance()
	switch what {
	case 0: // lost
		return nil, exchange.ErrNobody
	case 1, 2: // arrives a second time, late
		again := append([]byte(nil), letter...)
		tr.stray.Go(func() {
			time.Sleep(late)
			_, _ = tr.deliver(tr.t.Context(), to, again)
		})
		if what == 1 {
			return nil, exchange.ErrNobody
		}
	case 3: // the answer is lost
		_, _ = tr.deliver(ctx, to, letter)
		return nil, exchange.ErrNobody
	case 4:
		time.Sleep(late / 10)
	}
	return tr.deliver(ctx, to, letter)
}

func (tr *terrain) deliver(ctx context.Context, to int, letter []byte) ([]byte, error) {
	on, err := tr.node(to)
	if err != nil {
		return nil, exchange.ErrNobody
	}
	if on.crawl == nil {
		return exchange.NewReceiver(on).Answer(letter)
	}
	answer, err := on.crawl.Answer(ctx, letter)
	if err != nil {
		return nil, exchange.ErrNobody
	}
	return answer, nil
}

// Reading implements [termination.Readings].
func (tr *terrain) Reading(ctx context.Context, n int) (termination.Reading, error) {
	on, err := tr.node(n)
	if err != nil {
		return termination.Reading{}, err
	}
	if on.crawl == nil {
		return on.rest, nil
	}
	return on.crawl.Reading(ctx)
}

// Seal implements [termination.Readings]: the configuration never changes here.
func (tr *terrain) Seal(context.Context, termination.Reading) error { return nil }

// Unseal implements [termination.Readings].
func (tr *terrain) Unseal(context.Context) {}

// Finish implements [termination.Readings].
func (tr *terrain) Finish(ctx context.Context, n int, agreed termination.Reading) error {
	on, err := tr.node(n)
	if err != nil || on.crawl == nil {
		return err
	}
	tr.mu.Lock()
	tr.told++
	tr.mu.Unlock()
	return on.crawl.Finish(ctx, agreed)
}

// trouble stops shards and starts them again, a number of times.
func (tr *terrain) trouble(times int) {
	for range times {
		time.Sleep(time.Duration(tr.below(int(400 * time.Millisecond))))
		n := tr.below(len(tr.nodes))
		tr.leave(n, tr.below(2) == 0)
		time.Sleep(time.Duration(tr.below(int(200 * time.Millisecond))))
		tr.start(n)
	}
}

// waitWithout waits until all shards but one have nothing to do, while that one is away: the run
// continues.
func (tr *terrain) waitWithout(ctx context.Context, away int) {
	tr.t.Helper()
	for n := 0; n < len(tr.nodes); {
		if n == away {
			n++
			continue
		}
		r, err := tr.Reading(ctx, n)
		if err != nil {
			tr.t.Fatal(err)
		}
		if r.Idle {
			n++
			continue
		}
		time.Sleep(10 * time.Millisecond)
	}
	time.Sleep(100 * time.Millisecond) // for a few more searches for the end
	waits := func() bool {
		tr.mu.Lock()
		defer tr.mu.Unlock()
		return strings.Contains(tr.still, errAway.Error())
	}
	for began := time.Now(); !waits() && time.Since(began) < patience/10; time.Sleep(10 * time.Millisecond) {
	}
	tr.mu.Lock()
	defer tr.mu.Unlock()
	if tr.told > 0 || !strings.Contains(tr.still, errAway.Error()) {
		tr.t.Errorf("%d shards are to finish while shard %d is away; the run is open because of %q", tr.told, away,
			tr.still)
	}
}

// crawl crawls to the end, with one shard that starts late, and a number of stops, and returns the
// digest of the merged map.
func (tr *terrain) crawl(times int) string {
	tr.t.Helper()
	ctx, cancel := context.WithTimeout(tr.t.Context(), patience)
	defer cancel()
	late := tr.below(len(tr.nodes))
	for n := range tr.nodes {
		if n != late {
			tr.start(n)
		}
	}
	found := tr.lookForEnd(ctx)
	tr.waitWithout(ctx, late)
	tr.start(late)
	return tr.end(times, found)
}

// crawlAtOnce is crawl with all shards from the beginning: scripts that need a host of an absent
// shard keep the others from being idle.
func (tr *terrain) crawlAtOnce(times int) string {
	tr.t.Helper()
	ctx, cancel := context.WithTimeout(tr.t.Context(), patience)
	defer cancel()
	for n := range tr.nodes {
		tr.start(n)
	}
	return tr.end(times, tr.lookForEnd(ctx))
}

// lookForEnd starts a search for the end of the run, and returns a function that waits for it.
func (tr *terrain) lookForEnd(ctx context.Context) (found func() error) {
	var end errgroup.Group
	end.Go(func() error {
		return termination.End(ctx, len(tr.nodes), tr, func() time.Duration { return 20 * time.Millisecond }, func(why error) {
			tr.mu.Lock()
			defer tr.mu.Unlock()
			tr.still = why.Error()
		})
	})
	return end.Wait
}

// end makes trouble, waits for the end, and returns the digest of the merged map.
func (tr *terrain) end(times int, found func() error) string {
	tr.t.Helper()
	tr.trouble(times)
	tr.mu.Lock()
	tr.calm = true
	tr.mu.Unlock()
	if err := found(); err != nil {
		tr.t.Fatalf("the run does not end: %v; %s", err, tr.still)
	}
	tr.stray.Wait()
	for n := range tr.nodes {
		tr.leave(n, false)
	}
	for host, by := range tr.asked {
		if len(by) != 1 {
			tr.t.Errorf("%s is asked by %d shards: %v", host, len(by), by)
		}
	}
	return tr.merged()
}

func (tr *terrain) mergedPath() string {
	return filepath.Join(filepath.Dir(tr.paths[0]), "merged.bolt")
}

// merged returns the digest of the shards' merged file.
func (tr *terrain) merged() string {
	tr.t.Helper()
	path := tr.mergedPath()
	_ = os.Remove(path) // of the previous run
	digest := crawltest.Merge(tr.t, path, tr.paths)
	crawltest.Surveyed(tr.t, path, func(s *survey.Survey) error {
		if run := s.Run(); run.Status != schema.RunCompleted {
			tr.t.Errorf("the merged run is %v", run.Status)
		}
		return nil
	})
	return digest
}

// alone crawls everything with one crawl, and returns the digest of its map.
func alone(t *testing.T, cfg *config.Config) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "whole.bolt")
	return aloneIn(t, cfg, path, nil)
}

// shownBy returns an opener of a browser for a crawl.
func shownBy(b *crawltest.Browser) func(context.Context, *config.Config) (ring.Renderer, error) {
	return func(context.Context, *config.Config) (ring.Renderer, error) { return b, nil }
}

// aloneIn is alone for a file, whose next run it makes, and a browser.
func aloneIn(t *testing.T, cfg *config.Config, path string, shows *crawltest.Browser) string {
	t.Helper()
	store := crawltest.Open(t, path)
	c, _, err := crawl.Begin(t.Context(), store, crawl.Options{
		Config: cfg, Log: slog.New(slog.DiscardHandler), OpenRenderer: shownBy(shows),
	})
	if err != nil {
		t.Fatal(err)
	}
	res, err := c.Run(t.Context())
	if err != nil || !res.Walked {
		t.Fatalf("%+v, %v", res, err)
	}
	if err := errors.Join(c.Complete(), store.Close()); err != nil {
		t.Fatal(err)
	}
	return crawltest.Digest(t, path)
}

// sitesTo returns the configuration of a crawl of [crawltest.Sites] to a depth.
func sitesTo(depth int) string {
	return fmt.Sprintf("[crawler]\nmax-depth = %d\n", depth) + crawltest.SeedsOfSites
}

// TestTerrain crawls generated webs on one, two and four shards, which are stopped, lose their
// leases, and lose letters: the map is that of one crawl, and no host is requested by two shards.
func TestTerrain(t *testing.T) {
	seed, webs := crawltest.Seed(t), 1
	if crawltest.Full() {
		webs = 20
	}
	for i := range webs {
		t.Run(fmt.Sprint(i), func(t *testing.T) { oneTerrain(t, seed+uint64(i)) })
	}
}

func oneTerrain(t *testing.T, seed uint64) {
	t.Parallel()
	s := crawltest.Serve(t, webtest.WithoutLog())
	crawltest.Sites(s, seed, 7)
	cfg := crawltest.Parse(t, crawltest.Config(t, s, sitesTo(3)))
	want := alone(t, cfg)
	for _, shards := range []int{1, 2, 4} {
		t.Run(fmt.Sprint(shards), func(t *testing.T) {
			t.Parallel()
			tr := newTerrain(t, rand.New(rand.NewPCG(seed, uint64(shards))), cfg, shards)
			if got := tr.crawl(4); got != want {
				t.Errorf("seed %d: digest %s, want %s", seed, got, want)
			}
			t.Logf("%d hosts are asked: %d starts, %d letters lost", len(tr.asked), tr.starts, tr.lost)
		})
	}
}
