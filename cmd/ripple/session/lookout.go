package session

import (
	"context"
	"sync"
	"time"

	"github.com/sumi-ripple/ripple/cmd/ripple/answer"
	"github.com/sumi-ripple/ripple/crawl/census"
	"github.com/sumi-ripple/ripple/crawl/cluster/hub"
	"github.com/sumi-ripple/ripple/crawl/cluster/node"
	"github.com/sumi-ripple/ripple/crawl/meter"
	"github.com/sumi-ripple/ripple/schema/config"
)

const (
	lookRest = time.Second     // between two looks at a terrain, or as long as the last one took
	lookMost = time.Minute     // limit of one look, which waits for silent machines
	newLook  = 3 * time.Second // an older look is out of date
	lookWait = 2 * time.Second // for a new look; then an older one is used
)

// A lookout reads the state of a terrain for all clients together, and keeps it.
type lookout struct {
	hub   string
	Conn  *hub.Conn // set before follow is called
	asked chan struct{}
	load  func() (*config.Config, error)

	number uint64 // of the configuration that most is from; 0: none
	most   int    // pages of the run; 0: unknown or unlimited

	mu   sync.Mutex
	last sighting
	next chan struct{} // closed at the next sighting
}

// A sighting is the result of a look.
type sighting struct {
	stats *answer.TerrainStats // nil: nothing yet
	at    time.Time            // the time of stats; zero: none
	err   error                // of the last look, if it failed
}

func newLookout(hub string, load func() (*config.Config, error)) *lookout {
	return &lookout{hub: hub, load: load, asked: make(chan struct{}, 1), next: make(chan struct{})}
}

// Follow looks at the terrain on request until ctx is done. It is called once.
func (l *lookout) Follow(ctx context.Context) error {
	for {
		select {
		case <-l.asked:
		case <-ctx.Done():
			return nil
		}
		began := time.Now()
		l.look(ctx)
		select {
		case <-time.After(max(lookRest, time.Since(began))):
		case <-ctx.Done():
			return nil
		}
	}
}

func (l *lookout) look(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, lookMost)
	defer cancel()
	t, err := node.Look(ctx, l.Conn)
	if err == nil {
		l.limit(t)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last.err = err; err == nil {
		l.last.stats, l.last.at = answer.NewTerrainStats(l.hub, l.most, t), time.Now()
	}
	close(l.next)
	l.next = make(chan struct{})
}

// limit reads how many pages the run visits, once the file of this machine agrees with the terrain's configuration.
func (l *lookout) limit(t *node.Terrain) {
	if t.Configuration == l.number {
		return
	}
	l.most = 0
	if cfg, err := l.load(); err == nil && t.Follows(cfg) {
		l.most, l.number = cfg.Crawler.MaxPages, t.Configuration
	}
}

// now returns a new look or, if that takes too long, an older one.
func (l *lookout) now(ctx context.Context) sighting {
	last, next := l.latest()
	if last.err == nil && time.Since(last.at) < lookRest {
		return last
	}
	select {
	case l.asked <- struct{}{}:
	default: // already requested
	}
	if last.err == nil && time.Since(last.at) < newLook {
		return last
	}
	ctx, cancel := context.WithTimeout(ctx, lookWait)
	defer cancel()
	select {
	case <-next:
	case <-ctx.Done():
	}
	last, _ = l.latest()
	return last
}

func (l *lookout) latest() (sighting, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last, l.next
}

// away returns since when the hub has not answered; zero: it has, or there is no connection yet.
func (l *lookout) away() time.Time {
	if l.Conn == nil {
		return time.Time{}
	}
	return l.Conn.Away()
}

// metrics returns the metrics of the terrain.
func (l *lookout) metrics(ctx context.Context) meter.Terrain {
	s := l.now(ctx)
	t := meter.Terrain{Seen: s.at, Shards: map[string]int{}, Silent: map[int]time.Time{}}
	if !l.away().IsZero() {
		t.Cause = census.CauseHub
	}
	if s.stats == nil {
		return t
	}
	if t.Cause == census.NoCause {
		t.Cause = answer.ConditionOfTerrain(s.stats, "", s.at).Cause
	}
	t.Nodes = len(s.stats.Nodes)
	for _, state := range answer.ShardStates() {
		t.Shards[state] = 0 // alerts need a value
	}
	for _, one := range s.stats.Shards {
		state := one.State
		if _, known := t.Shards[state]; !known {
			state = "other" // a node may send anything
		}
		t.Shards[state]++
		if one.Silent != nil {
			t.Silent[one.Shard] = *one.Silent
		}
	}
	return t
}
