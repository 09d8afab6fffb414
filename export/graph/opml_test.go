package graph_test

import (
	"bytes"
	"encoding/xml"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/crawl/opml"
	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
)

// An outline is one of an OPML file, as a feed reader sees it.
type outline struct {
	Text string `xml:"text,attr"`
	Type string `xml:"type,attr"`
	Feed string `xml:"xmlUrl,attr"`
	Page string `xml:"htmlUrl,attr"`
}

func outlines(t *testing.T, g *export.Graph) map[string]outline {
	t.Helper()
	var b bytes.Buffer
	if err := format(t, "opml").Stream(&b, g); err != nil {
		t.Fatal(err)
	}
	var read struct {
		Version string    `xml:"version,attr"`
		Title   string    `xml:"head>title"`
		All     []outline `xml:"body>outline"`
	}
	var again []outline
	title := opml.Read(b.Bytes(), "", func(o opml.Outline) {
		again = append(again, outline{Text: o.Text, Feed: o.Feed, Page: o.HTML})
	})
	d := xml.NewDecoder(&b)
	if err := d.Decode(&read); err != nil || read.Version != "2.0" || !strings.Contains(read.Title, "run") {
		t.Fatalf("%+v, %v", read, err)
	}
	all := map[string]outline{}
	if title != read.Title || !slices.EqualFunc(again, read.All, func(a, b outline) bool {
		a.Type = b.Type // a crawl does not need it
		return a == b
	}) {
		t.Errorf("a crawl reads %q, %+v", title, again)
	}
	for _, o := range read.All {
		all[strings.Split(strings.TrimPrefix(o.Page, "https://"), "/")[0]] = o
	}
	if len(all) != len(read.All) || len(all) != g.Len() {
		t.Errorf("%d nodes, %d outlines: %v", g.Len(), len(read.All), all)
	}
	return all
}

// A list names every host with its title, the address that answered and a feed of its front page, also behind a
// redirect of that host.
func TestOPML(t *testing.T) {
	w := surveytest.New(t, surveytest.Lists)
	feeds := func(v *schema.Visit, names ...string) {
		w.Links(names...)(v)
		for i := range v.Links {
			v.Links[i].Kinds = surveytest.Kinds(schema.LinkFeed)
		}
	}
	w.Visit("a.test/", func(v *schema.Visit) {
		v.Title, v.Form = `Ann's "garden" & <more>`, "https://www.a.test/"
		feeds(v, "a.test/comments/feed", "a.test/feeb", "a.test/feed", "a.test/atom")
		v.Links[1].Kinds = surveytest.Kinds(schema.LinkAnchor)
		v.Links = append(v.Links, schema.Link{To: w.URL(schema.KindPage, "b.test/", v.URL), Kinds: surveytest.Kinds(schema.LinkAnchor)},
			schema.Link{To: w.URL(schema.KindPage, "c.test/blog", v.URL), Kinds: surveytest.Kinds(schema.LinkAnchor)})
	})
	for _, name := range []string{"b.test/", "b.test/blog", "c.test/blog"} {
		w.Depth(name, 1, 0)
	}
	w.Visit("b.test/", w.Redirect("b.test/blog"))
	w.Visit("b.test/blog", func(v *schema.Visit) { v.Title = "Ben"; feeds(v, "b.test/blog.rss") })
	w.Visit("c.test/blog", func(v *schema.Visit) { feeds(v, "c.test/rss") })
	w.Update(func(tx *kv.Tx) error {
		_, err := tx.URLs.AddForm(w.Page("b.test/blog.rss"), "https://b.test/blog.rss", "https://www.b.test/blog.rss", true)
		return err
	})
	got := outlines(t, graphAt(t, w, export.Options{Level: export.LevelHost}))
	want := map[string]outline{
		"www.a.test": {`Ann's "garden" & <more>`, "rss", "https://a.test/atom", "https://www.a.test/"},
		"b.test":     {"b.test", "rss", "https://www.b.test/blog.rss", "https://b.test/"},
		"c.test":     {"c.test", "", "", "https://c.test/"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
