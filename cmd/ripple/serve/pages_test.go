package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/cmd/ripple/answer"
	"github.com/sumi-ripple/ripple/cmd/ripple/desk"
	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl/control"
	"github.com/sumi-ripple/ripple/kv/scaletest"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
)

// pageQuery parses the parameters of a question for pages.
func pageQuery(t testing.TB, said string) (desk.Query, error) {
	t.Helper()
	params := desk.Route{Params: pageParams(), Path: "pages/list"}
	return params.Parse(&http.Request{URL: &url.URL{RawQuery: said}})
}

// listed asks a table for pages.
func listed(t testing.TB, table *pageTable, said string) *PageList {
	t.Helper()
	q, err := pageQuery(t, said)
	if err != nil {
		t.Fatalf("%s: %v", said, err)
	}
	list, err := table.list(t.Context(), q, "s")
	if err != nil {
		t.Fatalf("%s: %v", said, err)
	}
	return list
}

// idsOf asks a table for the ids of pages.
func idsOf(t testing.TB, table *pageTable, said string) []int64 {
	t.Helper()
	ids := []int64{}
	for _, row := range listed(t, table, "limit=5000&columns=id&"+said).Rows {
		ids = append(ids, row[0].(int64))
	}
	return ids
}

// Every column sorts as its values do: equal ones by id, pages without a value last. The order by
// facts, or by fewer facts of a page, is that of the values in the rows.
func TestPagesSort(t *testing.T) {
	store := scaletest.Open(t, scaletest.Made(t, scaletest.Size{Pages: 600, Links: 2000, Hosts: 20, Runs: 2}))
	s, err := survey.New(store)
	if err != nil {
		t.Fatal(err)
	}
	table := newPageTable(s, store)
	if err := table.countIn(); err != nil {
		t.Fatal(err)
	}
	type row struct {
		id    int64
		value any
	}
	for _, c := range pageColumns() {
		var rows []row
		err := s.EachPage(func(p *survey.Page) error {
			rows = append(rows, row{int64(p.ID), c.of(table, p)})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		known := func(r row) bool { return r.value != nil }
		slices.SortStableFunc(rows, func(a, b row) int {
			switch {
			case !known(a) || !known(b):
				return cmp.Compare(fmt.Sprint(known(b)), fmt.Sprint(known(a)))
			case fmt.Sprintf("%T", a.value) == "string":
				return strings.Compare(a.value.(string), b.value.(string))
			}
			return cmp.Compare(a.value.(int64), b.value.(int64))
		})
		var want, down []int64
		for _, r := range rows {
			want = append(want, r.id)
		}
		n := len(slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return !known(r) }))
		down = slices.Clone(want)
		slices.Reverse(down[:n])
		if diff := gocmp.Diff(want, idsOf(t, table, "sort="+c.Name)); diff != "" {
			t.Errorf("by %s:\n%s", c.Name, diff)
		}
		if diff := gocmp.Diff(down, idsOf(t, table, "desc=1&sort="+c.Name)); diff != "" {
			t.Errorf("by %s, descending:\n%s", c.Name, diff)
		}
	}
}

