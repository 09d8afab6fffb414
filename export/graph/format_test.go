package graph_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/export/atomicfile"
	"github.com/sumi-ripple/ripple/export/graph"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
)

func levels() []export.Level {
	return []export.Level{export.LevelPage, export.LevelHost, export.LevelEntity, export.LevelSite}
}

func format(t testing.TB, name string) graph.Format {
	t.Helper()
	for _, f := range graph.Formats() {
		if f.Name == name {
			return f
		}
	}
	t.Fatalf("no format %q", name)
	return graph.Format{}
}

// formatsAt returns the formats available at a level.
func formatsAt(level export.Level) (all []graph.Format) {
	for _, f := range graph.Formats() {
		if !f.Drawn || level != export.LevelPage {
			all = append(all, f)
		}
	}
	return all
}

// TestFormats writes every format at every level, twice, and over foreign files.
func TestFormats(t *testing.T) {
	w := terrain(t)
	for _, level := range levels() {
		g := graphAt(t, w, export.Options{Level: level, All: true})
		for _, f := range formatsAt(level) {
			t.Run(f.Name+"/"+level.String(), func(t *testing.T) {
				dir := t.TempDir()
				path := filepath.Join(dir, "odd name?#%20")
				for range 2 {
					if err := f.Write(t.Context(), path, g, graph.Options{}); err != nil {
						t.Fatal(err)
					}
				}
				before := contents(t, path)
				foreign := path
				if f.Folder() {
					foreign = filepath.Join(path, "nodes.txt")
				}
				if err := os.WriteFile(foreign, []byte("precious"), 0o644); err != nil {
					t.Fatal(err)
				}
				if err := f.Write(t.Context(), path, g, graph.Options{}); !errors.Is(err, atomicfile.ErrForeign) {
					t.Errorf("over a foreign one: %v", err)
				}
				if err := f.Write(t.Context(), path, g, graph.Options{Force: true}); err != nil {
					t.Errorf("forced: %v", err)
				}
				after := contents(t, path)
				if f.Folder() {
					if after["nodes.txt"] != "precious" {
						t.Error("a foreign file is gone")
					}
					delete(after, "nodes.txt")
				}
				if diff := cmp.Diff(before, after); diff != "" {
					t.Errorf("the same graph is written differently:\n%s", diff)
				}
				if entries, _ := os.ReadDir(dir); len(entries) != 1 {
					t.Errorf("left behind: %v", entries)
				}
			})
		}
	}
}

func contents(t *testing.T, path string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(path, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		all[filepath.Base(path)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// elements counts elements and collects the text of an XML document.
func elements(t *testing.T, text []byte) (count map[string]int, attributes map[string][]string) {
	t.Helper()
	count, attributes = map[string]int{}, map[string][]string{}
	d := xml.NewDecoder(bytes.NewReader(text))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return count, attributes
		}
		if err != nil {
			t.Fatalf("%v at byte %d", err, d.InputOffset())
		}
		if e, ok := token.(xml.StartElement); ok {
			count[e.Name.Local]++
			for _, a := range e.Attr {
				attributes[e.Name.Local+" "+a.Name.Local] = append(attributes[e.Name.Local+" "+a.Name.Local], a.Value)
			}
		}
	}
}

// GEXF and GraphML can be read by another parser.
func TestXML(t *testing.T) {
	w := terrain(t)
	for _, level := range levels() {
		g := graphAt(t, w, export.Options{Level: level, All: true})
		links := 0
		if err := g.EachLink(func(*export.Link) error { links++; return nil }); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"gexf", "graphml"} {
			var b bytes.Buffer
			if err := format(t, name).Stream(&b, g); err != nil {
				t.Fatal(err)
			}
			count, attributes := elements(t, b.Bytes())
			if count["node"] != g.Len() || count["edge"] != links || links == 0 {
				t.Errorf("%s %s: %d nodes, %d edges; want %d, %d", name, level, count["node"], count["edge"], g.Len(), links)
			}
			if count["script"] > 0 || count["x"] > 0 {
				t.Errorf("%s %s: text became markup", name, level)
			}
			if name == "gexf" && level != export.LevelPage && (count["position"] != g.Len() || count["color"] != g.Len() ||
				count["size"] != g.Len()) {
				t.Errorf("%s: %d positions for %d nodes", level, count["position"], g.Len())
			}
			if name == "gexf" && level == export.LevelPage {
				values := strings.Join(attributes["attvalue value"], "\n")
				for _, want := range []string{"</node><script>alert(1)</script>", `"><x y='`, "]]>", "a\uFFFDb\uFFFD[31mc\uFFFD",
					"nonchar \uFFFD\uFFFD\uFFFD", "two  lines", "日本語 ünïcode 😀"} {
					if !strings.Contains(values, want) {
						t.Errorf("%q is not there", want)
					}
				}
			}
			for _, want := range []string{"completed", "partial: "} {
				if !bytes.Contains(b.Bytes(), []byte(want)) {
					t.Errorf("%s %s: the metadata lack %q", name, level, want)
				}
			}
		}
	}
}

