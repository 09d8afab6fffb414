package node

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/kv"
)

// A maker starts to hold the shards of this node, whose files are here or are to be made, until the run is over.
// It belongs to one goroutine.
type maker struct {
	*Options
	member  *member
	began   time.Time
	group   *errgroup.Group
	arrived func(shard int) bool // the file of a shard is whole, because another node gave it to this one
	own     func(ctx context.Context, shard int, f *file, came bool) (left bool, epoch uint64, err error)
	held    map[int]bool
	left    map[int]uint64   // shards to leave alone, with the epochs in which they were left
	came    map[int]*arrival // files of shards that are not held
	nodes   int              // that had joined when claim last looked
	joined  time.Time        // when the last of them was noticed
	founded string           // the charter's Founded then
	unread  bool             // the folder could not be read the last time

	mu   sync.Mutex
	gone map[int]uint64 // shards that were just left, with their epochs
}

// An arrival is a file in the folder that has not changed since a given moment.
type arrival struct {
	size    int64
	changed time.Time
	since   time.Time
	refused bool // it is ignored until it changes
}

// make starts to hold four kinds of shards:
//   - this node's share of the shards without a file
//   - shards whose files were assigned to this node, which has never created them or has lost them since; the lease
//     distinguishes the two
//   - shards that are recreated here
//   - shards whose files are put into the folder
func (m *maker) make(ctx context.Context) error {
	for !m.member.over() {
		m.leave()
		m.claim(ctx)
		c := m.member.get()
		for shard, has := range m.member.records() {
			epoch, left := m.left[shard]
			if has.ID == m.ID && has.Epoch <= c.Epochs[shard] && !m.held[shard] && (!left || epoch < has.Epoch) {
				m.hold(ctx, shard, nil, false)
			}
		}
		if err := m.look(ctx); err != nil {
			return err
		}
		if err := sleep(ctx, m.Timing.Renew/10); err != nil {
			return err
		}
	}
	return nil
}

// hold makes the group hold a shard. came: its file arrived while the node was running.
func (m *maker) hold(ctx context.Context, shard int, f *file, came bool) {
	m.held[shard] = true
	m.group.Go(func() error {
		left, epoch, err := m.own(ctx, shard, f, came)
		if left {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.gone[shard] = epoch
		}
		return err
	})
}

// leave records which shards are no longer held. Their files are not taken again until they have been away or have
// changed.
func (m *maker) leave() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for shard, epoch := range m.gone {
		delete(m.held, shard)
		m.left[shard], m.came[shard] = epoch, &arrival{refused: true}
	}
	clear(m.gone)
}

// claim makes files for shards without one, and starts to hold them: for this node's share, or later for those that
// others have left unmade. It waits for others that started at the same time, and, if the hub has lost the charter, for
// those that had claimed shards there.
func (m *maker) claim(ctx context.Context) {
	c := m.member.get()
	if nodes := len(c.Nodes); nodes != m.nodes || c.Founded != m.founded {
		m.nodes, m.founded, m.joined = nodes, c.Founded, time.Now()
	}
	wait := m.settled()
	if c.Founded == "" {
		wait = m.late()
	}
	waited := time.Since(m.began)
	if c.Made || min(waited, time.Since(m.joined)) < wait {
		return
	}
	records, own := m.member.records(), 0
	for shard, has := range records {
		if m.held[shard] || has.ID == m.ID {
			own++
		}
	}
	place, nodes := slices.IndexFunc(c.Nodes, func(p peer) bool { return p.ID == m.ID }), max(1, len(c.Nodes))
	skip := func(shard int) bool { _, left := m.left[shard]; return left || m.held[shard] }
	for _, shard := range records.share(own, max(0, place), nodes, m.MaxShards, waited > m.late(), skip) {
		m.hold(ctx, shard, nil, false)
	}
}

// look takes files that were put into the folder.
func (m *maker) look(ctx context.Context) error {
	here, err := found(m.Folder)
	if err != nil {
		if !m.unread {
			m.Log.Warn("the folder cannot be read: new shards there are not noticed", "error", err)
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
		if err := m.arrive(ctx, shard); err != nil {
			return err
		}
	}
	return nil
}

// arrive takes a file once it has been unchanged for a while: until then it may still be copied.
func (m *maker) arrive(ctx context.Context, shard int) error {
	info, err := os.Stat(FilePath(m.Folder, shard))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	a := m.came[shard]
	if m.arrived(shard) {
		a = &arrival{size: info.Size(), changed: info.ModTime()}
		m.came[shard] = a
	}
	if a != nil && a.changed.IsZero() { // the shard was left, and its file is still here
		a.size, a.changed = info.Size(), info.ModTime()
	}
	if a == nil || a.size != info.Size() || !a.changed.Equal(info.ModTime()) {
		m.came[shard] = &arrival{size: info.Size(), changed: info.ModTime(), since: time.Now()}
		return nil
	}
	if a.refused || time.Since(a.since) < m.Timing.Patience() {
		return nil
	}
	f, err := m.welcome(ctx, shard)
	if err != nil {
		a.since, a.refused = time.Now(), !errors.Is(err, kv.ErrLocked)
		m.Log.Warn("a new file cannot be used", "shard", shard, "why", err)
		return nil
	}
	m.hold(ctx, shard, f, true)
	return nil
}

// welcome opens a file that has arrived, and records in the charter that this node has it.
func (m *maker) welcome(ctx context.Context, shard int) (f *file, err error) {
	if f, err = openFile(m.Options, shard); err != nil {
		return nil, err
	}
	if f.empty() {
		err = fmt.Errorf("%s was never crawled", f.path)
	} else {
		_, err = m.member.change(ctx, func(c *charter) (bool, error) { return c.know(map[int]*file{shard: f}) })
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
