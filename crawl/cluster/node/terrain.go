package node

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/census"
	"github.com/sumi-ripple/ripple/crawl/cluster/hub"
	"github.com/sumi-ripple/ripple/crawl/cluster/lease"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

const lookTime = 5 * time.Second // how long a shard may take to answer

// ErrOver reports a run that is over and can no longer be changed.
var ErrOver = errors.New("the run is over on all shards")

// ErrEnding reports a run that is over on some shards, or about to be, so that its configuration can no longer
// change.
var ErrEnding = errors.New("the run is over on some shards: the others finish it under the present configuration, " +
	"and the next run may follow another one")

// ErrNone reports a hub that knows no terrain.
var ErrNone = errors.New("the hub knows no terrain yet; a node will restore or create one")

// A Terrain is the state of a terrain as the hub and the nodes report it.
type Terrain struct {
	ID            [16]byte
	Run           uint64
	Over          bool          // all files say that the run is over
	Without       schema.Shards // that the run was ended without; empty: it was not, or a node has resumed it
	Configuration uint64        // number
	Paused        bool
	Nodes         []string // names of those that have joined or hold a shard
	Shards        []Shard

	charter           *charter
	directory, bucket *hub.Bucket
}

// Follows reports whether the terrain follows a configuration, in the values that all machines share.
func (t *Terrain) Follows(cfg *config.Config) bool {
	return maps.Equal(t.charter.Config, digests(cfg.Shared()))
}

// A Shard is the state of a shard of a terrain.
type Shard struct {
	Number int
	Made   bool      // it has a file, or a node is about to recreate it
	Maker  string    // name of the node that held it last; empty: there was none, or the hub has forgotten it
	Over   bool      // its file says that the run is over
	Pages  int       // visited in a run that is over; -1: it is not over, or that was not reported
	Node   string    // name of the one that holds it; empty: none
	Since  time.Time // when the node claimed it
	Report *Report   // nil: it does not answer
	Waits  *Report   // of a node that has its file and waits for the end of the last lease; nil: there is none

	id string // of the node that holds it
}

// A Report is what a shard reports about itself.
type Report struct {
	Over          bool            `json:"over"`          // its file says that the run is over
	Configuration uint64          `json:"configuration"` // number of the one that it follows
	Status        census.Status   `json:"status"`
	Backlog       []crawl.Backlog `json:"backlog"`
}

// Look reads the terrain from the hub, and asks all shards for their reports, concurrently: silent shards do not
// add up their delays. It fails with [ErrNone] if there is no terrain.
func Look(ctx context.Context, conn *hub.Conn) (*Terrain, error) {
	t, err := find(ctx, conn)
	if err != nil {
		return nil, err
	}
	c := t.charter
	t.Shards = make([]Shard, c.shards())
	var g errgroup.Group // fails with the first error
	for n, over := range c.Over {
		s := &t.Shards[n]
		s.Number, s.Made, s.Over = n, c.Made, over
		if s.Pages = unknown; c.Over[n] {
			if pages, known := c.visited(n); known {
				s.Pages = pages
			}
		}
		g.Go(func() error { return s.look(ctx, t.bucket) })
	}
	if err := g.Wait(); err != nil {
		return t, err
	}
	for _, s := range t.Shards {
		if s.Node != "" { // the hub may have forgotten that it joined
			c.introduce(peer{s.id, s.Node})
		}
	}
	for _, p := range c.Nodes {
		t.Nodes = append(t.Nodes, p.Name)
	}
	lives := func(s Shard) bool { return s.Report != nil || s.Node != "" && !c.Stop.Without.Has(s.Number) }
	if c.Stop.Run == c.Run && !t.Over && !slices.ContainsFunc(t.Shards, lives) {
		t.Without = c.Stop.Without
	}
	return t, nil
}

// find reads the terrain of a hub, without the shards.
func find(ctx context.Context, conn *hub.Conn) (*Terrain, error) {
	directory, err := conn.Bucket(ctx, [16]byte{})
	if err != nil {
		return nil, err
	}
	r := registry{bucket: directory, timing: lease.Of(0)} // it waits for no lease
	c, _, err := r.read(ctx)
	if err == nil && c == nil {
		err = ErrNone
	}
	if err != nil {
		return nil, err
	}
	t := &Terrain{
		ID: [16]byte(c.Terrain), Run: c.Run, Over: c.over(), Configuration: c.Configuration, Paused: c.paused(),
		charter: c, directory: directory,
	}
	t.bucket, err = conn.Bucket(ctx, t.ID)
	return t, err
}

// look finds out which node holds a shard, and asks it for a report, or else the node that waits for the shard.
func (s *Shard) look(ctx context.Context, bucket *hub.Bucket) error {
	h, err := lease.Look(ctx, bucket, hub.Key(s.Number))
	if s.Made, s.Maker = s.Made || h.Made(), h.Node; err != nil {
		return err
	}
	r := &Report{}
	if h.Held {
		s.id, s.Node, s.Since = h.ID, h.Node, h.Since
		text, err := ask(ctx, bucket, s.Number, forReport)
		if err == nil && decode(text, r) == nil { // otherwise the shard has answered, but not legibly
			s.Report = r
		}
		if err == nil {
			return nil
		}
	}
	if text, err := askWaiting(ctx, bucket, s.Number, forReport); err == nil && decode(text, r) == nil {
		s.Waits = r
	}
	return nil
}

