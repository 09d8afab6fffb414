package graph_test

import (
	order "cmp"
	"context"
	"database/sql"
	"encoding/binary"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/export/graph"
	"github.com/sumi-ripple/ripple/export/sqlite"
	"github.com/sumi-ripple/ripple/export/suggest"
	"github.com/sumi-ripple/ripple/export/summary"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
)

// A reading is the data of an output about a host.
type reading struct {
	Trust, PageRank, Harmonic float64
	Community                 int
}

// readings returns the data of each output about every host, and the order in which it lists them.
func readings(t *testing.T, s *survey.Survey, counted export.Counted) (
	said map[string]map[string]reading, order map[string][]string,
) {
	t.Helper()
	dir := t.TempDir()
	said, order = map[string]map[string]reading{}, map[string][]string{}
	add := func(output, host string, r reading) {
		if said[output] == nil {
			said[output] = map[string]reading{}
		}
		said[output][host] = r
		order[output] = append(order[output], host)
	}
	g, err := export.New(s, export.Options{Level: export.LevelHost, Counted: counted})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"gexf", "csv", "jsonl", "parquet", "map"} {
		if err := format(t, name).Write(t.Context(), filepath.Join(dir, name), g, graph.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	readGEXF(t, filepath.Join(dir, "gexf"), func(host string, r reading) { add("gexf", host, r) })
	readCSV(t, filepath.Join(dir, "csv", "nodes.csv"), func(host string, r reading) { add("csv", host, r) })
	readJSONL(t, filepath.Join(dir, "jsonl"), func(host string, r reading) { add("jsonl", host, r) })
	for _, n := range readParquet[scores](t, filepath.Join(dir, "parquet", "nodes.parquet"), "run") {
		add("parquet", n.Label, n.reading())
	}
	readMap(t, filepath.Join(dir, "map"), func(host string, r reading) { add("map", host, r) })
	const ask = "SELECT domain, trust, pagerank, harmonic, community FROM host_metrics JOIN hosts ON id = host_id " +
		"ORDER BY trust DESC, domain"
	if err := sqlite.Write(t.Context(), filepath.Join(dir, "x.db"), s, sqlite.Options{Counted: counted}); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", filepath.Join(dir, "x.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query(ask)
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		var host string
		var r reading
		if err := rows.Scan(&host, &r.Trust, &r.PageRank, &r.Harmonic, &r.Community); err != nil {
			t.Fatal(err)
		}
		add("sqlite", host, r)
	}
	asked, err := sqlite.Open(s)
	if err != nil {
		t.Fatal(err)
	}
	defer asked.Close()
	asked.Count(counted)
	err = asked.Query(context.Background(), ask, func([]string) (func([]any) (bool, error), error) {
		return func(v []any) (bool, error) {
			add("query", v[0].(string), reading{v[1].(float64), v[2].(float64), v[3].(float64), int(v[4].(int64))})
			return true, nil
		}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	m, err := graph.Foremost(g, 5000)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range m.Leading(len(m.Nodes)) {
		n := m.Nodes[i]
		add("desk", n.Name, reading{n.Trust, n.PageRank, n.Harmonic, n.Community})
	}
	return said, order
}

func readGEXF(t *testing.T, path string, add func(string, reading)) {
	t.Helper()
	var file struct {
		Attributes []struct {
			Class string `xml:"class,attr"`
			All   []struct {
				ID    string `xml:"id,attr"`
				Title string `xml:"title,attr"`
			} `xml:"attribute"`
		} `xml:"graph>attributes"`
		Nodes []struct {
			Label  string `xml:"label,attr"`
			Values []struct {
				For   string `xml:"for,attr"`
				Value string `xml:"value,attr"`
			} `xml:"attvalues>attvalue"`
		} `xml:"graph>nodes>node"`
	}
	text, err := os.ReadFile(path)
	if err == nil {
		err = xml.Unmarshal(text, &file)
	}
	if err != nil {
		t.Fatal(err)
	}
	titles := map[string]string{}
	for _, a := range file.Attributes[0].All {
		titles[a.ID] = a.Title
	}
	for _, n := range file.Nodes {
		values := map[string]string{}
		for _, v := range n.Values {
			values[titles[v.For]] = v.Value
		}
		add(n.Label, readingOf(t, values))
	}
}

func readCSV(t *testing.T, path string, add func(string, reading)) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range all[1:] {
		values := map[string]string{}
		for i, name := range all[0] {
			values[name] = row[i]
		}
		add(values["Label"], readingOf(t, values))
	}
}

// scores are the scores of a node in JSON Lines and Parquet.
type scores struct {
	Label     string  `json:"label" parquet:"label"`
	Trust     float64 `json:"trust" parquet:"trust"`
	PageRank  float64 `json:"pagerank" parquet:"pagerank"`
	Harmonic  float64 `json:"harmonic" parquet:"harmonic"`
	Community int64   `json:"community" parquet:"community"`
}

func (s *scores) reading() reading { return reading{s.Trust, s.PageRank, s.Harmonic, int(s.Community)} }

func readJSONL(t *testing.T, path string, add func(string, reading)) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var n struct {
			Type string `json:"type"`
			scores
		}
		if err := json.Unmarshal([]byte(line), &n); err != nil {
			t.Fatal(err)
		}
		if n.Type == "node" {
			add(n.Label, n.reading())
		}
	}
}

