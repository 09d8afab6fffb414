package crawl

import (
	"errors"
	"path/filepath"
	"slices"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/shard"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// mergedDigest merges the shards into one file, which must be as good as that of one crawl, and
// returns its digest.
func (p *paperTerrain) mergedDigest() string {
	var files []string
	for _, n := range p.r.Perm(len(p.shards)) {
		files = append(files, p.shards[n].path)
		if p.shards[n].lost {
			p.replaced(p.shards[n].path)
		}
	}
	return crawltest.Merge(p.t, filepath.Join(p.t.TempDir(), "merged.bolt"), files)
}

// replaced marks a file as one that replaces a lost one, as a shard's recreation does: others may have been told what
// only the lost one contained.
func (p *paperTerrain) replaced(path string) {
	store := crawltest.Open(p.t, path)
	err := store.Update(func(tx *kv.Tx) error {
		return tx.Meta.Put(kv.MetaRecreatedAt, []byte("2026-01-02T03:04:05Z"))
	})
	if err := errors.Join(err, store.Close()); err != nil {
		p.t.Fatal(err)
	}
}

// mergedWithout merges some of the shards into one file, which must be consistent. Their pages have
// the depths that they have in the whole map; nil: unknown.
func (p *paperTerrain) mergedWithout(depths map[string]near) {
	var files []string
	var without []int
	for i, n := range p.r.Perm(len(p.shards)) {
		if i == 0 || p.r.IntN(2) == 0 {
			files = append(files, p.shards[n].path)
		} else {
			without = append(without, n)
		}
	}
	if without == nil {
		return
	}
	p.partial++
	path := filepath.Join(p.t.TempDir(), "partial.bolt")
	crawltest.Merge(p.t, path, files, without...)
	rule, err := shard.New(len(p.shards))
	if err != nil {
		p.t.Fatal(err)
	}
	seen := map[string]bool{}
	crawltest.EachPage(p.t, path, func(page *survey.Page) {
		missing := slices.Contains(without, rule.Of(page.HostName))
		if foreign := page.State == schema.Foreign; foreign != (missing && page.Class.Visitable()) {
			p.t.Errorf("%s is %s without %v", page.URL, page.State, without)
		}
		if missing || depths == nil {
			return
		}
		want, ok := depths[page.URL]
		if got := (near{int(page.Depth), int(page.Hops), page.Own}); page.InRun != ok || ok && got != want {
			p.t.Errorf("%s is at %v without %v, and at %v with all", page.URL, got, without, want)
		}
		seen[page.URL] = true
	})
	for url := range depths {
		if host := weburl.Host(url); !slices.Contains(without, rule.Of(host)) && !seen[url] {
			p.t.Errorf("%s is missing without %v", url, without)
		}
	}
}
