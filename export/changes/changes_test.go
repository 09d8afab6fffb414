package changes_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/export/changes"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
)

// two returns two completed runs: c.test changes more than b.test, and an unvisited page of d.test
// becomes known.
func two(t *testing.T) (*survey.Survey, *survey.Diff) {
	t.Helper()
	w := surveytest.New(t, surveytest.Minimal)
	w.Visit("a.test/", w.Links("b.test/", "c.test/", "c.test/x"))
	for _, name := range []string{"b.test/", "c.test/", "c.test/x"} {
		w.Visit(name, nil)
	}
	w.Change(func(r *schema.Run) { r.Status = schema.RunCompleted })
	w.Begin()
	w.Visit("a.test/", w.Links("b.test/", "c.test/", "c.test/x", "d.test/<&_x_"))
	for _, name := range []string{"b.test/", "c.test/", "c.test/x"} {
		w.Visit(name, func(v *schema.Visit) { v.State, v.Status = schema.DeadLink, 404 })
	}
	w.Change(func(r *schema.Run) { r.Status = schema.RunCompleted })
	s := w.Survey()
	d, err := survey.Compare(s, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	return s, d
}

func TestText(t *testing.T) {
	s, d := two(t)
	var b bytes.Buffer
	if err := changes.Text(&b, s, d, changes.Options{Limit: 50}); err != nil {
		t.Fatal(err)
	}
	want := `From run #1 (completed) to run #2 (completed)

       added  removed  changed
pages  1      0        3
links  1      0

Link rot

origin  links checked  dead  newly dead  fixed
a.test  3              3     3           0

Hosts

host             pages added  removed  changed
c.test  changed  0           0     2
b.test  changed  0           0     1
d.test  added    1           0     0

Pages

         page              before         after          what
changed  https://b.test/   processed 200  dead_link 404  state, status
changed  https://c.test/   processed 200  dead_link 404  state, status
changed  https://c.test/x  processed 200  dead_link 404  state, status

1 page that neither run visited is not listed

Links

       from             to                      kind
added  https://a.test/  https://d.test/<&_x_  anchor
`
	if diff := cmp.Diff(strings.Fields(want), strings.Fields(b.String())); diff != "" {
		t.Errorf("(-want +got):\n%s\n%s", diff, b.String())
	}
}

// TestDeadTargets: what is left of the links of an archive, in text and in JSON.
func TestDeadTargets(t *testing.T) {
	w := surveytest.New(t, surveytest.Minimal)
	w.Visit("a.test/", w.Links("a.test/2", "b.test/", "c.test/"))
	w.Visit("a.test/2", w.Links("c.test/"))
	w.Change(func(r *schema.Run) { r.Kind, r.Status = schema.RunImport, schema.RunCompleted })
	w.Begin()
	w.Visit("a.test/", nil)
	for _, name := range []string{"b.test/", "c.test/"} {
		w.Visit(name, func(v *schema.Visit) { v.State, v.Status = schema.DeadLink, 404 })
	}
	w.Change(func(r *schema.Run) { r.Kind, r.Status = schema.RunCrawl, schema.RunCompleted })
	s := w.Survey()
	d, err := survey.Compare(s, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	var text, program bytes.Buffer
	err = errors.Join(changes.Text(&text, s, d, changes.Options{Limit: 1, Markdown: true}), changes.JSON(&program, s, d))
	if err != nil {
		t.Fatal(err)
	}
	want := "## Dead pages to which origins linked\n\n| page | links | now |\n|---|---|---|\n" +
		"| https://c.test/ | 2 | dead_link 404 |\n\nand more; --limit -1 lists all\n"
	if !strings.Contains(text.String(), want) {
		t.Errorf("no %q in\n%s", want, text.String())
	}
	var got struct {
		Dead []struct {
			URL   string
			Links int
			After struct{ State string }
		} `json:"dead_targets"`
	}
	if err := json.Unmarshal(program.Bytes(), &got); err != nil || len(got.Dead) != 2 || got.Dead[1].URL != "https://b.test/" ||
		got.Dead[0].Links != 2 || got.Dead[0].After.State != "dead_link" {
		t.Errorf("%+v, %v, of\n%s", got, err, program.String())
	}
}

func TestMarkdown(t *testing.T) {
	s, d := two(t)
	var b bytes.Buffer
	if err := changes.Text(&b, s, d, changes.Options{Markdown: true, Limit: 2}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"# From run #1", "\n## Hosts\n", "| c.test | changed | 0 | 0 | 2 |\n| b.test |", "and more; --limit -1 lists all",
		`/&lt;&amp;\_x\_ | anchor |`,
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	if strings.Contains(b.String(), "| - | - |") || strings.Contains(b.String(), "d.test |") {
		t.Errorf("a row beyond the limit, or of which nothing is known:\n%s", b.String())
	}
}

// JSON and GEXF can be read back, and contain every page.
func TestPrograms(t *testing.T) {
	s, d := two(t)
	var b bytes.Buffer
	if err := changes.JSON(&b, s, d); err != nil {
		t.Fatal(err)
	}
	var all struct {
		Pages, Links []struct{ URL string }
	}
	if err := json.Unmarshal(b.Bytes(), &all); err != nil || len(all.Pages) != 4 || len(all.Links) != 1 {
		t.Errorf("%v, %d pages, %d links; want 4 and 1:\n%s", err, len(all.Pages), len(all.Links), b.String())
	}
	b.Reset()
	if err := changes.GEXF(&b, s, d); err != nil {
		t.Fatal(err)
	}
	if !changes.IsOurs(b.Bytes()) {
		t.Error("the graph is not known as ours")
	}
	count := map[string]int{}
	for dec := xml.NewDecoder(&b); ; {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := token.(xml.StartElement); ok {
			count[e.Name.Local]++
		}
	}
	if count["node"] != 5 || count["edge"] != 1 || count["color"] != 6 {
		t.Errorf("%d nodes, %d edges, %d colours; want 5, 1, 6", count["node"], count["edge"], count["color"])
	}
}

// Text and JSON give a wall its own status, not that of the page that stands.
func TestStatusOfWalls(t *testing.T) {
	w := surveytest.New(t, surveytest.Minimal)
	for i, answer := range []func(v *schema.Visit){
		nil,
		func(v *schema.Visit) {
			v.Stand, v.Unchanged = w.Store.Latest(v.URL), true
			v.Answer, v.AnswerRule, v.AnswerStatus = schema.AnswerChallenge, "anubis-challenge", 403
		},
		func(v *schema.Visit) { v.State, v.Status = schema.DeadLink, 404 },
	} {
		if i > 0 {
			w.Begin()
		}
		w.Visit("a.test/", w.Links("a.test/x"))
		w.Visit("a.test/x", answer)
		w.Change(func(r *schema.Run) { r.Status = schema.RunCompleted })
	}
	s := w.Survey()
	d, err := survey.Compare(s, 2, 3)
	if err != nil {
		t.Fatal(err)
	}
	var text, b bytes.Buffer
	err = errors.Join(changes.Text(&text, s, d, changes.Options{Limit: 50}), changes.JSON(&b, s, d))
	if err != nil || !strings.Contains(text.String(), "challenge 403  dead_link 404") {
		t.Errorf("%v\n%s", err, text.String())
	}
	var all struct {
		Pages []struct {
			Before, After struct {
				Status       int    `json:"status_code"`
				Answer       string `json:"answer"`
				AnswerStatus int    `json:"answer_status_code"`
			}
		}
	}
	if err := json.Unmarshal(b.Bytes(), &all); err != nil || len(all.Pages) != 1 {
		t.Fatalf("%v:\n%s", err, b.String())
	}
	if p := all.Pages[0]; p.Before.Status != 200 || p.Before.Answer != "challenge" || p.Before.AnswerStatus != 403 ||
		p.After.AnswerStatus != 0 {
		t.Errorf("%+v", p)
	}
}

// The ends of links are drawn as the two runs saw them, not as a later run did.
func TestGEXFOfOlderRuns(t *testing.T) {
	w := surveytest.New(t, surveytest.Minimal)
	end := func() { w.Change(func(r *schema.Run) { r.Status = schema.RunCompleted }) }
	w.Visit("a.test/", w.Links("b.test/"))
	w.Visit("b.test/", w.Links("c.test/"))
	end()
	w.Begin()
	w.Visit("a.test/", w.Links("b.test/", "c.test/"))
	end()
	w.Begin()
	for _, name := range []string{"a.test/", "b.test/", "c.test/"} {
		w.Visit(name, func(v *schema.Visit) { v.State, v.Status = schema.DeadLink, 404 })
	}
	end()
	s := w.Survey()
	d, err := survey.Compare(s, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := changes.GEXF(&b, s, d); err != nil {
		t.Fatal(err)
	}
	for url, answer := range map[string]string{"https://a.test/": "processed 200", "https://c.test/": "-"} {
		want := fmt.Sprintf(`label="%s"><attvalues><attvalue for="0" value="same"/><attvalue for="1" value="%s"/>`+
			`<attvalue for="2" value="%[2]s"/>`, url, answer)
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %s in\n%s", want, b.String())
		}
	}
}

// A host that the later run did not visit is named in text and JSON.
func TestUnvisited(t *testing.T) {
	w := surveytest.New(t, surveytest.Minimal)
	w.Visit("a.test/", w.Links("b.test/"))
	w.Visit("b.test/", nil)
	w.Change(func(r *schema.Run) { r.Status = schema.RunCompleted })
	w.Begin()
	w.Visit("a.test/", w.Links("b.test/"))
	w.Change(func(r *schema.Run) { r.Status = schema.RunCompleted })
	s := w.Survey()
	d, err := survey.Compare(s, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	var text, program bytes.Buffer
	if err := errors.Join(changes.Text(&text, s, d, changes.Options{Limit: 5}), changes.JSON(&program, s, d)); err != nil {
		t.Fatal(err)
	}
	want := "\nHosts that run #2 did not visit, shown as run #1 saw them\n\nhost\nb.test\n"
	if !strings.Contains(text.String(), want) {
		t.Errorf("no %q in\n%s", want, text.String())
	}
	if want := `"hosts_not_visited":["b.test"]`; !strings.Contains(program.String(), want) {
		t.Errorf("no %s in\n%s", want, program.String())
	}
}

// A host whose front page is another site's is listed with what it was and what it is.
func TestChangedHands(t *testing.T) {
	w := surveytest.New(t, surveytest.Minimal)
	w.Visit("b.test/", func(v *schema.Visit) { v.Charset, v.Title = "utf-8", "The Bakery" })
	w.Change(func(r *schema.Run) { r.Status = schema.RunCompleted })
	w.Begin()
	w.Visit("b.test/", w.Redirect("casino.test/"))
	w.Change(func(r *schema.Run) { r.Status = schema.RunCompleted })
	s := w.Survey()
	d, err := survey.Compare(s, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	var text, object bytes.Buffer
	if err := errors.Join(changes.Text(&text, s, d, changes.Options{Limit: 50}), changes.JSON(&object, s, d)); err != nil {
		t.Fatal(err)
	}
	want := "Hosts that have likely changed hands\n\nhost    front page before  after\n" +
		"b.test  The Bakery         redirects to https://casino.test/\n"
	if !strings.Contains(text.String(), want) {
		t.Errorf("the text lacks %q:\n%s", want, text.String())
	}
	want = `"changed_hands":[{"domain":"b.test",` +
		`"before":{"run_id":1,"url":"https://b.test/","title":"The Bakery","redirect_to":""},` +
		`"after":{"run_id":2,"url":"https://b.test/","title":"","redirect_to":"https://casino.test/"}}]`
	if !strings.Contains(object.String(), want) {
		t.Errorf("the object lacks %s:\n%s", want, object.String())
	}
}
