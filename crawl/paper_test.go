package crawl

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// paperHead is what every configuration for paper begins with.
const paperHead = `
[crawler]
max-depth = 2
head-check = "never"
sitemaps = "off"
[politeness]
minimum-time-per-address = "0s"
[user-agent]
crawler-name = "T"
`

// newPaper is a crawl of an empty web, under a configuration of more than
// paperHead.
func newPaper(t testing.TB, text string) *paperCrawl {
	t.Helper()
	return &paperCrawl{
		t: t, r: rand.New(rand.NewPCG(1, 2)), cfg: paperParse(t, paperHead+text),
		web:  &paperWeb{links: map[string][]string{}, redirect: map[string]string{}},
		path: filepath.Join(t.TempDir(), "state.bolt"), asked: map[string]int{},
	}
}

func paperParse(t testing.TB, text string) *config.Config {
	t.Helper()
	cfg, _, err := config.Parse([]byte(text), t.TempDir(), os.ReadFile)
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// id returns the id of a page that is known.
func (p *paperCrawl) id(norm string) (id schema.ID) {
	p.t.Helper()
	err := p.store.View(func(tx *kv.Tx) error {
		name, pathQuery := weburl.Split(norm)
		host, _, err := tx.HostByName(name)
		if err == nil {
			id, _, err = tx.Lookup(p.store.Hash(schema.KindPage, norm), host, schema.KindPage, pathQuery)
		}
		return err
	})
	if err != nil || id == 0 {
		p.t.Fatalf("%s is not known (%v)", norm, err)
	}
	return id
}

// addSitemap records a sitemap as read in the present run.
func (p *paperCrawl) addSitemap(norm string, entries ...schema.SitemapEntry) {
	p.t.Helper()
	name, pathQuery := weburl.Split(norm)
	err := p.store.Update(func(tx *kv.Tx) error {
		host, _, err := tx.HostByName(name)
		if err != nil {
			return err
		}
		u := schema.URL{Kind: schema.KindSitemap, Host: host, PathQuery: pathQuery}
		id, err := tx.AddURL(u, p.store.Hash(schema.KindSitemap, norm))
		if err != nil {
			return err
		}
		tx.SetDepth(id, 0, 0)
		_, err = tx.AddVisit(&schema.Visit{
			URL: id, Run: p.rec.run.ID, State: schema.Processed, Status: 200, Requests: 1, Sitemap: entries, Distinct: len(entries),
		})
		return err
	})
	if err != nil {
		p.t.Fatal(err)
	}
}

// complete ends the last run, as when its outputs are in place.
func (p *paperCrawl) complete() {
	p.t.Helper()
	store, err := kv.Open(p.path, kv.Options{})
	if err != nil {
		p.t.Fatal(err)
	}
	defer store.Close()
	err = store.Update(func(tx *kv.Tx) error {
		runs, err := tx.Runs()
		if err != nil {
			return err
		}
		last := runs[len(runs)-1]
		last.Status, last.Walked = schema.RunCompleted, true
		return tx.PutRun(last)
	})
	if err != nil {
		p.t.Fatal(err)
	}
}
