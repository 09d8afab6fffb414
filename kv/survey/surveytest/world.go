// Package surveytest fills a store with records as a crawl would, so that what is derived from them
// can be tested without a crawl.
package surveytest

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
	"github.com/sumi-ripple/ripple/schema/disk/disktest"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// Minimal is a configuration with one origin. Tests may append keys to its entry, and add tables
// before or after it.
const Minimal = `[user-agent]
crawler-name = "Test"
[[quality]]
domain = "a.test"
seeds = ["https://a.test/"]
`

// Lists is a configuration with a URL of every class: a.test and all below q.test
// are origins, bad.test is blacklisted, and stub.test a stub whose first path
// segments are entities. Tables may be appended.
const Lists = Minimal + `[[quality]]
domain = "*.q.test"
seeds = ["https://q.test/"]
[[blacklist]]
domain = "bad.test"
[[stub]]
domain = "stub.test"
[[entity]]
domain = "stub.test"
by = "path-1"
`

// A World is a store that a test fills, one transaction a step.
type World struct {
	Store  *kv.Store
	Config *config.Config
	Run    schema.Run
	At     time.Time // of the last visit; a second passes with each

	t   testing.TB
	ids map[string]schema.ID
}

// New makes a store with a running run under a configuration.
func New(t testing.TB, text string) *World {
	t.Helper()
	cfg, _, err := config.Parse([]byte(text), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	store, err := kv.Open(filepath.Join(disktest.Folder(t), "state.bolt"), kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	w := &World{t: t, Store: store, Config: cfg, ids: map[string]schema.ID{},
		At: time.Date(2026, 1, 15, 10, 30, 0, 0, time.UTC)}
	w.Update(func(tx *kv.Tx) error { return tx.Runs.PutConfig(cfg.Hash(), cfg.Effective()) })
	w.Begin()
	return w
}

// Update changes the store.
func (w *World) Update(f func(tx *kv.Tx) error) {
	w.t.Helper()
	if err := w.Store.Update(f); err != nil {
		w.t.Fatal(err)
	}
}

// Begin begins the next run in a new generation.
func (w *World) Begin() {
	w.t.Helper()
	w.Update(func(tx *kv.Tx) error {
		generation := w.Store.Generation()
		if w.Run.ID > 0 {
			var err error
			if generation, err = tx.Depths.NewGeneration(); err != nil {
				return err
			}
		}
		w.Run = schema.Run{
			ID: w.Run.ID + 1, Started: w.At, Config: w.Config.Hash(), FirstVisit: w.Store.LastSeq() + 1, Generation: generation,
		}
		return tx.Runs.Put(w.Run)
	})
}

// Change changes the run's record.
func (w *World) Change(f func(run *schema.Run)) {
	w.t.Helper()
	f(&w.Run)
	w.Update(func(tx *kv.Tx) error { return tx.Runs.Put(w.Run) })
}

// Page returns the id of a page, "a.test/x", added if it is new.
func (w *World) Page(name string) schema.ID { return w.URL(schema.KindPage, name, 0) }

// Inlinks stores the in-links of a web graph.
func (w *World) Inlinks(g *schema.Graph, all ...schema.Inlink) {
	w.t.Helper()
	g.Sources = uint64(len(all))
	w.Update(func(tx *kv.Tx) error {
		for i := range all {
			if _, err := tx.Inlinks.Put(&all[i]); err != nil {
				return err
			}
		}
		return tx.Inlinks.PutGraph(g)
	})
}

// URL returns the id of a page or a sitemap, added if it is new.
func (w *World) URL(kind schema.URLKind, name string, referrer schema.ID) schema.ID {
	w.t.Helper()
	if id, ok := w.ids[name]; ok {
		return id
	}
	host, pathQuery := weburl.Split("https://" + name)
	w.Update(func(tx *kv.Tx) error {
		h, ok, err := tx.Hosts.Lookup(host)
		if err == nil && !ok {
			var added *schema.Host
			if added, err = tx.Hosts.Add(host); err == nil {
				h = added.ID
			}
		}
		if err != nil {
			return err
		}
		u := schema.URL{Kind: kind, Host: h, PathQuery: pathQuery, Referrer: referrer, FirstSeen: w.At, FirstRun: w.Run.ID}
		id, err := tx.URLs.Add(u, w.Store.Hash(kind, "https://"+name))
		if err != nil {
			return err
		}
		w.ids[name] = id
		_, err = tx.URLs.AddForm(id, "https://"+name, "https://"+name, false)
		return err
	})
	return w.ids[name]
}

// Depth brings a page into the run.
func (w *World) Depth(name string, depth, hops uint8) schema.ID {
	w.t.Helper()
	id := w.Page(name)
	w.Update(func(tx *kv.Tx) error { tx.Depths.Lower(id, depth, hops); return nil })
	return id
}

// Push puts a page into the line of its host.
func (w *World) Push(name string) {
	w.t.Helper()
	id := w.Page(name)
	w.Update(func(tx *kv.Tx) error {
		h, err := tx.Hosts.At(w.Store.HostOf(id))
		if err == nil {
			err = tx.Frontier.Push(h, 2, id)
		}
		return err
	})
}

// Visit records a visit of a page, processed unless f says otherwise. If the page does not belong
// to the run yet, it does so at depth 0.
func (w *World) Visit(name string, f func(v *schema.Visit)) schema.Seq {
	w.t.Helper()
	id := w.Page(name)
	if d, _ := w.Store.Depth(id); d == kv.NoDepth {
		w.Depth(name, 0, 0)
	}
	w.At = w.At.Add(time.Second)
	v := &schema.Visit{
		URL: id, Run: w.Run.ID, At: w.At, State: schema.Processed, Status: 200, Requests: 1,
		Knew: schema.FormSet{Shapes: schema.ShapePlain}, Form: "https://" + name, ContentType: "text/html",
		Content: schema.Content{Charset: "utf-8"}, Length: 10, ResponseTime: 30 * time.Millisecond,
	}
	if f != nil {
		f(v)
	}
	w.Update(func(tx *kv.Tx) error { _, err := tx.Visits.Add(v); return err })
	return v.Seq
}

// Links are anchors to pages.
func (w *World) Links(names ...string) func(v *schema.Visit) {
	return func(v *schema.Visit) {
		for _, name := range names {
			v.Links = append(v.Links, schema.Link{To: w.URL(schema.KindPage, name, v.URL), Kinds: Kinds(schema.LinkAnchor),
				Anchor: "to " + name})
		}
	}
}

// Redirect makes a visit one that was redirected.
func (w *World) Redirect(to string) func(v *schema.Visit) {
	return func(v *schema.Visit) {
		v.Status, v.Charset, v.RedirectTo = 301, "", w.URL(schema.KindPage, to, v.URL)
		v.Links = []schema.Link{{To: v.RedirectTo, Kinds: Kinds(schema.LinkRedirect), Place: schema.PlaceBody}}
	}
}

// Host changes the host of a page, whose counters become those of the run.
func (w *World) Host(name string, f func(h *schema.Host)) {
	w.t.Helper()
	id := w.Store.HostOf(w.Page(name))
	w.Update(func(tx *kv.Tx) error {
		h, err := tx.Hosts.At(id)
		if err == nil {
			h.Run = w.Run.ID
			f(h)
			tx.Hosts.Put(h)
		}
		return err
	})
}

// Survey reads the store as it is now.
func (w *World) Survey() *survey.Survey {
	w.t.Helper()
	s, err := survey.New(w.Store)
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// Kinds is a set of kinds.
func Kinds(all ...schema.LinkKind) schema.Kinds {
	k := schema.Kinds(0)
	for _, one := range all {
		k = k.Add(one)
	}
	return k
}
