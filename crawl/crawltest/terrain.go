package crawltest

import (
	"errors"
	"testing"

	"github.com/sumi-ripple/ripple/crawl/webtest"
	"github.com/sumi-ripple/ripple/kv/merge"
	"github.com/sumi-ripple/ripple/schema"
)

// Sites adds a web of 16 small sites that link to each other, with about the given number of pages
// each.
func Sites(s *webtest.Server, seed uint64, pages int) {
	s.Generate(seed, webtest.GenConfig{Domain: "test", Hosts: 16, Pages: pages, Links: 8, Size: 2000, Leave: 0.4,
		Redirects: 0.15, Dead: 0.05})
}

// SeedsOfSites are tables that name sites of [Sites], for the end of a configuration.
const SeedsOfSites = `[[quality]]
domain = "h0.test"
seeds = ["https://h0.test/"]
[[quality]]
domain = "h1.test"
seeds = ["https://h1.test/"]
[[stub]]
domain = "h2.test"
`

// Merge merges the files of all shards, except those in without, into a new file, and returns the
// digest of its map. It verifies all files.
func Merge(t testing.TB, path string, files []string, without ...int) (digest string) {
	t.Helper()
	dst := Open(t, path)
	var shards []merge.Shard
	for _, name := range files {
		Verify(t, name)
		shards = append(shards, merge.Shard{Name: name, Store: Open(t, name)})
	}
	err := merge.Stores(t.Context(), shards, schema.ShardsOf(without...), dst, nil)
	if err = errors.Join(err, dst.Close()); err != nil {
		t.Fatal(err)
	}
	for _, s := range shards {
		s.Store.Close()
	}
	Verify(t, path)
	return Digest(t, path)
}
