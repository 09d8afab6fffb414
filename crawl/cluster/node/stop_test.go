package node_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/cluster/hub"
	"github.com/sumi-ripple/ripple/crawl/cluster/lease"
	"github.com/sumi-ripple/ripple/crawl/cluster/node"
	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/shard"
)

// without ends the run without a shard. It retries if a node on a busy machine was slow to answer, and after the
// errors in late.
func (tr *terrain) without(conn *hub.Conn, shard int, late ...error) error {
	return patient(func() error {
		_, err := node.StopWithout(tr.t.Context(), conn, schema.ShardsOf(shard), tr.timing())
		return err
	}, append(late, node.ErrSilent)...)
}

// stops is without for running nodes. It retries if a busy machine has lost all leases, because the nodes take
// their shards again.
func (tr *terrain) stops(conn *hub.Conn, shard int) error {
	return tr.without(conn, shard, node.ErrNobody)
}

// interrupted waits until nodes end because the run was ended without a shard.
func (tr *terrain) interrupted(shard int, nodes ...<-chan error) {
	tr.t.Helper()
	for n, ended := range nodes {
		var told *crawl.StopError
		if err := <-ended; !errors.As(err, &told) || told.End.Without != schema.ShardsOf(shard) {
			tr.t.Fatalf("node %d ends with %v", n, err)
		}
	}
}

// say checks whether the files of a node say that the run was interrupted without a shard.
func (tr *terrain) say(n, without int, want bool) {
	tr.t.Helper()
	files, err := filepath.Glob(filepath.Join(tr.folders[n], "shard-*.bolt"))
	if err != nil || len(files) == 0 {
		tr.t.Fatalf("node %d has no file: %v", n, err)
	}
	for _, path := range files {
		run := tr.lastRun(path)
		if got := run.Status == schema.RunInterrupted && run.End.Without == schema.ShardsOf(without); got != want {
			tr.t.Errorf("%s says: %s, %s", path, run.Status, run.End)
		}
	}
}

// gone makes three nodes crawl a terrain, and kills the last one, which has a shard. ended reports how the first
// two end.
func gone(t *testing.T, seed uint64) (tr *terrain, conn *hub.Conn, shard int, ended [2]<-chan error) {
	t.Helper()
	unlost(t, func() (lost bool) {
		tr = slow(t, seed, 3, 3)
		var ends [2]func() error
		for n := range ended {
			ends[n], ended[n] = tr.start(n)
		}
		end, _ := tr.start(2)
		tr.works(15)
		shard = tr.shardOf(2)
		conn = tr.connect()
		err, killed := tr.stops(conn, shard), end()
		switch {
		case err == nil && tr.lapsed():
			_ = errors.Join(ends[0](), ends[1]()) // the run was ended
			return true
		case !errors.As(err, new(*lease.HeldError)):
			t.Fatalf("of a shard that somebody has: %v", err)
		case !errors.Is(killed, context.Canceled):
			t.Fatal(killed)
		}
		return false
	})
	return tr, conn, shard, ended
}

// A run is ended without a shard: all files that are present say so, and their merged map is consistent. When the
// shard is back the run resumes, and nothing is lost.
func TestStopWithout(t *testing.T) {
	t.Parallel()
	tr, conn, shard, ended := gone(t, 51)
	if err := tr.without(conn, 3); !errors.Is(err, node.ErrShard) {
		t.Errorf("without a shard that there is not: %v", err)
	}
	var e node.Ending
	err := patient(func() (err error) { // nodes may be slow to let go
		e, err = node.StopWithout(t.Context(), conn, schema.ShardsOf(shard), crawltest.Timing(3))
		return err
	}, node.ErrSilent, node.ErrNobody)
	if err != nil || e.Run != 1 || len(e.Nodes) != 2 || e.Left != nil {
		t.Fatalf("%+v, %v", e, err)
	}
	tr.interrupted(shard, ended[0], ended[1])
	tr.say(0, shard, true)
	tr.say(1, shard, true)
	tr.say(2, shard, false)
	if err := tr.without(conn, shard); !errors.Is(err, node.ErrNobody) {
		t.Errorf("again: %v", err)
	}
	var files []string
	for n := range 2 {
		some, err := filepath.Glob(filepath.Join(tr.folders[n], "shard-*.bolt"))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, some...)
	}
	path := filepath.Join(t.TempDir(), "partial.bolt")
	crawltest.Merge(t, path, files, shard)
	run := tr.lastRun(path)
	if !strings.HasPrefix(run.End.String(), "without shard ") || run.Status != schema.RunInterrupted {
		t.Errorf("the map says: %s, %s", run.Status, run.End)
	}
	tr.all()
	tr.same(1)
}

