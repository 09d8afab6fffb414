package suggest_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/export/suggest"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

// mutual is a terrain in which some pages name each other with rel=me.
func mutual(t *testing.T, lists string) *surveytest.World {
	w := surveytest.New(t, lists)
	me := func(names ...string) func(v *schema.Visit) {
		return func(v *schema.Visit) {
			w.Links(names...)(v)
			for i := range v.Links {
				v.Links[i].Kinds = v.Links[i].Kinds.Add(schema.LinkMe)
			}
		}
	}
	// Two sites, of which one is an origin, and a third that only one of them names.
	w.Visit("a.test/", me("ann.example/", "social.example/@ann", "claimed.example/", "www2.a.test/", "bad.test/"))
	w.Visit("a.test/about", me("ann.example/"))
	w.Visit("ann.example/", me("a.test/"))
	w.Visit("ann.example/links", me("third.example/"))
	w.Visit("third.example/", me("ann.example/links", "ann.example/"))
	w.Visit("claimed.example/", w.Links("a.test/")) // a link, but not of kind me
	w.Visit("www2.a.test/", me("a.test/"))          // of the same site
	// Many people share this host. Its front page belongs to none of them.
	w.Visit("social.example/@ann", me("a.test/"))
	w.Visit("social.example/@ben", me("ben.example/"))
	w.Visit("ben.example/", me("social.example/@ben"))
	w.Change(func(r *schema.Run) { r.Status = schema.RunCompleted })
	return w
}

func find(t *testing.T, w *surveytest.World, limit int) []suggest.Owner {
	t.Helper()
	found, err := suggest.Find(w.Survey(), suggest.Options{Limit: limit})
	if err != nil {
		t.Fatal(err)
	}
	return found.Owners
}

// Hosts of different sites that name each other are one owner, and its block makes one entity of them.
func TestOwners(t *testing.T) {
	w := mutual(t, surveytest.Lists)
	found := find(t, w, 10)
	want := []suggest.Owner{{
		Node:  "a.test",
		Hosts: []string{"a.test", "ann.example", "third.example"},
		Links: []suggest.MeLink{{From: "https://a.test/", To: "https://ann.example/"},
			{From: "https://ann.example/", To: "https://a.test/"},
			{From: "https://ann.example/links", To: "https://third.example/"},
			{From: "https://third.example/", To: "https://ann.example/"}},
	}}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Fatalf("owners (-want +got)\n%s", diff)
	}
	if none := find(t, w, 0); len(none) > 0 {
		t.Errorf("without room: %+v", none)
	}

	block := found[0].Block()
	again := mutual(t, surveytest.Lists+block)
	if left := find(t, again, 10); len(left) > 0 {
		t.Errorf("with %s they are suggested again: %+v", block, left)
	}
	g, err := export.New(again.Survey(), export.Options{Level: export.LevelEntity})
	if err != nil {
		t.Fatal(err)
	}
	hosts := map[string]int{}
	err = g.EachNode(func(n *export.Node) error {
		hosts[n.Name] = n.Hosts
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if hosts["a.test"] != 3 || hosts["ann.example"]+hosts["third.example"] != 0 || hosts["social.example"] != 1 {
		t.Errorf("entities: %v", hosts)
	}
	if _, _, err := config.Parse([]byte(surveytest.Lists+block), "", nil); err != nil {
		t.Error(err)
	}
}

// Hosts join the entity that one of them is part of; hosts of two entities are left as they are.
func TestOwnersOfEntities(t *testing.T) {
	entity := func(domain, with string) string {
		return "[[entity]]\ndomain = \"" + domain + "\"\nby = \"host\"\nwith = [\"" + with + "\"]\n"
	}
	lists := surveytest.Lists + entity("far.example", "ann.example")
	found := find(t, mutual(t, lists), 10)
	if len(found) != 1 || found[0].Node != "far.example" {
		t.Fatalf("owners %+v; want one, of far.example", found)
	}
	again := mutual(t, lists+found[0].Block())
	for _, host := range found[0].Hosts {
		if got := again.Survey().Scope().Entity("https://" + host + "/"); got != "far.example" {
			t.Errorf("with %s the entity of %s is %s", found[0].Block(), host, got)
		}
	}
	if left := find(t, again, 10); len(left) > 0 {
		t.Errorf("they are suggested again: %+v", left)
	}
	if none := find(t, mutual(t, lists+entity("own.example", "third.example")), 10); len(none) > 0 {
		t.Errorf("of two entities: %+v", none)
	}
}
