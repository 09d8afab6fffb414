package main

import (
	"context"
	"log/slog"
	"strconv"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/cluster/exchange"
	"github.com/sumi-ripple/ripple/crawl/webtest"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
	"github.com/sumi-ripple/ripple/schema/shard"
)

// pairWeb is two origins in different shards of two. Their pages link to each other's pages, which
// both shards know from the beginning: the shards need not send each other anything, unless there
// is a page that only the other one links to.
func pairWeb(web *webtest.Server, untold bool) {
	for name, other := range map[string]string{"a.test": "https://c.test/", "c.test": "https://a.test/"} {
		h := web.Host(name)
		h.Page("/", "<title>Front</title>"+link("/one", "One")+link(other, "The other")+link("/gone", "Gone"))
		h.Page("/one", "<title>One</title>"+link("/two", "Two")+link(other+"?utm_source="+name, "The other again"))
		h.Page("/two", "<title>Two</title>"+link("/", "Home"))
	}
	if untold {
		web.Host("c.test").Page("/two", link("https://a.test/three", "Three"))
		web.Host("a.test").Page("/three", "<title>Three</title>"+link("/four", "Four"))
		web.Host("a.test").Page("/four", "<title>Four</title>")
	}
}

const pairConfig = `
[[quality]]
domain = "c.test"
seeds = ["https://c.test/"]
`

// scriptShard creates an empty file of a shard.
func scriptShard(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 4 {
		ts.Fatalf("usage: shard FILE SHARD SHARDS TERRAIN")
	}
	var n [3]int
	for i, text := range args[1:] {
		var err error
		n[i], err = strconv.Atoi(text)
		ts.Check(err)
	}
	store, err := kv.Open(ts.MkAbs(args[0]), kv.Options{})
	ts.Check(err)
	defer store.Close()
	ts.Check(store.Update(func(tx *kv.Tx) error {
		return tx.Part.Put(schema.Part{Terrain: [16]byte{byte(n[2])}, Rule: shard.Version, Shard: n[0], Shards: n[1],
			Run: 1, Configuration: 1})
	}))
}

// nowhere loses all letters.
type nowhere struct{}

func (nowhere) Ask(context.Context, int, []byte) ([]byte, error) { return nil, exchange.ErrNobody }

// scriptAlone crawls a shard that cannot reach others, until there is nothing left to do.
func scriptAlone(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: alone FILE CONFIG")
	}
	cfg, _, err := config.Load(ts.MkAbs(args[1]))
	ts.Check(err)
	store, err := kv.Open(ts.MkAbs(args[0]), kv.Options{})
	ts.Check(err)
	defer store.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	part := store.Part()
	ts.Check(store.View(func(tx *kv.Tx) error {
		runs, err := tx.Runs.All()
		part.Run = uint64(len(runs)) + 1
		return err
	}))
	c, _, err := crawl.Begin(ctx, store, crawl.Options{
		Config: cfg, Log: slog.New(slog.DiscardHandler), Shard: &crawl.Shard{Part: part, Carrier: nowhere{}},
	})
	ts.Check(err)
	ended := make(chan error, 1)
	go func() { _, err := c.Run(ctx); ended <- err }()
	for {
		r, err := c.Reading(ctx)
		ts.Check(err)
		if r.Idle && c.Finish(ctx, r) == nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	ts.Check(<-ended)
	ts.Check(c.Complete())
}
