package node

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/crawl/lease"
	"github.com/sumi-ripple/ripple/kv"
)

var (
	// ErrGone reports a shard whose file this node has made, and that is not here any more.
	ErrGone = errors.New("the file of a shard is not here any more")

	errReleased  = errors.New("the shard was released")
	errElsewhere = errors.New("another node has the file of the shard")
)

// own holds a shard. One that is let go is left alone from then on, and so is one that this node was
// to make and another has, and one whose file has come while the node was running, and must not be
// used, or is gone where others are here.
func (n *node) own(ctx context.Context, shard int, f *file, came bool) error {
	epoch, err := n.hold(ctx, shard, f)
	var held *lease.HeldError
	switch {
	case errors.Is(err, errReleased):
		n.tell(shard, "released")
	case n.ends != nil && errors.Is(err, n.ends):
	case came && (errors.Is(err, lease.ErrFile) || errors.As(err, &held)):
		n.Log.Warn("a file that has come cannot be used", "shard", shard, "why", err)
	case errors.Is(err, errElsewhere):
		n.Log.Warn("a shard that this node was to make is left to another", "shard", shard, "why", err)
		n.tell(shard, "elsewhere")
	case errors.Is(err, ErrGone) && n.files:
		n.Log.Warn("put it back, or have \"ripple shard recreate\" make it anew", "shard", shard, "why", err)
		n.tell(shard, "gone")
	default:
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.left[shard] = epoch
	return nil
}

// A maker has the files of this node's shards made and held until the run is over. It belongs
// to one goroutine.
type maker struct {
	*node
	group  *errgroup.Group
	held   map[int]bool
	left   map[int]uint64   // shards that are left alone, with the epoch that they had then
	came   map[int]*arrival // files of shards that are not held
	unread bool             // the folder, the last time
}

// An arrival is a file that lies in the folder as it is since a moment.
type arrival struct {
	size    int64
	changed time.Time
	since   time.Time
	refused bool // it is not looked at again as long as it stays as it is
}

// make has g hold the shards that have no file yet, as many as is this node's share; those
// that this one was to make before, and did not come to, or has lost since, which the lease
// tells apart; those that are made anew here; and those whose files come to lie in the folder.
func (n *node) make(ctx context.Context, g *errgroup.Group, files []int) error {
	m := maker{node: n, group: g, held: map[int]bool{}, left: map[int]uint64{}, came: map[int]*arrival{}}
	for _, shard := range files {
		m.held[shard] = true
	}
	for !n.over() {
		m.leave()
		for _, shard := range n.get().of(n.Name) {
			if epoch, left := m.left[shard]; !m.held[shard] && (!left || epoch < n.get().Epochs[shard]) {
				m.hold(ctx, shard, nil)
			}
		}
		if err := m.look(ctx); err != nil {
			return err
		}
		if err := sleep(ctx, n.Timing.Renew/10); err != nil {
			return err
		}
		if err := m.claim(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (m *maker) hold(ctx context.Context, shard int, f *file) {
	m.held[shard] = true
	m.group.Go(func() error { return m.own(ctx, shard, f, f != nil) })
}

// leave notes which shards are held no more. Their files are not taken up again before they
// have been away.
func (m *maker) leave() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for shard, epoch := range m.node.left {
		delete(m.held, shard)
		m.left[shard], m.came[shard] = epoch, &arrival{refused: true}
	}
	clear(m.node.left)
}

// claim claims shards that have no file, if they are this node's share.
func (m *maker) claim(ctx context.Context) error {
	waited := time.Since(m.began)
	if m.get().made() || waited < m.Timing.Renew*6/5 { // others that were started at the same time may still come
		return nil
	}
	claimed, err := m.registry.change(ctx, func(c *charter) (*charter, error) {
		return m.node.claim(c, waited > 2*m.Timing.Renew+m.Timing.Watch), nil
	})
	if err == nil && claimed != nil && m.get().same(claimed) {
		m.set(claimed)
	}
	return err
}

// look takes files that have come to lie in the folder, once they have stayed as they are for
// Watch: who copies one there may not be done yet.
func (m *maker) look(ctx context.Context) error {
	here, err := found(m.Folder)
	if err != nil {
		if !m.unread {
			m.Log.Warn("the folder cannot be read, and shards that come there are not seen", "error", err)
		}
		m.unread = true
		return nil
	}
	m.unread = false
	for shard := range m.came {
		if !slices.Contains(here, shard) {
			delete(m.came, shard)
		}
	}
	for _, shard := range here {
		if m.held[shard] {
			continue
		}
		info, err := os.Stat(FilePath(m.Folder, shard))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		a := m.came[shard]
		if a != nil && a.changed.IsZero() { // it was left, and is still here
			a.size, a.changed = info.Size(), info.ModTime()
		}
		if a == nil || a.size != info.Size() || !a.changed.Equal(info.ModTime()) {
			m.came[shard] = &arrival{size: info.Size(), changed: info.ModTime(), since: time.Now()}
			continue
		}
		if a.refused || time.Since(a.since) < m.Timing.Watch {
			continue
		}
		f, err := m.welcome(ctx, shard)
		if err != nil {
			a.since, a.refused = time.Now(), !errors.Is(err, kv.ErrLocked)
			m.Log.Warn("a file that has come cannot be used", "shard", shard, "why", err)
			continue
		}
		m.hold(ctx, shard, f)
	}
	return nil
}

// welcome opens a file that has come, and has the charter say that it is here.
func (m *maker) welcome(ctx context.Context, shard int) (f *file, err error) {
	if f, err = openFile(&m.Options, shard); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	if f.empty() {
		return nil, fmt.Errorf("%s was never crawled", f.path)
	}
	c, err := m.registry.change(ctx, func(c *charter) (*charter, error) {
		if c == nil {
			c = m.remembered()
		}
		if !m.get().same(c) {
			return nil, ErrTerrain
		}
		news, err := m.know(c, map[int]*file{shard: f})
		if err != nil || !news {
			return nil, err
		}
		return c, nil
	})
	if err == nil {
		m.set(c)
	}
	return f, err
}

// inTurns is in how many turns a node claims its share, so that one which comes a little later
// still finds some of its own.
const inTurns = 8

// claim has this node make the files of some more shards, if they are its share or others have
// left them for long; nil: they are not.
func (n *node) claim(c *charter, left bool) *charter {
	if c == nil {
		return n.remembered()
	}
	if !n.get().same(c) {
		return nil
	}
	own, claimed := len(c.of(n.Name)), false
	share := (len(c.Made) + len(c.Nodes) - 1) / max(1, len(c.Nodes))
	for range (share + inTurns - 1) / inTurns {
		shard := slices.Index(c.Made, nobody)
		if shard < 0 || own >= share && !left || n.MaxShards > 0 && own >= n.MaxShards {
			break
		}
		c.Made[shard], claimed = c.number(n.Name), true
		own++
	}
	if !claimed {
		return nil
	}
	return c
}
