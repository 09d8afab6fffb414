package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/cluster/lease"
	"github.com/sumi-ripple/ripple/crawl/cluster/strictjson"
	"github.com/sumi-ripple/ripple/crawl/record"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/schema/config"
)

var errLost = errors.New("lost")

// A paperBucket is a bucket that loses requests and answers, and sometimes all its data.
type paperBucket struct {
	rng      *rand.Rand
	value    []byte // nil: none
	revision uint64
	kept     []byte // an older state
	honest   bool
}

func (*paperBucket) Connections() uint64 { return 1 }

func (b *paperBucket) Session(context.Context) (string, error) { return "", nil }

func (b *paperBucket) Get(context.Context, string) (lease.Entry, error) {
	switch {
	case b.fails():
		return lease.Entry{}, errLost
	case b.value == nil:
		return lease.Entry{}, lease.ErrNone
	}
	return lease.Entry{Value: b.value, Revision: b.revision}, nil
}

func (b *paperBucket) Create(_ context.Context, _ string, value []byte) (uint64, error) {
	return b.write(value, b.value == nil)
}

func (b *paperBucket) Update(_ context.Context, _ string, value []byte, revision uint64) (uint64, error) {
	return b.write(value, b.value != nil && b.revision == revision)
}

func (b *paperBucket) write(value []byte, fits bool) (uint64, error) {
	switch {
	case b.fails():
		return 0, errLost
	case !fits:
		return 0, lease.ErrChanged
	}
	b.value, b.revision = value, b.revision+1
	if b.fails() {
		return 0, errLost
	}
	return b.revision, nil
}

func (b *paperBucket) fails() bool { return !b.honest && b.rng.IntN(10) == 0 }

// A paperWalk is a shard that visits pages as far as its portion allows. A kill leaves only what its file says.
type paperWalk struct {
	allotter
	portion int
	used    int
	open    int
	demand  int // pages that wait and are not open
	final   bool
	dying   int // calls until it is killed; negative: it lives on
}

func (w *paperWalk) lives() error {
	if w.dying--; w.dying == 0 {
		return errLost
	}
	return nil
}

func (w *paperWalk) Allotment(context.Context) (*crawl.Allotment, error) {
	return &crawl.Allotment{
		Allotment: record.Allotment{
			Portion: w.portion, Used: w.used, Open: w.open, Final: w.final,
			Starved: w.demand > 0 && w.used+w.open >= w.portion && !w.final,
		},
		Idle: w.open == 0 && (w.demand == 0 || w.used >= w.portion),
	}, w.lives()
}

func (w *paperWalk) Allot(_ context.Context, p ring.Portion) error {
	if err := w.lives(); err != nil {
		return err
	}
	w.portion, w.final = max(p.Pages, w.used+w.open), p.Final
	return w.lives()
}

// visit requests a page, or finishes a visit.
func (w *paperWalk) visit(rng *rand.Rand) {
	if w.demand > 0 && w.used+w.open < w.portion && rng.IntN(2) == 0 {
		w.demand, w.open = w.demand-1, w.open+1
	} else if w.open > 0 {
		w.open = w.open - 1
		if rng.IntN(10) > 0 { // otherwise it waits for a retry
			w.used++
		} else {
			w.demand++
		}
	}
}

// A market is a set of shards that share max-pages.
type market struct {
	t      *testing.T
	rng    *rand.Rand
	most   int
	bucket *paperBucket
	walks  []*paperWalk

	goesBack bool // the hub sometimes forgets the last writes and returns to an older state
}

func newMarket(t *testing.T, seed uint64) *market {
	rng := rand.New(rand.NewPCG(seed, 0))
	m := &market{t: t, rng: rng, most: 1 + rng.IntN(200), bucket: &paperBucket{rng: rng}}
	c := newCharter(1+rng.IntN(5), map[string]string{})
	m.bucket.value, m.bucket.revision = strictjson.Encode(c), 1
	for shard := range c.shards() {
		cfg := &config.Config{}
		cfg.Crawler.MaxPages = m.most
		w := &paperWalk{demand: rng.IntN(100), dying: -1}
		w.allotter = allotter{paperMember("", c.clone(), m.bucket), &configured{cfg: cfg, number: 1}, shard, w}
		m.walks = append(m.walks, w)
	}
	return m
}