// A file whose node was killed before the file could record the stop does so when the node is started again, even
// if the hub has lost everything and only another node knows. Two commands may end the run at the same time.
func TestStopIsOwed(t *testing.T) {
	t.Parallel()
	for _, wiped := range []bool{false, true} {
		t.Run(fmt.Sprintf("wiped=%t", wiped), func(t *testing.T) {
			t.Parallel()
			tr, conn, shard, ended := gone(t, 52)
			both := make(chan error, 2)
			tell := func() { both <- tr.without(conn, shard) }
			go tell()
			go tell()
			one, other := <-both, <-both
			for errors.Is(one, node.ErrNobody) && errors.Is(other, node.ErrNobody) { // a busy machine has lost the leases
				go tell()
				go tell()
				one, other = <-both, <-both
			}
			if one != nil {
				one, other = other, one
			}
			tooLate := errors.Is(other, node.ErrNobody) || errors.Is(other, node.ErrSilent)
			if one != nil || other != nil && !tooLate {
				t.Fatalf("told twice: %v, %v", one, other)
			}
			tr.interrupted(shard, ended[0], ended[1])
			file := tr.file(1, tr.shardOf(1))
			tr.forgets(file)
			var first <-chan error
			if wiped {
				conn.Close()
				tr.lose()
				conn = tr.connect()
				_, first = tr.start(0)
				tr.until("node 0 is there", conn, func(s node.Shard) bool {
					return s.Node == "node 0" && s.Report != nil
				})
			}
			before := tr.asks("node 1")
			_, second := tr.start(1)
			tr.interrupted(shard, second)
			if asked := tr.asks("node 1"); asked != before {
				t.Errorf("it has asked for %d URLs", asked-before)
			}
			tr.say(1, shard, true)
			nodes := []int{0, 1, 2}
			if wiped {
				nodes = nodes[1:]
			}
			var all []<-chan error
			for _, n := range nodes {
				_, over := tr.start(n)
				all = append(all, over)
			}
			tr.ends(all...)
			if wiped {
				tr.ends(first)
			}
			tr.same(1)
		})
	}
}

// forgets resets a file to its state before its node followed a stop.
func (tr *terrain) forgets(path string) {
	tr.t.Helper()
	run := tr.lastRun(path)
	run.Status, run.End, run.Finished = schema.RunRunning, schema.End{}, time.Time{}
	store := crawltest.Open(tr.t, path)
	err := store.Update(func(tx *kv.Tx) error { return errors.Join(tx.Runs.Put(run), tx.Meta.Put("stop", nil)) })
	if err := errors.Join(err, store.Close()); err != nil {
		tr.t.Fatal(err)
	}
}

// asks returns how many hosts a node has requested.
func (tr *terrain) asks(name string) (n int) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	for _, nodes := range tr.asked {
		if nodes[name] {
			n++
		}
	}
	return n
}

// Whenever the shard comes back while the run is being ended without it, nothing is lost: either it is held again
// and the run continues, or it waits for the other nodes, which have stopped.
func TestStopWithoutWhoComesBack(t *testing.T) {
	t.Parallel()
	tr, conn, shard, ended := gone(t, 53)
	told := make(chan error, 1)
	go func() { told <- tr.stops(conn, shard) }()
	_, third := tr.start(2)
	all := []<-chan error{ended[0], ended[1], third}
	switch err := <-told; {
	case err == nil:
		tr.interrupted(shard, ended[0], ended[1])
		for n := range 2 {
			_, all[n] = tr.start(n)
		}
	case !errors.As(err, new(*lease.HeldError)):
		t.Fatal(err)
	}
	tr.ends(all...)
	tr.same(1)
}

// If the hub has lost a stop and learns it again from files, nodes that have come back since do not stop.
func TestStopIsPast(t *testing.T) {
	t.Parallel()
	tr, conn, shard, ended := gone(t, 56)
	if err := tr.stops(conn, shard); err != nil {
		t.Fatal(err)
	}
	tr.interrupted(shard, ended[0], ended[1])
	tr.lose()
	_, third := tr.start(2)
	tr.until("the shard is back", conn, func(s node.Shard) bool { return s.Number == shard && s.Report != nil })
	_, first := tr.start(0)
	_, second := tr.start(1)
	tr.ends(first, second, third)
	tr.same(1)
}

// A file that was merged without a shard is not the file of a shard, whatever its name.
func TestMergedIsNoShard(t *testing.T) {
	t.Parallel()
	tr := newTerrain(t, web(t, 54), 1, 2)
	store := crawltest.Open(t, tr.file(0, 0))
	part := schema.Part{Terrain: [16]byte{1}, Rule: shard.Version, Shards: 2, Run: 1, Configuration: 1}
	part.Without = schema.ShardsOf(1)
	err := store.Update(func(tx *kv.Tx) error { return tx.Part.Put(part) })
	if err := errors.Join(err, store.Close()); err != nil {
		t.Fatal(err)
	}
	err = tr.run(t.Context(), 0, tr.cfg)
	if !errors.Is(err, node.ErrTerrain) || !strings.Contains(err.Error(), "without shard 1") {
		t.Error(err)
	}
}

// If the hub loses everything before all nodes have read that the run ends, the command that ended it writes that
// again.
func TestStopWithoutAndHubIsLost(t *testing.T) {
	t.Parallel()
	tr, conn, shard, ended := gone(t, 55)
	told := make(chan error, 1)
	go func() { told <- tr.stops(conn, shard) }()
	left := ended[1]
	var first error
	select {
	case first = <-ended[0]:
	case first = <-ended[1]:
		left = ended[0]
	}
	if !errors.As(first, new(*crawl.StopError)) {
		t.Fatal(first)
	}
	tr.lose()
	tr.interrupted(shard, left)
	if err := <-told; err != nil && !errors.Is(err, node.ErrNone) { // no node is left that knows the terrain
		t.Errorf("who told it: %v", err)
	}
	tr.say(0, shard, true)
	tr.say(1, shard, true)
}
