package node

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/cluster/hub"
	"github.com/sumi-ripple/ripple/crawl/cluster/lease"
	"github.com/sumi-ripple/ripple/crawl/cluster/strictjson"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// A stop is a user's command to end a run without some shards. Every running node obeys it, and every file that
// was present at the time records it once; a node that is restarted afterwards resumes the run. A file keeps the
// last stop that it has obeyed, or after which it was crawled. Therefore a hub that has lost the stop learns it
// again, and a file whose node was killed before it could record the stop does so when the file is back.
type stop struct {
	Number  uint64        `json:"number"` // incremented for each stop; 0: there was none
	Run     uint64        `json:"run"`    // of the terrain
	Without schema.Shards `json:"without"`
	Late    bool          `json:"late"` // restored from a file that has followed it: crawls since then continue
}

// late reports whether s is the commanded stop as restored from a file, rather than as commanded.
func (s stop) late(commanded stop) bool {
	return s.Late && s.Number == commanded.Number && s.Without == commanded.Without
}

// end returns the error that ends the crawls, with the end that their runs record.
func (s stop) end() *crawl.StopError {
	return &crawl.StopError{End: schema.End{Kind: schema.EndStopped, Detail: "ripple stop", Without: s.Without}}
}

// metaStop is the key of the stop that a file has followed.
const metaStop = "stop"

// A followed is a stop of a terrain, as stored in a file.
type followed struct {
	Terrain []byte `json:"terrain"`
	Stop    stop   `json:"stop"`
}

// stop returns the last stop of the terrain that the file has followed, or after which it was crawled.
func (f *file) stop(c *charter) (stop, error) {
	var text []byte
	err := f.View(func(tx *kv.Tx) (err error) { text, err = tx.Meta.Value(metaStop); return err })
	if err != nil || text == nil {
		return stop{}, err
	}
	var last followed
	if err := json.Unmarshal(text, &last); err != nil {
		return stop{}, fmt.Errorf("%s: the last stop: %w", f.path, err)
	}
	if !bytes.Equal(last.Terrain, c.Terrain) {
		return stop{}, nil
	}
	return last.Stop, nil
}

// keepStop writes a stop of the terrain into a file that is held.
func (f *file) keepStop(c *charter, now stop) error {
	last, err := f.stop(c)
	if err != nil || last.Number >= now.Number {
		return err
	}
	return f.Update(func(tx *kv.Tx) error { return tx.Meta.Put(metaStop, strictjson.Encode(followed{c.Terrain, now})) })
}

// owes reports whether a file still has to record the charter's last stop.
func (f *file) owes(c *charter, shard int) (bool, error) {
	last, err := f.stop(c)
	if err != nil || last.Number >= c.Stop.Number || c.Stop.Without.Has(shard) {
		return false, err
	}
	if g, err := f.given(); err != nil || g != nil {
		return false, err
	}
	if c.Stop.Run != c.Run || f.Part().Run != c.Run {
		return false, nil
	}
	err = f.View(func(tx *kv.Tx) error {
		runs, err := tx.Runs.All()
		if len(runs) == 0 {
			return err
		}
		run := runs[len(runs)-1]
		last.Without = run.End.Without
		if run.Walked || run.Status == schema.RunCompleted { // the run is over, even without those shards
			last.Without = c.Stop.Without
		}
		return err
	})
	return last.Without != c.Stop.Without, err
}

// owing moves the files that still have to record a stop from files to its result.
func owing(c *charter, files map[int]*file) (map[int]*file, error) {
	owing := map[int]*file{}
	for shard, f := range files {
		owes, err := f.owes(c, shard)
		if err != nil {
			return nil, err
		}
		if owes {
			owing[shard] = f
		}
	}
	maps.DeleteFunc(files, func(shard int, _ *file) bool { return owing[shard] != nil })
	return owing, nil
}

// writeEnd makes files record that the run has ended.
func (n *node) writeEnd(ctx context.Context, files map[int]*file) error {
	if len(files) == 0 {
		return nil
	}
	n.ends = n.member.get().Stop.end()
	n.Log.Info("the run was ended while some of its files were not held; they record that now", "end", n.ends)
	var g errgroup.Group
	var mu sync.Mutex
	var failed error
	for shard, f := range files {
		g.Go(func() error {
			_, _, err := n.own(ctx, shard, f, false)
			mu.Lock()
			defer mu.Unlock()
			failed = errors.Join(failed, err)
			return nil // the other files must record it all the same
		})
	}
	_ = g.Wait() // none fails
	return failed
}

// settle records that the run has ended in files whose leases were lost just then. A file that cannot be written
// now records it when this node is started again.
func (n *node) settle(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 2*n.Timing.Patience())
	defer cancel()
	files, err := openFiles(&n.Options)
	var owe map[int]*file
	if err == nil {
		owe, err = owing(n.member.get(), files)
	}
	if err == nil {
		err = n.writeEnd(ctx, owe)
	}
	if err = errors.Join(err, closeAll(owe), closeAll(files)); err != nil {
		n.Log.Warn("not all files say yet that the run was ended", "error", err)
	}
}

// Reasons why a run cannot be ended without shards.
var (
	// ErrAll reports that no shard would be left.
	ErrAll = errors.New("these are all shards")
	// ErrNobody reports that no node holds a shard.
	ErrNobody = errors.New("no node has a shard just now, so none was stopped")
	// ErrStopped reports that another command has just ended the run.
	ErrStopped = errors.New("the run has just been ended by another command")
)

