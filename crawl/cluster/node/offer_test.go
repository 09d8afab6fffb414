package node_test

import (
	"context"
	"errors"
	"os"
	"sync"
	"testing"

	"github.com/sumi-ripple/ripple/crawl/cluster/exchange"
	"github.com/sumi-ripple/ripple/crawl/cluster/hub"
	"github.com/sumi-ripple/ripple/crawl/cluster/node"
	"github.com/sumi-ripple/ripple/crawl/crawltest"
)

// fetch returns copies of all shards.
func fetch(t *testing.T, conn *hub.Conn) ([]node.Copied, error) {
	t.Helper()
	copies := node.Copies{Folder: t.TempDir(), Fits: func(int64) error { return nil }}
	_, all, err := copies.Fetch(t.Context(), conn)
	return all, err
}

// After a run, the machines that have files hand them out, but no older copies of them.
func TestOffer(t *testing.T) {
	t.Parallel()
	tr := newTerrain(t, web(t, 5), 1, 2)
	conn := tr.connect()
	if _, err := fetch(t, conn); !errors.Is(err, node.ErrNone) {
		t.Errorf("before there is a terrain: %v", err)
	}
	tr.all()
	older := t.TempDir()
	for n := range 2 {
		text, err := os.ReadFile(tr.file(0, n))
		if err == nil {
			err = os.WriteFile(node.FilePath(older, n), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	tr.all()
	ctx, cancel := context.WithCancel(t.Context())
	var offers sync.WaitGroup
	defer offers.Wait()
	defer cancel()
	offer := func(folder string) { offers.Go(func() { node.Offer(ctx, conn, folder, tr.options.Log) }) }
	offer(older)
	all, err := fetch(t, conn)
	if err != nil || len(all) != 2 {
		t.Fatalf("%+v, %v", all, err)
	}
	for _, one := range all {
		if one.Path != "" || !errors.Is(one.Why, exchange.ErrNobody) || one.Last.Node != tr.name(0) {
			t.Errorf("of the older copies: %+v", one)
		}
	}
	offer(tr.folders[0])
	err = patient(func() error {
		if all, err = fetch(t, conn); err != nil {
			return err
		}
		return errors.Join(all[0].Why, all[1].Why)
	}, exchange.ErrNobody)
	if err != nil {
		t.Fatal(err)
	}
	for n, one := range all {
		got, want := crawltest.Digest(t, one.Path), crawltest.Digest(t, tr.file(0, n))
		if got != want || one.Shard != n || one.Live {
			t.Errorf("%+v has the digest %s, want %s", one, got, want)
		}
	}
}

// A file is no longer handed out once another one of its shard is newer.
func TestOfferedGetsOld(t *testing.T) {
	t.Parallel()
	tr := newTerrain(t, web(t, 5), 1, 1)
	conn := tr.connect()
	tr.all()
	left := t.TempDir()
	if err := os.CopyFS(left, os.DirFS(tr.folders[0])); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var offers sync.WaitGroup
	defer offers.Wait()
	defer cancel()
	offers.Go(func() { node.Offer(ctx, conn, left, tr.options.Log) })
	handed := func(want bool) error {
		all, err := fetch(t, conn)
		if err == nil && (all[0].Path != "") != want {
			err = errHanded
		}
		return err
	}
	if err := patient(func() error { return handed(true) }, errHanded); err != nil {
		t.Fatalf("the newest file: %v", err)
	}
	tr.all()
	if err := patient(func() error { return handed(false) }, errHanded); err != nil {
		t.Errorf("an older file: %v", err)
	}
}

var errHanded = errors.New("not as it should be")
