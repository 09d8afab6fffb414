package graph_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
)

// hostile returns titles and anchors that try to be more than text.
func hostile() []string {
	return []string{
		`=cmd|'/c calc'!A1`, "+1", "-1", "@SUM(A1)", "\t=1", "</node><script>alert(1)</script>", `"><x y='`, "]]>", "&amp;",
		`\"; drop [`,
		"a\x00b\x1b[31mc\x7f", "nonchar \uFFFE\uFFFF\U0001FFFE", "lone \xed\xa0\x80 \xff", "two\r\nlines", "bidi \u202Eevil",
		"comma, \"quote\"; semi",
		" lead and trail ", "NaN", "日本語 ünïcode 😀", "\u2028sep", "'=1", `\N\G\l`, "<b>html</b>", "{\"json\": 1}",
	}
}

// terrain returns a small terrain full of hostile text.
func terrain(t testing.TB) *surveytest.World {
	w := surveytest.New(t, surveytest.Lists)
	names := []string{"b.test/", "b.test/deep?a=1&b=<2>", "bad.test/x", "stub.test/o/r", "stub.test/o/s", "a.test/moved",
		"q.test/"}
	w.Visit("a.test/", func(v *schema.Visit) {
		v.Title, v.ETag, v.SHA256 = "Home", `"tag"`, [32]byte{1}
		v.Facts = []schema.Fact{{Name: "author", Value: "Ada"}, {Name: "author", Value: "=Eve\x00"}}
		v.Proxy = "http://proxy.test:3128"
		w.Links(names...)(v)
		for i := range v.Links {
			v.Links[i].Anchor = hostile()[i]
		}
		v.Links[0].Place = schema.PlaceNav
	})
	for _, name := range names {
		w.Depth(name, 1, 0)
	}
	w.Visit("a.test/moved", w.Redirect("q.test/"))
	for i, title := range hostile() {
		name := "b.test/t" + string(rune('a'+i))
		w.Depth(name, 1, 0)
		w.Visit(name, func(v *schema.Visit) {
			v.Title = title
			w.Links("a.test/", "b.test/", "q.test/")(v)
		})
	}
	w.Change(func(r *schema.Run) {
		r.Status, r.End, r.Finished = schema.RunCompleted, schema.End{Kind: schema.EndFrontier}, w.At
	})
	return w
}

func graphAt(t testing.TB, w *surveytest.World, opts export.Options) *export.Graph {
	t.Helper()
	g, err := export.New(w.Survey(), opts)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// wide returns a terrain with n visited pages that link to d others each. The hosts are used in turn.
func wide(t testing.TB, n, hosts, d int) *surveytest.World {
	w := surveytest.New(t, surveytest.Minimal)
	host := func(i int) string { return fmt.Sprintf("h%d.test", i%hosts) }
	path := func(i int) string { return fmt.Sprintf("/p%d", i/hosts) }
	w.Update(func(tx *kv.Tx) error {
		for i := range hosts {
			if _, err := tx.Hosts.Add(host(i)); err != nil {
				return err
			}
		}
		return nil
	})
	inBatches(w, n, func(tx *kv.Tx, i int) error {
		u := schema.URL{Host: schema.HostID(i%hosts + 1), PathQuery: path(i), FirstSeen: w.At, FirstRun: 1}
		id, err := tx.URLs.Add(u, w.Store.Hash(schema.KindPage, "https://"+host(i)+path(i)))
		tx.Depths.Lower(id, 0, 0)
		return err
	})
	inBatches(w, n, func(tx *kv.Tx, i int) error {
		v := &schema.Visit{
			URL: schema.ID(i + 1), Run: 1, At: w.At, State: schema.Processed, Status: 200, Requests: 1,
			Form: "https://" + host(i) + path(i), Content: schema.Content{Title: "A title"}, ContentType: "text/html",
		}
		for _, to := range ring(i, n, d) {
			v.Links = append(v.Links, schema.Link{To: schema.ID(to + 1), Kinds: surveytest.Kinds(schema.LinkAnchor),
				Anchor: "to " + host(to)})
		}
		_, err := tx.Visits.Add(v)
		return err
	})
	return w
}

// inBatches calls do n times, in commits of moderate size.
func inBatches(w *surveytest.World, n int, do func(tx *kv.Tx, i int) error) {
	const size = 2000
	for first := 0; first < n; first += size {
		w.Update(func(tx *kv.Tx) error {
			for i := first; i < min(n, first+size); i++ {
				if err := do(tx, i); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

// ring returns d ascending numbers below n other than i.
func ring(i, n, d int) []int {
	set := map[int]bool{}
	for j := 1; len(set) < d; j++ {
		if to := (i*31 + j*7919) % n; to != i {
			set[to] = true
		}
	}
	return slices.Sorted(maps.Keys(set))
}
