package node

import (
	"context"
	"encoding/json"
	"path/filepath"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl/cluster/hub"
	"github.com/sumi-ripple/ripple/crawl/cluster/lease"
	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/schema"
)

// TestLookAtSilence looks at many shards whose nodes receive questions and do not answer, like those of a halted
// machine. That takes no longer than waiting for one of them.
func TestLookAtSilence(t *testing.T) {
	t.Parallel()
	const shards = 40
	server, err := hub.Start(hub.Options{
		Open: true, Fresh: true, Listen: crawltest.Address(t), Store: filepath.Join(t.TempDir(), "hub"), Log: crawltest.Log(t),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	conn, err := hub.Connect(t.Context(), hub.Dial{URL: server.URL(), Node: "one", Log: crawltest.Log(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	bucket := silentShards(t, conn, shards)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for n := range shards {
		go bucket.Serve(ctx, hub.Post{
			Shard: n, Opening: schema.Opening{1}, Held: func() bool { return true }, Lanes: map[string]int{forReport: maxQuestions},
			Answer: func(ctx context.Context, _ string, _ []byte) ([]byte, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			},
		})
	}
	began := time.Now()
	seen, err := Look(t.Context(), conn)
	if err != nil || len(seen.Shards) != shards || seen.Shards[shards-1].Node != "one" || seen.Shards[0].Report != nil {
		t.Fatalf("%+v, %v", seen, err)
	}
	if took := time.Since(began); took > 2*lookTime {
		t.Errorf("it took %v", took)
	}
}

// silentShards gives the hub a terrain in which one node holds all shards.
func silentShards(t *testing.T, conn *hub.Conn, shards int) *hub.Bucket {
	t.Helper()
	c := newCharter(shards, map[string]string{"a.b": "1"})
	c.Terrain, c.Run = make([]byte, 16), 1
	c.Terrain[0] = 1
	c.Made = true
	directory, err := conn.Bucket(t.Context(), [16]byte{})
	if err != nil {
		t.Fatal(err)
	}
	r := registry{bucket: directory, timing: lease.Of(25 * time.Second)}
	if _, err := r.change(t.Context(), func(*charter) (*charter, error) { return c, nil }); err != nil {
		t.Fatal(err)
	}
	bucket, err := conn.Bucket(t.Context(), [16]byte(c.Terrain))
	if err == nil {
		_, err = bucket.Session(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	for n := range shards {
		text, err := json.Marshal(map[string]any{"state": "held", "node": "one", "since": time.Now(),
			"opening": append([]byte{1}, make([]byte, len(schema.Opening{})-1)...), "commit": 1, "file": "", "epoch": 0, "random": "r"})
		if err == nil {
			_, err = bucket.Create(t.Context(), hub.Key(n), text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return bucket
}
