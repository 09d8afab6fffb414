package node_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/crawl/hub"
	"github.com/sumi-ripple/ripple/crawl/node"
)

// A terrain of which somebody floods a shard with letters, as if they were those of another one,
// and with questions, comes to the same map: what is refused because of that is told again.
func TestFlood(t *testing.T) {
	t.Parallel()
	cfg := web(t, 9, "")
	tr := newTerrain(t, cfg, 2, 3)
	ended := make(chan error, 2)
	for n := range 2 {
		go func() { ended <- tr.run(t.Context(), n, cfg) }()
	}
	tr.works(5)
	conn := tr.connect()
	of, err := node.Look(t.Context(), conn)
	if err != nil {
		t.Fatal(err)
	}
	bucket, err := conn.Bucket(t.Context(), of.ID)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	answered := flood(ctx, bucket.Carrier(), of.ID)
	for range 2 {
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	if n := answered(); n < 100 {
		t.Errorf("%d messages of the flood are answered", n)
	}
	if got, want := tr.united(), alone(t, cfg, 1); got != want {
		t.Errorf("digest %s, want %s", got, want)
	}
}

// flood has shard 1 asked for errands, readings and reports until ctx is done, by more at a time
// than are answered, and returns how many were.
func flood(ctx context.Context, carrier *hub.Carrier, terrain [16]byte) (answered func() int) {
	var g errgroup.Group
	counts := make([]int, 200)
	for i := range counts {
		g.Go(func() error {
			for n := 0; n < 100 && ctx.Err() == nil; n++ {
				lane, message := "2", fmt.Appendf(nil, `{"terrain":%q,"from":2,"to":1,"opening":%[1]q,"run":1,"configuration":1,`+
					`"errand":{"id":%d,"url":"https://nobody.test/"}}`, base64.StdEncoding.EncodeToString(terrain[:]), i<<20+n)
				if i%4 == 0 {
					lane, message = []string{"R", "S"}[n%2], nil
				}
				if _, err := carrier.Ask(ctx, lane, 1, message); err == nil {
					counts[i]++
				}
			}
			return nil
		})
	}
	return func() (n int) {
		_ = g.Wait() // none fails
		for _, count := range counts {
			n += count
		}
		return n
	}
}