// At page level nodes.csv has the seventeen columns, in order.
func TestPages(t *testing.T) {
	path := filepath.Join(t.TempDir(), "csv")
	if err := format(t, "csv").Write(t.Context(), path, graphAt(t, terrain(t), export.Options{All: true}),
		graph.Options{}); err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(contents(t, path)["nodes.csv"], "\n")
	want := "timestamp,url,page_type,depth,referrer,http_status,content_type,encoding,content_sha256,content_bytes," +
		"stored_path,etag,last_modified,fetch_latency_ms,retries,proxy_id,metadata,Id,Label,title,"
	if !strings.HasPrefix(rows[0], want) {
		t.Errorf("head %s", rows[0])
	}
	found := false
	for _, row := range rows[1:] {
		found = found || strings.HasPrefix(row, `1768473001,https://a.test/,,0,,200,text/html,utf-8,01`+strings.Repeat("0",
			62)+`,10,,"""tag""",,30,0,http://proxy.test:3128,"{""author"":[""Ada"",""=Eve�""]}",`)
	}
	if !found {
		t.Errorf("no row of https://a.test/ as it should be in\n%s", strings.Join(rows, "\n"))
	}
	if !strings.Contains(contents(t, path)["nodes.csv"], ",1,https://a.test/,,") {
		t.Error("no referrer")
	}
}

// The status of a page that the second run could not request again is left out.
func TestPagesAway(t *testing.T) {
	w := surveytest.New(t, surveytest.Minimal)
	w.Visit("a.test/", nil)
	w.Begin()
	w.Depth("a.test/", 0, 0)
	w.Host("a.test/", func(h *schema.Host) {
		h.RunGivenUp, h.RunGivenUpWhy = schema.GaveUpConnection, schema.Reason{Cause: schema.CauseRefused}
	})
	path := filepath.Join(t.TempDir(), "csv")
	if err := format(t, "csv").Write(t.Context(), path, graphAt(t, w, export.Options{All: true}), graph.Options{}); err != nil {
		t.Fatal(err)
	}
	if text := contents(t, path)["nodes.csv"]; !strings.Contains(text, ",https://a.test/,,0,,,text/html,") {
		t.Errorf("a status in\n%s", text)
	}
}

// A page denied by robots.txt has no visit time, because it was never requested.
func TestPagesDenied(t *testing.T) {
	w := surveytest.New(t, surveytest.Minimal)
	w.Visit("a.test/no", func(v *schema.Visit) {
		*v = schema.Visit{URL: v.URL, Run: v.Run, At: v.At, State: schema.Failed, Length: -1,
			Knew:   schema.FormSet{Shapes: schema.ShapePlain},
			Reason: schema.Reason{Cause: schema.CauseDenied}}
	})
	path := filepath.Join(t.TempDir(), "csv")
	g := graphAt(t, w, export.Options{All: true})
	if err := format(t, "csv").Write(t.Context(), path, g, graph.Options{}); err != nil {
		t.Fatal(err)
	}
	if text := contents(t, path)["nodes.csv"]; !strings.Contains(text, "\n,https://a.test/no,,0,,,,,,,,,,,0,,,") {
		t.Errorf("a time in\n%s", text)
	}
}

// The map knows what the owners of hosts say about training, and of several hosts the strictest.
func TestMapTraining(t *testing.T) {
	w := surveytest.New(t, surveytest.Minimal)
	w.Visit("a.test/", w.Links("b.a.test/", "c.test/"))
	w.Host("a.test/", func(h *schema.Host) { h.Preferences = "robots.txt: Content-Signal: ai-train=yes" })
	w.Host("b.a.test/", func(h *schema.Host) { h.Preferences = "robots.txt: Content-Usage: train-ai=n" })
	for level, want := range map[export.Level]string{
		export.LevelHost: "a.test permitted, b.a.test refused, c.test no preference",
		export.LevelSite: "a.test refused, c.test no preference",
	} {
		m, err := graph.Foremost(graphAt(t, w, export.Options{Level: level, All: true}), 10)
		if err != nil {
			t.Fatal(err)
		}
		var said []string
		for _, n := range m.Nodes {
			said = append(said, n.Name+" "+n.Training)
		}
		slices.Sort(said)
		if got := strings.Join(said, ", "); got != want {
			t.Errorf("by %s: %s, want %s", level, got, want)
		}
	}
}

