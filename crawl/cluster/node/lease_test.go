package node_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl/cluster/node"
)

// Nodes crawl on while the hub is away, or has lost everything, and lose no lease.
func TestHubAwayWithinLease(t *testing.T) {
	t.Parallel()
	tr := slow(t, 40, 2, 2)
	tr.cfg.Crawler.MinimumTimeOnPage = 4 * pace
	tr.long = true
	_, one := tr.start(0)
	_, other := tr.start(1)
	tr.works(4)
	tr.server.Close()
	time.Sleep(3 * tr.timing().Renew)
	tr.works(2)
	tr.open()
	tr.works(2)
	tr.lose()
	tr.ends(one, other)
	if tr.lapsed() {
		t.Error("a node has lost a lease")
	}
	tr.same(1)
}

// A node that has another lease is refused, and the terrain keeps its own.
func TestLeaseIsFixed(t *testing.T) {
	t.Parallel()
	tr := slow(t, 41, 2, 1)
	other := *tr.cfg
	other.Cluster.Lease = time.Hour
	end, _ := tr.start(0)
	tr.works(1)
	if err := tr.run(t.Context(), 1, &other); !errors.Is(err, node.ErrLease) {
		t.Errorf("a node with another lease: %v", err)
	}
	conn := tr.connect()
	if _, err := tr.reload(conn, &other); !errors.Is(err, node.ErrLease) {
		t.Errorf("a reload with another lease: %v", err)
	}
	if _, err := node.Recreate(t.Context(), conn, node.Recreation{
		ID: "x", Node: "x", Shards: []int{0}, Config: &other, Timing: tr.timing(),
	}); !errors.Is(err, node.ErrLease) {
		t.Errorf("a shard is recreated with another lease: %v", err)
	}
	if err := end(); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// A node with the file of a shard that was not released says until when it waits, and can be stopped.
func TestWaitsForLease(t *testing.T) {
	t.Parallel()
	tr := slow(t, 42, 2, 1)
	tr.long = true
	end, _ := tr.start(0)
	tr.works(2)
	tr.server.Close()
	if err := end(); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	tr.open()
	tr.move(tr.file(0, 0), tr.file(1, 0))
	ended := make(chan error, 1)
	go func() { ended <- tr.run(t.Context(), 1, tr.cfg) }()
	conn := tr.connect()
	until := func(s node.Shard) bool {
		return s.Waits != nil && s.Report == nil && strings.HasPrefix(s.Waits.Status.Waits, "waiting until ") &&
			strings.Contains(s.Waits.Status.Waits, "node 0")
	}
	tr.until("waits for the lease", conn, until)
	if nodes, silent, err := node.Stop(t.Context(), conn); err != nil || !slices.Equal(nodes, []string{"node 0"}) {
		t.Errorf("stopped: %v, silent: %v, %v", nodes, silent, err)
	}
	<-ended
}