// readMap reads the columns in a map page, the largest nodes first.
func readMap(t *testing.T, path string, add func(string, reading)) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), `id="graph">`)
	data, _, found := strings.Cut(rest, "</script>")
	var m struct {
		Names                                []string
		Trust, PageRank, Harmonic, Community []byte
	}
	if err := json.Unmarshal([]byte(data), &m); err != nil || !found {
		t.Fatalf("the data of the map: %v", err)
	}
	score := func(column []byte, i int) float64 {
		return math.Float64frombits(binary.LittleEndian.Uint64(column[8*i:]))
	}
	largest := make([]int, len(m.Names))
	for i := range largest {
		largest[i] = i
	}
	slices.SortStableFunc(largest, func(i, j int) int { return order.Compare(score(m.Trust, j), score(m.Trust, i)) })
	for _, i := range largest {
		community := int32(binary.LittleEndian.Uint32(m.Community[4*i:]))
		add(m.Names[i], reading{score(m.Trust, i), score(m.PageRank, i), score(m.Harmonic, i), int(community)})
	}
}

func readingOf(t *testing.T, values map[string]string) (r reading) {
	t.Helper()
	for name, to := range map[string]*float64{"trust": &r.Trust, "pagerank": &r.PageRank, "harmonic": &r.Harmonic} {
		f, err := strconv.ParseFloat(values[name], 64)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		*to = f
	}
	n, err := strconv.Atoi(values["community"])
	if err != nil {
		t.Fatal(err)
	}
	r.Community = n
	return r
}

// randomWeb returns a web of hosts whose pages link at random. The seed only decides the order of
// visits; the web is always the same.
func randomWeb(t *testing.T, seed uint64) *surveytest.World {
	w := surveytest.New(t, surveytest.Lists)
	web := rand.New(rand.NewPCG(7, 7))
	names := []string{"a.test/", "q.test/", "x.q.test/"}
	for i := range 40 {
		for page := range 1 + web.IntN(3) {
			names = append(names, fmt.Sprintf("h%02d.test/%d", i, page))
		}
	}
	visits := map[string]func(*schema.Visit){}
	for _, name := range names {
		to := map[string]schema.Link{}
		for range web.IntN(8) {
			to[names[web.IntN(len(names))]] = schema.Link{
				Place: schema.Place(web.IntN(int(schema.PlaceNav) + 1)), Rel: schema.Rel(max(0, web.IntN(5)-3)),
			}
		}
		visits[name] = func(v *schema.Visit) {
			for target, l := range to {
				if target != name {
					w.Links(target)(v)
					v.Links[len(v.Links)-1].Place, v.Links[len(v.Links)-1].Rel = l.Place, l.Rel
				}
			}
			slices.SortFunc(v.Links, func(a, b schema.Link) int { return int(a.To) - int(b.To) })
		}
	}
	rand.New(rand.NewPCG(seed, 1)).Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	for _, name := range names {
		w.Depth(name, 1, 0)
	}
	for _, name := range names {
		w.Visit(name, visits[name])
	}
	w.Change(func(r *schema.Run) { r.Status = schema.RunCompleted })
	return w
}

// All outputs agree on every host, whichever links count.
func TestOneNumber(t *testing.T) {
	s := randomWeb(t, 3).Survey()
	trust := map[export.Counted]float64{}
	for _, counted := range []export.Counted{export.Endorsements, export.AllLinks} {
		said, _ := readings(t, s, counted)
		want := said["sqlite"]
		for output, got := range said {
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%v counted: %s (-SQLite +it):\n%s", counted, output, diff)
			}
		}
		if len(said) != 8 || len(want) < 30 {
			t.Errorf("%d outputs, %d hosts", len(said), len(want))
		}
		found, err := suggest.Find(s, suggest.Options{Limit: 1000, Counted: counted})
		if err != nil || len(found.Discovered) == 0 {
			t.Fatal(err, found)
		}
		for _, c := range found.Discovered {
			if c.Trust != want[c.Name].Trust {
				t.Errorf("%v counted: suggest trusts %s by %v; SQLite by %v", counted, c.Name, c.Trust, want[c.Name].Trust)
			}
		}
		trust[counted] = want["h01.test"].Trust
	}
	if trust[export.Endorsements] == trust[export.AllLinks] {
		t.Error("it makes no difference which links count")
	}
}

