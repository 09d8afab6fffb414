package node_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl/cluster/node"
)

// moveTo moves a shard with the command.
func (tr *terrain) moveTo(shard int, to string) (node.Moved, error) {
	return node.Move(tr.t.Context(), tr.connect(), shard, to, tr.timing(), func(node.Progress) {})
}

// A shard is moved to a node that runs, and back, and nothing is lost.
func TestMove(t *testing.T) {
	t.Parallel()
	tr := slow(t, 41, 2, 3)
	_, first := tr.start(0)
	_, second := tr.start(1)
	tr.works(10)
	shard := tr.shardOf(0)
	for i, to := range []string{"node 1", "id of 0"} {
		m, err := tr.moveTo(shard, to)
		if err != nil || m.To != tr.name(1-i) {
			t.Fatalf("move to %s: %+v, %v", to, m, err)
		}
		if _, err := os.Stat(tr.file(1-i, shard)); err != nil {
			t.Error(err)
		}
	}
	tr.ends(first, second)
	left, err := filepath.Glob(filepath.Join(tr.folders[1], "shard-*.bolt?*"))
	if err != nil || len(left) != 1 || left[0] != tr.file(1, shard)+".moved" {
		t.Errorf("node 1 has %v, %v", left, err)
	}
	tr.same(1)
}

// A shard whose file is marked waits for the node that has the copy, also when its own node is started again, and when
// the hub has lost everything. It stays where it was if it is moved back before that node has used the copy.
func TestMoveBack(t *testing.T) {
	t.Parallel()
	tr := slow(t, 42, 2, 3)
	endFirst, shard := tr.marked()
	if err := endFirst(); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	tr.lose()
	tr.becomes(0, shard, "")
	_, first := tr.start(0)
	tr.comes(0, shard, "given")
	back := make(chan error)
	go func() { _, err := tr.moveTo(shard, "node 0"); back <- err }()
	for began := time.Now(); time.Since(began) < 2*tr.timing().Watch; {
		if state := tr.stateOf(0, shard); state != "given" {
			t.Fatalf("the shard is %s, without an answer of the node with the copy", state)
		}
		if err := sleep(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	_, second := tr.start(1)
	if err := <-back; err != nil {
		t.Fatal(err)
	}
	tr.comes(0, shard, "crawling")
	if _, err := tr.moveTo(shard, "node 1"); err != nil { // as ever
		t.Error(err)
	}
	tr.ends(first, second)
	tr.same(1)
}

// If the machine whose file is marked is lost, its file can be copied to the node that has the other copy. That node takes
// the shard with it, and the first one does not take it again.
func TestMoveByHandAfterMark(t *testing.T) {
	t.Parallel()
	tr := slow(t, 44, 2, 3)
	endFirst, shard := tr.marked()
	if err := endFirst(); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	text, err := os.ReadFile(tr.file(0, shard))
	if err == nil {
		err = os.WriteFile(tr.file(1, shard), text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	_, first := tr.start(0)
	_, second := tr.start(1)
	tr.comes(1, shard, "crawling")
	tr.comes(0, shard, "moved")
	tr.ends(first, second)
	if left, _ := filepath.Glob(tr.file(1, shard) + ".*"); len(left) > 0 {
		t.Errorf("node 1 still has %v", left)
	}
	tr.same(1)
}

// marked starts two nodes, and moves a shard from the first to the second, which is stopped when it has the copy. It
// returns when the file of the first one is marked.
func (tr *terrain) marked() (endFirst func() error, shard int) {
	tr.t.Helper()
	var endSecond func() error
	away := make(chan error, 1)
	var once sync.Once
	tr.onMove = func(n, _ int, step string) {
		if n == 0 && step == "copied whole" {
			once.Do(func() { away <- endSecond() })
		}
	}
	endFirst, _ = tr.start(0)
	endSecond, _ = tr.start(1)
	tr.works(10)
	shard = tr.shardOf(0)
	ctx, cancel := context.WithCancel(tr.t.Context())
	defer cancel()
	go func() { _, _ = node.Move(ctx, tr.connect(), shard, "node 1", tr.timing(), func(node.Progress) {}) }()
	if err := <-away; !errors.Is(err, context.Canceled) {
		tr.t.Fatal(err)
	}
	tr.comes(0, shard, "given")
	return endFirst, shard
}

// comes waits until a shard is in a state at a node.
func (tr *terrain) comes(n, shard int, state string) {
	tr.t.Helper()
	for began := time.Now(); tr.stateOf(n, shard) != state; {
		if time.Since(began) > time.Minute {
			tr.t.Fatalf("shard %d is %q at node %d, not %q", shard, tr.stateOf(n, shard), n, state)
		}
		if err := sleep(tr.t.Context()); err != nil {
			tr.t.Fatal(err)
		}
	}
}

// A move that cannot begin is refused with the reason, and the shard is crawled on.
func TestMoveIsRefused(t *testing.T) {
	t.Parallel()
	tr := slow(t, 43, 2, 3)
	_, first := tr.start(0)
	_, second := tr.start(1)
	tr.works(10)
	shard := tr.shardOf(0)
	if err := os.WriteFile(tr.file(1, shard), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		shard    int
		to, want string
	}{
		{shard, "node 1", "it has a file of this shard"},
		{shard, "node 0", "that machine has it already"},
		{shard, "node 7", "no such machine"},
		{9, "node 1", "there is no such shard"},
	} {
		if _, err := tr.moveTo(tt.shard, tt.to); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("shard %d to %s: %v, want %q", tt.shard, tt.to, err, tt.want)
		}
	}
	if err := os.Remove(tr.file(1, shard)); err != nil {
		t.Fatal(err)
	}
	tr.ends(first, second)
	tr.same(1)
}