// The filters select the pages whose rows say so, in any order, and what the survey counts.
func TestPagesFilter(t *testing.T) {
	store := scaletest.Open(t, scaletest.Made(t, scaletest.Size{Pages: 3000, Links: 9000, Hosts: 20, Runs: 2}))
	s, err := survey.New(store)
	if err != nil {
		t.Fatal(err)
	}
	table := newPageTable(s, store)
	counts, err := s.Counts()
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]func(*survey.Page) bool{
		"state=dead_link": func(p *survey.Page) bool { return p.State == schema.DeadLink },
		"class=discovered&state=processed": func(p *survey.Page) bool {
			return p.Class == schema.ClassDiscovered && p.State == schema.Processed
		},
		"status_code=404":  func(p *survey.Page) bool { return p.Status() == 404 },
		"status_code=4xx":  func(p *survey.Page) bool { return p.Status()/100 == 4 },
		"status_code=none": func(p *survey.Page) bool { return p.Status() == 0 },
		"depth=2":          func(p *survey.Page) bool { return p.Depth == 2 },
		"depth=none":       func(p *survey.Page) bool { return p.Depth == 255 },
		"error=404+Not+Found&sort=url": func(p *survey.Page) bool {
			return p.Failure() == "404 Not Found"
		},
		"content_type=none": func(p *survey.Page) bool { return p.Visit == nil || p.Visit.ContentType == "" },
		"content_type=text%2Fhtml&search=1": func(p *survey.Page) bool {
			return p.Visit != nil && p.Visit.ContentType == "text/html" &&
				(strings.Contains(p.URL, "1") || strings.Contains(p.Visit.Title, "1"))
		},
		"error=no+such&state=processed": func(*survey.Page) bool { return false },
		"domain=" + hostOf(t, s, 1):     func(p *survey.Page) bool { return p.Host == 1 },
		"domain=*.test":                 func(p *survey.Page) bool { return strings.HasSuffix(p.HostName, ".test") },
		"domain=nowhere.example":        func(*survey.Page) bool { return false },
	}
	for said, is := range tests {
		var want []int64
		err := s.EachPage(func(p *survey.Page) error {
			if is(p) {
				want = append(want, int64(p.ID))
			}
			return nil
		})
		got := idsOf(t, table, said)
		slices.Sort(got)
		if diff := gocmp.Diff(append([]int64{}, want...), got); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", said, err, diff)
		}
	}
	for kind, n := range counts.Errors {
		if list := listed(t, table, "limit=0&error_kind="+kind); list.Total != n {
			t.Errorf("%s: %d pages are listed, %d counted", kind, list.Total, n)
		}
	}
	for _, run := range s.Runs() {
		if list := listed(t, table, fmt.Sprintf("limit=0&run=%d", run.ID)); list.Total != run.Pages {
			t.Errorf("run %d: %d pages are listed, %d counted", run.ID, list.Total, run.Pages)
		}
	}
	for _, origin := range s.Scope().Origins() {
		var want [4]int // known, visited, missing, not recorded
		err := s.Hosts.Each(func(h *survey.HostReport) error {
			if slices.Contains(s.Scope().OriginsOf(h.Host.Name), slices.Index(originNames(s), origin.Name)) && h.Known > 0 {
				for i, n := range []int{h.Known, h.Visited, h.KnownMissing, h.NotRecorded} {
					want[i] += n
				}
			}
			return nil
		})
		of := func(progress string) int {
			return listed(t, table, "limit=0&quality_origin="+origin.Name+"&progress="+progress).Total
		}
		got := [4]int{of(""), of(progressVisited), of(progressMissing) + want[3], want[3]}
		if got != want || err != nil {
			t.Errorf("%s: %d are listed, %d counted, %v", origin.Name, got, want, err)
		}
	}
	if list := listed(t, table, "limit=0&progress=waiting"); list.Total != counts.Frontier {
		t.Errorf("%d waiting pages are listed, %d counted", list.Total, counts.Frontier)
	}
	choices := listed(t, table, "limit=0&choices=1").Choices
	if !slices.Contains(choices.StatusCode, 404) || !slices.Contains(choices.ContentType, "text/html") ||
		!slices.Contains(choices.Error, "404 Not Found") || !slices.Contains(choices.ErrorKind, "dead_link") ||
		!slices.Contains(choices.Depth, "0") {
		t.Errorf("the choices are %+v", choices)
	}
}

func originNames(s *survey.Survey) (names []string) {
	for _, origin := range s.Scope().Origins() {
		names = append(names, origin.Name)
	}
	return names
}

// The missing pages of hosts of every kind are listed as they are counted: waiting, denied, blocked, broken.
func TestPagesMissing(t *testing.T) {
	w := surveytest.New(t, surveytest.Lists)
	ended := func(name string, state schema.State, why schema.Reason) {
		w.Visit(name, func(v *schema.Visit) { v.State, v.Status, v.Reason = state, why.Status, why })
	}
	w.Visit("a.test/", w.Links("b.test/", "broken.test/", "some.test/", "deny.test/", "waits.test/"))
	w.Depth("waits.test/", 1, 0)
	ended("broken.test/", schema.Failed, schema.StatusReason(503))
	ended("some.test/", schema.Failed, schema.StatusReason(503))
	w.Visit("some.test/well", nil)
	ended("deny.test/", schema.Failed, schema.Reason{Cause: schema.CauseDenied})
	ended("b.test/", schema.Failed, schema.StatusReason(403))
	s := w.Survey()
	var want int
	err := s.Hosts.Each(func(h *survey.HostReport) error {
		want += h.KnownMissing - h.NotRecorded
		return nil
	})
	if list := listed(t, newPageTable(s, w.Store), "limit=0&progress=missing"); list.Total != want || want < 3 || err != nil {
		t.Errorf("%d missing pages are listed, %d counted, %v", list.Total, want, err)
	}
}