// paperMember returns a node's part in a terrain whose charter is in the given bucket.
func paperMember(name string, c *charter, bucket lease.Bucket) *member {
	timing, log := lease.Of(25*time.Second), slog.New(slog.DiscardHandler)
	o := &Options{ID: name, Shared: crawl.NewShared(0), Log: log, Timing: timing}
	return newMember(o, &registry{bucket: bucket, timing: timing}, c)
}

// look lets a node see the charter, as it does periodically.
func (m *market) look(n *member) {
	c, _, err := n.registry.read(m.t.Context())
	if err == nil && (c == nil || c.clone().learn(n.get())) {
		_, _ = n.restore(m.t.Context()) // or later
	} else if err == nil {
		n.set(c)
	}
}

// step makes something happen at a shard.
func (m *market) step(shard int) {
	w := m.walks[shard]
	switch what := m.rng.IntN(100); {
	case what < 60:
		w.visit(m.rng)
	case what < 80:
		if m.rng.IntN(10) == 0 {
			w.dying = 1 + m.rng.IntN(4)
		}
		if err := w.once(m.t.Context()); err != nil { // killed: open pages are requested again
			w.demand, w.open, w.final = w.demand+w.open, 0, false
		}
		w.dying = -1
	case what < 95:
		m.look(w.member)
	case what < 96:
		m.bucket.value = nil
	case what < 97 && m.goesBack && m.bucket.kept != nil:
		m.bucket.value, m.bucket.revision = m.bucket.kept, m.bucket.revision+1
	case what < 98:
		m.bucket.kept = m.bucket.value
	case !w.final:
		w.demand += m.rng.IntN(5) // other shards have reported pages
	}
}

func (m *market) sum(of func(*paperWalk) int) (sum int) {
	for _, w := range m.walks {
		sum += of(w)
	}
	return sum
}

// Whatever the hub loses and whichever shards are killed, the shards together never visit more pages than
// max-pages, and finally as many as they may. A hub that returns to an older state may give out some pages twice,
// but the run still ends.
func TestPortions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for seed := range uint64(300) {
			m := newMarket(t, seed)
			m.goesBack = seed%3 == 0
			for range 2000 {
				m.step(m.rng.IntN(len(m.walks)))
				if given := m.sum(func(w *paperWalk) int { return w.portion }); given > m.most && !m.goesBack {
					t.Fatalf("seed %d: the shards may visit %d pages, max-pages is %d", seed, given, m.most)
				}
			}
			if why := m.settle(); why != "" {
				t.Fatalf("seed %d: %s", seed, why)
			}
		}
	})
}

// settle lets all shards continue without faults for as long as they should need. It returns the reason if that
// was not long enough.
func (m *market) settle() (why string) {
	m.bucket.honest = true
	for range 300 {
		why = ""
		for _, w := range m.walks {
			m.look(w.member)
			if err := w.once(m.t.Context()); err != nil {
				return err.Error()
			}
			for range 50 {
				w.visit(m.rng)
			}
		}
		for shard, w := range m.walks {
			if has, _ := w.Allotment(m.t.Context()); !has.Idle || !has.Settled() {
				why = fmt.Sprintf("shard %d comes to no end: %+v", shard, has)
			}
		}
		if why == "" {
			break
		}
	}
	used := m.sum(func(w *paperWalk) int { return w.used })
	wanted := m.sum(func(w *paperWalk) int { return w.used + w.demand })
	if why == "" && used != min(wanted, m.most) && !m.goesBack {
		why = fmt.Sprintf("%d pages are visited of %d, max-pages is %d", used, wanted, m.most)
	}
	return why
}