// Nodes know what hosts answer instead of pages, and of several hosts all of it.
func TestAnswers(t *testing.T) {
	w := surveytest.New(t, surveytest.Minimal+"[[entity]]\ndomain = \"b.a.test\"\nby = \"path-1\"\n")
	w.Visit("a.test/", w.Links("a.test/gone", "b.a.test/x/1", "b.a.test/y/1", "c.test/"))
	w.Visit("a.test/gone", func(v *schema.Visit) { v.Shown = 7 })
	w.Visit("b.a.test/x/1", func(v *schema.Visit) {
		v.State, v.Status, v.Reason = schema.Failed, 403, schema.Reason{Cause: schema.CauseChallenge}
		v.Answer, v.AnswerRule, v.AnswerStatus = schema.AnswerChallenge, "anubis-challenge", 403
	})
	w.Visit("b.a.test/y/1", nil)
	w.Visit("c.test/", func(v *schema.Visit) { v.Title = "c.test is for sale" })
	for name, probe := range map[string]schema.MissingProbe{
		"a.test/": {Run: 1, Status: 200, Shown: 7}, "b.a.test/x/1": {Run: 1, Status: 404}, "c.test/": {},
	} {
		w.Host(name, func(h *schema.Host) { h.Missing, h.Visits = probe, 1 })
	}
	for level, want := range map[export.Level][]string{
		export.LevelPage:   {"a.test/gone soft404", "b.a.test/x/1 challenge", "c.test/ parked"},
		export.LevelHost:   {"a.test soft", "b.a.test honest 1", "c.test title"},
		export.LevelSite:   {"a.test soft 1", "c.test title"},
		export.LevelEntity: {"a.test soft", "b.a.test/x honest 1", "b.a.test/y honest", "c.test title"},
	} {
		g := graphAt(t, w, export.Options{Level: level, All: true})
		var got []string
		err := g.EachNode(func(n *export.Node) error {
			line := ""
			for _, c := range g.NodeColumns() {
				if v := c.Of(n); slices.Contains([]string{"answer", "missing_pages", "walled", "parked"}, c.Name) {
					if line += " " + v.Text; v.Count > 0 {
						line += " " + strconv.FormatInt(v.Count, 10)
					}
				}
			}
			if fields := strings.Fields(line); len(fields) > 0 {
				got = append(got, strings.TrimPrefix(n.Name, "https://")+" "+strings.Join(fields, " "))
			}
			return nil
		})
		slices.Sort(got)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("by %s, %v (-want +got):\n%s", level, err, diff)
		}
	}
}

func TestNeo4j(t *testing.T) {
	path := filepath.Join(t.TempDir(), "csv")
	g := graphAt(t, terrain(t), export.Options{Level: export.LevelHost, All: true})
	if err := format(t, "csv").Write(t.Context(), path, g, graph.Options{Neo4j: true}); err != nil {
		t.Fatal(err)
	}
	all := contents(t, path)
	for name, want := range map[string]string{
		"nodes.csv": "id:ID,label,:LABEL,title,class,depth:long,state,hosts:long,pages:long,visited:long,first_run:long," +
			"last_run:long,degree:long,in_degree:long,out_degree:long,trust:double,pagerank:double,harmonic:double,component:long," +
			"community:long,x:double,y:double,tags,note,preferences,wall,missing_pages,walled:long,parked\n5,q.test,Host,,quality,1,",
		"edges.csv": ":START_ID,:END_ID,:TYPE,weight:long,pages:long,editorial:long,first_run:long,last_run:long," +
			"sitewide:long\n" +
			"1,2,LINKS,",
	} {
		if !strings.HasPrefix(all[name], want) {
			t.Errorf("%s:\n%s", name, all[name])
		}
	}
}

// Tables without rows have the same columns as others.
func TestNoRows(t *testing.T) {
	heads := func(opts export.Options) map[string]string {
		path := filepath.Join(t.TempDir(), "csv")
		if err := format(t, "csv").Write(t.Context(), path, graphAt(t, terrain(t), opts), graph.Options{}); err != nil {
			t.Fatal(err)
		}
		all := contents(t, path)
		return map[string]string{
			"nodes.csv": strings.SplitAfter(all["nodes.csv"], "\n")[0], "edges.csv": strings.SplitAfter(all["edges.csv"], "\n")[0]}
	}
	for _, level := range []export.Level{export.LevelPage, export.LevelHost} {
		want := heads(export.Options{Level: level, All: true})
		got := heads(export.Options{Level: level, All: true, MinWeight: 1 << 30, Only: 1 << 7}) // no class
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%v: %s", level, diff)
		}
	}
}

// TestPruned draws more links than fit in a picture.
func TestPruned(t *testing.T) {
	if os.Getenv("RIPPLE_CI") != "1" {
		t.Skip("takes seconds: with RIPPLE_CI=1 only")
	}
	g := graphAt(t, wide(t, 1200, 1200, 90), export.Options{Level: export.LevelHost})
	var b bytes.Buffer
	if err := format(t, "gexf").Stream(&b, g); err != nil {
		t.Fatal(err)
	}
	count, _ := elements(t, b.Bytes())
	p, err := g.Picture()
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("pruned: the %d heaviest of %d links are shown", export.MaxPicture, export.MaxPicture+p.Left)
	if p.Left == 0 || count["edge"] != export.MaxPicture || !bytes.Contains(b.Bytes(), []byte(want)) {
		t.Errorf("%d edges, %d left out; want %q", count["edge"], p.Left, want)
	}
	b.Reset()
	if err := format(t, "graphml").Stream(&b, g); err != nil {
		t.Fatal(err)
	}
	if count, _ := elements(t, b.Bytes()); count["edge"] != export.MaxPicture+p.Left {
		t.Errorf("GraphML has %d edges; want all", count["edge"])
	}
}