// The pages that differ between two runs are listed as they are counted.
func TestPagesOfADiff(t *testing.T) {
	w := surveytest.New(t, surveytest.Minimal)
	finish := func() { w.Change(func(r *schema.Run) { r.Status = schema.RunCompleted }) }
	w.Visit("a.test/", w.Links("a.test/gone", "a.test/same", "a.test/other"))
	for _, name := range []string{"a.test/gone", "a.test/same", "a.test/other"} {
		w.Visit(name, nil)
	}
	finish()
	w.Begin()
	w.Visit("a.test/", w.Links("a.test/same", "a.test/other", "b.test/new"))
	w.Visit("a.test/same", nil)
	w.Visit("a.test/other", func(v *schema.Visit) { v.Title = "another" })
	w.Visit("b.test/new", nil)
	finish()
	s := w.Survey()
	d, err := survey.Compare(s, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	sum, err := d.Sum()
	if err != nil || sum.Came == 0 || sum.Went == 0 || sum.Changed == 0 {
		t.Fatalf("%+v, %v", sum, err)
	}
	table := newPageTable(s, w.Store)
	for change, want := range map[string]int{"came": sum.Came, "went": sum.Went, "changed": sum.Changed} {
		for _, between := range []string{"", "&from=1&to=2"} {
			if list := listed(t, table, "change="+change+between); list.Total != want {
				t.Errorf("%s%s: %d pages are listed, %d counted", change, between, list.Total, want)
			}
		}
	}
	for _, h := range sum.Hosts {
		if list := listed(t, table, "change=came&domain="+h.Name); list.Total != h.Came {
			t.Errorf("%s: %d added pages are listed, %d counted", h.Name, list.Total, h.Came)
		}
	}
}

func hostOf(t *testing.T, s *survey.Survey, id schema.HostID) string {
	t.Helper()
	name, err := s.Hosts.Name(id)
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// titled returns a table of pages with titles.
func titled(t *testing.T, titles ...string) *pageTable {
	t.Helper()
	w := surveytest.New(t, surveytest.Minimal)
	for i, title := range titles {
		w.Visit(fmt.Sprintf("a.test/%d", i), func(v *schema.Visit) { v.Title = title })
	}
	return newPageTable(w.Survey(), w.Store)
}

// manyPages returns a table of three thousand pages, and their number.
func manyPages(t *testing.T) (table *pageTable, n int) {
	t.Helper()
	store := scaletest.Open(t, scaletest.Made(t, scaletest.Size{Pages: 3000, Links: 9000, Hosts: 20}))
	s, err := survey.New(store)
	if err != nil {
		t.Fatal(err)
	}
	table = newPageTable(s, store)
	if err := table.readPages(); err != nil {
		t.Fatal(err)
	}
	return table, len(table.pages)
}

// Text of servers and of users is only ever text. An invalid question is refused.
func TestPagesHostile(t *testing.T) {
	table := titled(t, "Bücher\u202e\x00\x1b[2J", "100%_'; DROP TABLE pages; --", strings.Repeat("Ä", 50_000))
	for said, want := range map[string]int{
		"search=B%C3%9CCHER": 1, "search=%25_%27": 1, "search=%C3%A4%C3%A4": 1, "search=%E2%80%AE": 1, "search=.*": 0,
		"search=https%3A%2F%2Fa.test%2F": 3, "search=%FF": 0, "error=%27+OR+1": 0, "sort=title&desc=1": 3, "offset=2147483647": 3,
	} {
		if list := listed(t, table, said); list.Total != want {
			t.Errorf("%s: %d pages, want %d", said, list.Total, want)
		}
	}
	for _, said := range []string{
		"search=" + strings.Repeat("x", 10_000), "sort=password", "sort=url%3B", "columns=url,password", "columns=,",
		"state=gone", "status_code=x", "status_code=99xx", "depth=255", "depth=-1", "run=7", "run=-1", "offset=-1",
		"limit=5001", "offset=99999999999999999999", "desc=maybe", "quality_origin=nowhere.example", "progress=fast", "change=gone",
		"snapshot=" + strings.Repeat("x", 100), "no=1",
	} {
		q, err := pageQuery(t, said)
		if err == nil {
			_, err = table.list(t.Context(), q, "s")
		}
		if refused := new(control.Error); !errors.As(answerable(err), &refused) || refused.Code != 400 {
			t.Errorf("%.60s: %v", said, err)
		}
	}
	if list := listed(t, table, "offset=3"); len(list.Rows) != 0 || list.Total != 3 {
		t.Errorf("beyond the end: %+v", list)
	}
	if list := listed(t, titled(t), "sort=title&choices=1"); list.Total != 0 || len(list.Rows) != 0 || !list.Whole {
		t.Errorf("without pages: %+v", list)
	}
	if list := listed(t, table, "columns=title,url,title&limit=1"); strings.Join(list.Chosen, " ") != "title url" {
		t.Errorf("the columns are %v", list.Chosen)
	}
}

// A search that takes too long returns what it has found, and says so.
func TestPagesSearchEnds(t *testing.T) {
	table, n := manyPages(t)
	table.patience = -1
	for _, said := range []string{"search=https", "search=https&sort=url"} {
		if list := listed(t, table, said); list.Whole || list.Total == 0 || list.Total >= n {
			t.Errorf("%s: %d of %d pages, whole: %t", said, list.Total, n, list.Whole)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	q, err := pageQuery(t, "search=b.test")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := table.list(ctx, q, "s"); !errors.Is(err, context.Canceled) {
		t.Errorf("of a client that is gone: %v", err)
	}
}

// However many tables are open, few lists are kept, and all are right.
func TestPagesOfManyTables(t *testing.T) {
	table, _ := manyPages(t)
	want := map[int]string{}
	for range 2 {
		for n := range mostLists + 5 {
			got := fmt.Sprint(idsOf(t, table, fmt.Sprintf("search=-%d.html&sort=title&desc=1", n)))
			if want[n] == "" {
				want[n] = got
			}
			if want[n] != got || n > 0 && got == want[n-1] {
				t.Errorf("%d: %s, before %s", n, got, want[n])
			}
		}
	}
	if len(table.lists) > mostLists {
		t.Errorf("%d lists are kept", len(table.lists))
	}
}

// Tables that are read at the same time get what each would get alone.
func TestPagesAskedAtOnce(t *testing.T) {
	path := scaletest.Made(t, scaletest.Size{Pages: 3000, Links: 9000, Hosts: 20, Runs: 2})
	reader := newTerrainReader(statefile.Files{Voice: term.NewVoice(nil)}, path)
	defer reader.Close()
	api, err := desk.NewAPI(stateRoutes(reader), nil, "v")
	if err != nil {
		t.Fatal(err)
	}
	h := reader.answering(api)
	ask := func(said string) (int, string) {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/api/v1/pages/list?"+said, nil))
		return w.Code, w.Body.String()
	}
	var all []string
	for _, filter := range []string{"", "&state=processed", "&search=quin", "&change=changed"} {
		for _, column := range []string{"url", "title", "links_in", "status_code"} {
			all = append(all, "sort="+column+filter)
		}
	}
	type answer struct{ said, text string }
	answers := make(chan answer)
	for _, said := range all {
		go func() {
			for offset := range 3 {
				said := fmt.Sprintf("%s&limit=50&offset=%d", said, 50*offset)
				code, text := ask(said)
				answers <- answer{said, fmt.Sprint(code, text)}
			}
		}()
	}
	got := map[string]string{}
	for range 3 * len(all) {
		a := <-answers
		got[a.said] = a.text
	}
	reader.drop() // what was read for the others
	for said, text := range got {
		code, want := ask(said)
		text, want = unnamed.ReplaceAllString(text, ""), unnamed.ReplaceAllString(fmt.Sprint(code, want), "")
		if code != 200 || text != want {
			t.Errorf("%s: %.300s; alone: %.300s", said, text, want)
		}
	}
}

// unnamed matches the name of a snapshot.
var unnamed = regexp.MustCompile(`"snapshot":\s*"[^"]*"`)

// A list of pages keeps its snapshot while newer ones are read, for a while, and is told when it is
// gone.
func TestPagesKeepTheirSnapshot(t *testing.T) {
	path := scaletest.Made(t, scaletest.Size{Pages: 300, Links: 900, Hosts: 3})
	reader := newTerrainReader(statefile.Files{Voice: term.NewVoice(nil)}, path)
	defer reader.Close()
	read := func() *opened { // as a copy is
		state, err := reader.states.Read(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		state.Path = filepath.Join(t.TempDir(), "crawled.bolt")
		return &opened{Inspector: answer.Inspector{State: state}, at: time.Now(), merged: true, name: fmt.Sprint(time.Now().UnixNano())}
	}
	ask := func(snapshot string) (string, error) {
		q, err := pageQuery(t, "limit=1&snapshot="+snapshot)
		if err != nil {
			t.Fatal(err)
		}
		var v any
		reader.own(t.Context(), false, func() { v, err = reader.of((*opened).answerPages)(t.Context(), q) })
		if err != nil {
			return "", err
		}
		return v.(*PageList).Snapshot, nil
	}
	replace := func(o *opened) {
		reader.retire()
		reader.now = o
	}
	reader.now = read()
	first, err := ask("")
	if err != nil {
		t.Fatal(err)
	}
	replace(read())
	if again, err := ask(first); again != first || err != nil {
		t.Errorf("the older snapshot is answered %s, %v", again, err)
	}
	second, err := ask("")
	if err != nil || second == first {
		t.Errorf("without a snapshot: %s, %v", second, err)
	}
	reader.held.listed = time.Now().Add(-time.Hour)
	for _, old := range []string{first, "forged"} {
		if _, err := ask(old); err == nil || err.(*control.Error).Code != http.StatusGone {
			t.Errorf("a snapshot that is gone: %v", err)
		}
	}
	if reader.held != nil {
		t.Error("an old copy stays open")
	}
	replace(read())
	replace(read()) // nobody lists its pages
	if reader.held == nil || reader.held.name != second {
		t.Errorf("%v is held", reader.held)
	}
}
