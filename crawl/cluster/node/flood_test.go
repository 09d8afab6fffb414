package node_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/crawl/cluster/hub"
	"github.com/sumi-ripple/ripple/crawl/cluster/node"
)

// If a client floods a shard with questions and with letters in the name of another shard, the terrain yields
// the same map: letters that are refused because of the flood are sent again.
func TestFlood(t *testing.T) {
	t.Parallel()
	tr := slow(t, 9, 2, 3)
	cfg := tr.cfg
	ended := make(chan error, 2)
	for n := range 2 {
		go func() { ended <- tr.run(t.Context(), n, cfg) }()
	}
	tr.works(5)
	conn := tr.connect()
	bucket, id := tr.bucket(conn)
	paused := func(paused bool) {
		t.Helper()
		if err := patient(func() error { _, err := node.Pause(t.Context(), conn, paused); return err }); err != nil {
			t.Fatal(err)
		}
	}
	paused(true) // otherwise the run might be over before the flood begins
	ctx, cancel := context.WithCancel(t.Context())
	answered, dry := flood(ctx, bucket.Carrier(), id)
	for began := time.Now(); answered() < 100; {
		if time.Since(began) > time.Minute {
			t.Fatalf("%d messages of the flood are answered", answered())
		}
		if err := sleep(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	paused(false)
	for range 2 {
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	dry()
	if got, want := tr.merged(), alone(t, cfg, 1); got != want {
		t.Errorf("digest %s, want %s", got, want)
	}
}

// flood sends errands and requests for readings and reports to shard 1 until ctx is done, more at a time than are
// answered. answered returns the number of answers; dry waits for the end of the flood.
func flood(ctx context.Context, carrier *hub.Carrier, terrain [16]byte) (answered func() int64, dry func()) {
	var g errgroup.Group
	var count atomic.Int64
	for i := range 200 {
		g.Go(func() error {
			for n := 0; n < 100 && ctx.Err() == nil; n++ {
				lane, message := "2", fmt.Appendf(nil, `{"terrain":%q,"from":2,"to":1,"opening":%[1]q,"run":1,`+
					`"configuration":1,"errand":{"id":%d,"url":"https://nobody.test/"}}`,
					base64.StdEncoding.EncodeToString(terrain[:]), i<<20+n)
				if i%4 == 0 {
					lane, message = []string{"R", "S"}[n%2], nil
				}
				if _, err := carrier.Ask(ctx, lane, 1, message); err == nil {
					count.Add(1)
				}
			}
			return nil
		})
	}
	return count.Load, func() { _ = g.Wait() } // none fails
}