// An Ending is a run that ends without some shards.
type Ending struct {
	Run   uint64
	Over  bool     // a file says that the run is over, and the others soon will
	Nodes []string // that have stopped or are about to
	Left  []string // those of them that still hold a shard
}

// StopWithout ends the run as interrupted, without shards whose nodes are gone. All other files record that, and
// their nodes stop. It returns when the nodes have let go of their shards, or after twice [lease.Timing.Patience]. A
// shard that a node holds cannot be left out: that is a [lease.HeldError]. All other shards must answer, or it fails
// with [ErrSilent]. It takes a little longer than Patience.
func StopWithout(ctx context.Context, conn *hub.Conn, without schema.Shards, timing lease.Timing) (Ending, error) {
	t, err := Look(ctx, conn)
	if err == nil {
		err = t.mayStop(without)
	}
	if err != nil {
		return Ending{}, err
	}
	next := stop{Number: t.charter.Stop.Number + 1, Run: t.Run, Without: without}
	if err := t.silentAll(ctx, without, timing); err != nil {
		return Ending{}, err
	}
	now, err := Look(ctx, conn)                 // nodes may have left or joined
	if err == nil && now.charter.Stop != next { // otherwise another command has written the same stop
		t = now
		if err = t.mayStop(without); err == nil {
			err = t.tellStop(ctx, conn, next)
		}
	}
	if err != nil {
		return Ending{}, err
	}
	return t.letGo(ctx, conn, next, 2*timing.Patience())
}

// mayStop returns the reason why the run cannot be ended without shards.
func (t *Terrain) mayStop(without schema.Shards) error {
	var silent []int
	nobody := true
	for n := range without.All() {
		if err := within(n, len(t.Shards)); err != nil {
			return err
		}
		if s := &t.Shards[n]; s.Report != nil {
			return fmt.Errorf("shard %d: %w", n, &lease.HeldError{Key: hub.Key(n), Node: s.Node, Since: s.Since})
		}
	}
	for n := range t.Shards {
		if s := &t.Shards[n]; !without.Has(n) {
			if nobody = nobody && s.Node == ""; s.Report == nil {
				silent = append(silent, n)
			}
		}
	}
	switch {
	case without.Len() == len(t.Shards):
		return ErrAll
	case t.Over:
		return ErrOver
	case nobody:
		return ErrNobody
	case silent != nil:
		return fmt.Errorf("%w from %s", ErrSilent, schema.ShardsOf(silent...).Named())
	}
	return nil
}

// silentAll returns a [lease.HeldError] if a node holds one of the shards.
func (t *Terrain) silentAll(ctx context.Context, shards schema.Shards, timing lease.Timing) error {
	g, ctx := errgroup.WithContext(ctx)
	for n := range shards.All() {
		g.Go(func() error {
			silent, err := t.silent(ctx, n, timing.Patience())
			if err == nil && !silent {
				var h lease.Holder
				if h, err = lease.Look(ctx, t.bucket, hub.Key(n)); err == nil && h.Held { // otherwise it was released
					err = &lease.HeldError{Key: hub.Key(n), Node: h.Node, Since: h.Since}
				}
			}
			if err != nil {
				err = fmt.Errorf("shard %d: %w", n, err)
			}
			return err
		})
	}
	return g.Wait()
}

// tellStop writes a stop into the charter. It is idempotent.
func (t *Terrain) tellStop(ctx context.Context, conn *hub.Conn, next stop) error {
	_, err := change(ctx, conn, func(c *charter) (bool, error) {
		switch {
		case [16]byte(c.Terrain) != t.ID:
			return false, ErrTerrain
		case c.Stop == next:
			return false, nil
		case c.Stop.Number >= next.Number && !c.Stop.late(next):
			return false, fmt.Errorf("%w, without %s", ErrStopped, c.Stop.Without.Named())
		case c.over() || c.Run != next.Run:
			return false, ErrOver
		}
		c.Stop = next
		return true, nil
	})
	return err
}

// letGo waits until the nodes that held shards have let go of them, for no longer than most. If the hub loses
// the stop meanwhile, letGo writes it again.
func (t *Terrain) letGo(ctx context.Context, conn *hub.Conn, told stop, most time.Duration) (e Ending, err error) {
	e.Run, e.Over, e.Nodes = told.Run, t.ended(), t.nodesOf(told, func(*Shard) bool { return true })
	for began := time.Now(); ; {
		telling, cancel := context.WithTimeout(ctx, lookTime)
		err = t.tellStop(telling, conn, told)
		cancel()
		e.Left = t.nodesOf(told, func(s *Shard) bool {
			h, err := lease.Look(ctx, t.bucket, hub.Key(s.Number))
			return err != nil || h.Held && h.Node == s.Node && h.Since.Equal(s.Since)
		})
		switch {
		case err == nil && e.Left == nil, time.Since(began) > most:
			return e, err
		case errors.Is(err, ErrTerrain), errors.Is(err, ErrStopped):
			return e, err
		}
		if err := sleep(ctx, lookEvery); err != nil {
			return e, err
		}
	}
}

// nodesOf returns the nodes with shards that are not left out and for which is returns true.
func (t *Terrain) nodesOf(told stop, is func(*Shard) bool) (nodes []string) {
	for n := range t.Shards {
		s := &t.Shards[n]
		if s.Node != "" && !told.Without.Has(n) && !slices.Contains(nodes, s.Node) && is(s) {
			nodes = append(nodes, s.Node)
		}
	}
	return nodes
}