// askWaiting asks a node that waits for the lease of a shard.
func askWaiting(ctx context.Context, bucket *hub.Bucket, shard int, what string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	return bucket.Ask(ctx, what, shard, schema.Opening{}, nil)
}

func ask(ctx context.Context, bucket *hub.Bucket, shard int, what string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	return wire{carrier: bucket.Carrier()}.send(ctx, shard, what, nil)
}

// Pause pauses or resumes the terrain: all nodes stop or resume requests to hosts within a second, including nodes
// that join later. It returns the number of the run.
func Pause(ctx context.Context, conn *hub.Conn, paused bool) (run uint64, err error) {
	c, err := change(ctx, conn, func(c *charter) (bool, error) {
		if c.over() {
			return false, ErrOver
		}
		return c.pause(paused), nil
	})
	if err != nil {
		return 0, err
	}
	return c.Run, nil
}

// Reload makes the terrain follow another configuration: each node adopts it within a second, or as soon as its
// own file agrees with it. It returns the number of the run, and that of the configuration. news reports whether a
// shared value has changed; only then is the number a new one. The values that identify pages cannot change in a
// run: that is [crawl.ErrIdentity]. The lease never changes: that is [ErrLease]. A run that is over on some shards
// accepts no other configuration: that is [ErrEnding], or [ErrOver].
func Reload(ctx context.Context, conn *hub.Conn, cfg *config.Config) (run, number uint64, news bool, err error) {
	own := digests(cfg.Shared())
	c, err := change(ctx, conn, func(c *charter) (bool, error) {
		changed, err := c.reload(own)
		news = news || changed // also if that was written and the answer was lost
		return changed, err
	})
	if err != nil {
		return 0, 0, false, err
	}
	return c.Run, c.Configuration, news, nil
}

// reload makes the run follow a configuration, and reports whether that changed anything.
func (c *charter) reload(keys map[string]string) (bool, error) {
	switch {
	case c.over():
		return false, ErrOver
	case slices.Contains(c.Over, true), c.Ending == c.moment():
		return false, ErrEnding
	case maps.Equal(c.Config, keys):
		return false, nil
	}
	if err := c.tellsApart(keys); err != nil {
		return false, err
	}
	c.Config, c.Configuration = keys, c.Configuration+1
	c.Portions.forget()
	return true, nil
}

// leaseKey is the key of the length of leases in the digests of a configuration.
const leaseKey = "cluster.lease"

// tellsApart returns [crawl.ErrIdentity] if a configuration identifies pages in another way than the one under
// which they are in the files, and [ErrLease] if it has another lease.
func (c *charter) tellsApart(keys map[string]string) error {
	if c.Config[leaseKey] != keys[leaseKey] {
		return ErrLease
	}
	differ := differing(c.Config, keys)
	if strings.HasPrefix(differ, "url.") || strings.Contains(differ, ", url.") {
		return fmt.Errorf("%w: %s differ", crawl.ErrIdentity, differ)
	}
	return nil
}

// change lets f change the charter of a hub, and returns the charter. f reports whether it changed anything. After
// an error the charter may have changed nevertheless, because the hub may not have answered in time.
func change(ctx context.Context, conn *hub.Conn, f func(*charter) (bool, error)) (*charter, error) {
	t, err := find(ctx, conn)
	if err != nil {
		return nil, err
	}
	r := registry{bucket: t.directory, timing: lease.Of(0)} // likewise
	return r.change(ctx, func(c *charter) (*charter, error) {
		if c == nil {
			return nil, ErrNone
		}
		if changed, err := f(c); err != nil || !changed {
			return nil, err
		}
		return c, nil
	})
}

// Stop stops all nodes that hold a shard. It returns the names of the nodes that will stop, and of those that do
// not answer. It asks all nodes concurrently.
func Stop(ctx context.Context, conn *hub.Conn) (nodes, silent []string, err error) {
	t, err := Look(ctx, conn)
	if err != nil {
		return nil, nil, err
	}
	var g errgroup.Group
	var mu sync.Mutex
	for _, s := range t.speakers() {
		g.Go(func() error {
			_, err := ask(ctx, t.bucket, s.Number, forStop)
			if err != nil && s.Waits != nil {
				_, err = askWaiting(ctx, t.bucket, s.Number, forStop)
			}
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				nodes = append(nodes, s.Node)
			} else {
				silent = append(silent, s.Node)
			}
			return nil
		})
	}
	_ = g.Wait() // none fails
	slices.Sort(nodes)
	slices.Sort(silent)
	return nodes, silent, nil
}

// speakers returns a shard of each node that holds any, by the ID of the node: one that answers, if any does.
func (t *Terrain) speakers() map[string]Shard {
	all := map[string]Shard{}
	for _, s := range t.Shards {
		if _, known := all[s.id]; s.Node != "" && (!known || s.Report != nil) {
			all[s.id] = s
		}
	}
	return all
}