// If one web is crawled in two orders, map and GEXF are byte for byte the same, except for runs and
// times.
func TestSamePicture(t *testing.T) {
	first := map[string]string{}
	for seed := range uint64(3) {
		g := graphAt(t, randomWeb(t, seed), export.Options{Level: export.LevelHost})
		for _, name := range []string{"gexf", "map"} {
			path := filepath.Join(t.TempDir(), name)
			if err := format(t, name).Write(t.Context(), path, g, graph.Options{}); err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			masked := regexp.MustCompile(`lastmodifieddate="[^"]*"`).ReplaceAllString(string(text), "")
			if seed == 0 {
				first[name] = masked
			}
			if masked != first[name] {
				t.Errorf("%s of the web crawled in order %d is another", name, seed)
			}
		}
	}
}

// farmed returns a terrain of two honest origins and a link farm of sixty names with one owner; an
// origin links to one of them. All pages of the origins, of a blog and of the farm have a share button
// in their footers.
func farmed(t *testing.T) *surveytest.World {
	w := surveytest.New(t, surveytest.Minimal+"[[quality]]\ndomain = \"z.test\"\nseeds = [\"https://z.test/\"]\n"+
		"[[quality]]\ndomain = \"o1.owner.test\"\nseeds = [\"https://o1.owner.test/\"]\n"+
		"[[quality]]\ndomain = \"o2.owner.test\"\nseeds = [\"https://o2.owner.test/\"]\n")
	visit := func(page string, links ...string) {
		w.Depth(page, 1, 0)
		w.Visit(page, func(v *schema.Visit) {
			w.Links(append(links, "share.test/button")...)(v)
			v.Links[len(v.Links)-1].Place = schema.PlaceFooter
			slices.SortFunc(v.Links, func(a, b schema.Link) int { return int(a.To) - int(b.To) })
		})
	}
	var farm []string
	for i := range 60 {
		farm = append(farm, fmt.Sprintf("farm%02d.test/", i))
	}
	visit("a.test/", "good.test/", "fair.test/", farm[0])
	visit("z.test/", "good.test/", "fair.test/")
	visit("o1.owner.test/", farm...)
	visit("o2.owner.test/", farm...)
	for i := range 12 {
		visit(fmt.Sprintf("a.test/%d", i), "a.test/")
		visit(fmt.Sprintf("z.test/%d", i), "z.test/")
		visit(fmt.Sprintf("blog.test/%d", i), "good.test/")
	}
	for i, name := range farm {
		visit(name, append(slices.Clone(farm[:i]), farm[i+1:]...)...)
	}
	visit("good.test/", "fair.test/")
	visit("fair.test/", "good.test/")
	w.Depth("share.test/button", 1, 0)
	w.Change(func(r *schema.Run) { r.Status = schema.RunCompleted })
	return w
}

// By default, the hosts of a link farm and a share button rank below hosts that origins endorse, in all
// outputs. By all links they would lead.
func TestFarmLeadsNothing(t *testing.T) {
	s := farmed(t).Survey()
	bad := regexp.MustCompile(`farm|share`)
	_, order := readings(t, s, export.Endorsements)
	for output, hosts := range order {
		if leading := strings.Join(hosts[:4], " "); bad.MatchString(leading) {
			t.Errorf("%s: %s lead", output, leading)
		}
	}
	found, err := suggest.Find(s, suggest.Options{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	if first := found.Discovered[0].Name + " " + found.Discovered[1].Name; bad.MatchString(first) || found.Origins != 3 {
		t.Errorf("suggest of %d origins: %s", found.Origins, first)
	}
	for _, c := range found.Discovered {
		if strings.HasPrefix(c.Name, "farm") && c.Votes > 2 || c.Name == "share.test" && c.Votes > 0 {
			t.Errorf("%s has the votes of %d origins", c.Name, c.Votes)
		}
	}
	var b strings.Builder
	if err := summary.Write(&b, s, "v1", export.Endorsements); err != nil {
		t.Fatal(err)
	}
	for _, list := range []string{"## Domains by Endorsing Origins\n", "## Pages by Endorsing Origins\n"} {
		_, rest, _ := strings.Cut(b.String(), list)
		if lines := strings.Split(rest, "\n"); bad.MatchString(strings.Join(lines[3:5], "")) {
			t.Errorf("%s%s", list, strings.Join(lines[1:6], "\n"))
		}
	}
	said, _ := readings(t, s, export.AllLinks)
	if all := said["sqlite"]; all["share.test"].PageRank < all["good.test"].PageRank {
		t.Error("no share button leads if all links count: the attack is none")
	}
}
