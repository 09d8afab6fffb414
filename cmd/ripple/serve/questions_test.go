package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/cmd/ripple/answer"
	"github.com/sumi-ripple/ripple/cmd/ripple/desk"
	"github.com/sumi-ripple/ripple/crawl/census"
	"github.com/sumi-ripple/ripple/crawl/control"
	"github.com/sumi-ripple/ripple/export/feed"
)

// A fakeCrawl answers with the request itself.
type fakeCrawl struct {
	control.Source
	err error // of every answer
}

func (c *fakeCrawl) status(what string) (census.Status, error) {
	return census.Status{Status: what}, c.err
}

func (c *fakeCrawl) Status(_ context.Context, latest bool) (census.Status, error) {
	return c.status(fmt.Sprintf("latest=%t", latest))
}

func (c *fakeCrawl) Feed(_ context.Context, q FeedQuery) (*feed.Batch, error) {
	line := fmt.Appendf(nil, `"%d %t %d"`, q.Since, q.Brief, q.Last)
	return &feed.Batch{Lines: []json.RawMessage{line}, Next: 9}, c.err
}

func (c *fakeCrawl) Requests(_ context.Context, domain string) (answer.RequestList, error) {
	return answer.RequestList{Domain: domain, Requests: []answer.Request{}}, c.err
}

func (c *fakeCrawl) History(_ context.Context, run int) (answer.History, error) {
	return answer.History{Run: run}, c.err
}

func (c *fakeCrawl) Fetching(context.Context) (answer.Fetching, error) {
	return answer.Fetching{Fetching: 3}, c.err
}

func (c *fakeCrawl) Origins(context.Context) (answer.OriginList, error) {
	return answer.OriginList{Origins: []census.Origin{{Origin: "a.test"}}}, c.err
}

func (c *fakeCrawl) Pause(context.Context) (census.Status, error)   { return c.status("pause") }
func (c *fakeCrawl) Unpause(context.Context) (census.Status, error) { return c.status("unpause") }
func (c *fakeCrawl) Stop(context.Context) (census.Status, error)    { return c.status("stop") }
func (c *fakeCrawl) Reload(context.Context) (census.Status, error)  { return c.status("reload") }

func (c *fakeCrawl) Metrics(http.ResponseWriter, *http.Request) {}

// asked sends a request to a handler, and returns the answer without its line break.
func asked(t *testing.T, h http.Handler, method, what string) string {
	t.Helper()
	w := httptest.NewRecorder()
	if !strings.HasPrefix(what, "/") {
		what = control.Root + what
	}
	h.ServeHTTP(w, httptest.NewRequest(method, what, nil))
	return fmt.Sprint(w.Code, " ", strings.TrimSpace(w.Body.String()))
}

// The control socket answers each question that a crawl answers, and rejects invalid ones.
func TestControlSocket(t *testing.T) {
	h := CrawlHandler(&fakeCrawl{})
	tests := []struct{ method, what, want string }{
		{"GET", "status", `200 {"mode":"crawl","run_id":0,"status":"latest=false"`},
		{"GET", "status?latest=1", `200 {"mode":"crawl","run_id":0,"status":"latest=true"`},
		{"GET", "fetching", `200 {"fetching":3`},
		{"GET", "history?run=3", `200 {"run_id":3`},
		{"GET", "origins", `200 {"origins":[{"quality_origin":"a.test"`},
		{"GET", "feed?since=7", `200 {"lines":["7 false 0"]`},
		{"GET", "feed?since=7&brief=1&last=2", `200 {"lines":["7 true 2"]`},
		{"GET", "feed", `200 {"lines":["18446744073709551615 false 0"]`},
		{"GET", "hosts/A.test:8443/requests", `200 {"domain":"a.test:8443","requests":[]}`},
		{"POST", "pause", `200 {"mode":"crawl","run_id":0,"status":"pause"`},
		{"POST", "unpause", `200 {"mode":"crawl","run_id":0,"status":"unpause"`},
		{"POST", "stop", `200 {"mode":"crawl","run_id":0,"status":"stop"`},
		{"POST", "reload", `200 {"mode":"crawl","run_id":0,"status":"reload"`},
		{"GET", "feed?since=x", `400 {"error":"since must be a number from -1 to 9007199254740992"}`},
		{"GET", "feed?until=3", `400 {"error":"there is no parameter \"until\""}`},
		{"GET", "hosts/a%2Fb/requests", `400 {"error":`},
		{"GET", "stats", `404 {"error":"this crawl does not know \"GET /api/v1/stats\"; ` +
			`it may be another version of ripple"}`},
		{"GET", "unpause", `404 {"error":"this crawl does not know \"GET /api/v1/unpause\"; ` +
			`it may be another version of ripple"}`},
	}
	for _, tt := range tests {
		if got := asked(t, h, tt.method, tt.what); !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s %s is answered %s; want %s...", tt.method, tt.what, got, tt.want)
		}
	}
	for _, q := range questions() {
		path := q.Method + " " + strings.ReplaceAll(q.Path, "{domain}", "")
		named := slices.ContainsFunc(tests, func(tt struct{ method, what, want string }) bool {
			what, _, _ := strings.Cut(tt.what, "?")
			return strings.HasPrefix(tt.want, "200") && (tt.method+" "+what == path ||
				strings.HasSuffix(q.Path, "/requests") && strings.HasSuffix(what, "/requests"))
		})
		if named != (q.crawl != nil) {
			t.Errorf("%s: at the socket %t, tested %t", path, q.crawl != nil, named)
		}
	}
}

// An error of a crawl is sent with its own code.
func TestControlSocketRefuses(t *testing.T) {
	h := CrawlHandler(&fakeCrawl{err: &control.Error{Code: 503, Text: "not yet"}})
	for _, q := range questions() {
		what := strings.ReplaceAll(q.Path, "{domain}", "a.test")
		if got := asked(t, h, q.Method, what); q.crawl != nil && got != `503 {"error":"not yet"}` {
			t.Errorf("%s is answered %s", what, got)
		}
	}
}

// The desk tries the running crawl first, and then the process that reads the state or the desk
// itself.
func TestDeskAsks(t *testing.T) {
	dir, err := os.MkdirTemp("", "desk") // short enough for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	side := &deskSide{&LiveCrawl{Client: &control.Client{State: filepath.Join(dir, "s.bolt")}}, newDeciding("")}
	ask := func(method, what string) string {
		reader := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "the reader") })
		api, err := desk.NewAPI(deskRoutes(side), reader, "v")
		if err != nil {
			t.Fatal(err)
		}
		return asked(t, api, method, what)
	}
	tests := []struct{ method, what, without, with string }{
		{"GET", "stats", "200 the reader", "200 the reader"},
		{"GET", "feed?since=7", "200 the reader", `200 {"lines":["7 false 0"],"next":9,"more":false}`},
		{"GET", "hosts/a.test/requests", "200 the reader", `200 {"domain":"a.test","requests":[]}`},
		{"GET", "/%61pi/v1/h%6Fsts/%61.test%3A8443/requests", "200 the reader",
			`200 {"domain":"a.test:8443","requests":[]}`},
		{"GET", "hosts/%2E/requests", `400 {"error":"domain is missing`, `400 {"error":"domain is missing`},
		{"GET", "hosts/%2E%2e/requests", `400 {"error":"domain is missing`, `400 {"error":"domain is missing`},
		{"GET", "origins", "200 the reader", `200 {"origins":[{"quality_origin":"a.test"`},
		{"GET", "status", `200 {"mode":"file","run_id":0,"status":"unknown"`,
			`200 {"mode":"crawl","run_id":0,"status":"latest=false"`},
		{"GET", "status?latest=1", `400 {"error":"there is no parameter \"latest\""}`,
			`400 {"error":"there is no parameter \"latest\""}`},
		{"GET", "fetching", `200 {"fetching":0,"requests":[],"held":[]}`, `200 {"fetching":3`},
		{"GET", "shown?hosts=xn--mnchen-3ya.test", `200 {"shown":{"xn--mnchen-3ya.test":`, `200 {"shown":{`},
		{"GET", "decisions", `200 {"path":"","reason":"this desk`, `200 {"path":"","reason":"this desk`},
		{"POST", "pause", `409 {"error":"no crawl is running on this state file"}`,
			`200 {"mode":"crawl","run_id":0,"status":"pause"`},
	}
	for _, tt := range tests {
		if got := ask(tt.method, tt.what); !strings.HasPrefix(got, tt.without) {
			t.Errorf("without a crawl %s is answered %s; want %s", tt.what, got, tt.without)
		}
	}
	server, err := control.Listen(side.Client.State, CrawlHandler(&fakeCrawl{}))
	if err != nil {
		t.Fatal(err)
	}
	var g errgroup.Group
	ctx, cancel := context.WithCancel(t.Context())
	g.Go(func() error { return server.Serve(ctx) })
	for _, tt := range tests {
		if got := ask(tt.method, tt.what); !strings.HasPrefix(got, tt.with) {
			t.Errorf("with a crawl %s is answered %s; want %s", tt.what, got, tt.with)
		}
	}
	cancel()
	if err := g.Wait(); err != nil {
		t.Error(err)
	}
}

// Every question is answered, under a name and at a path of its own.
func TestQuestions(t *testing.T) {
	seen := map[string]bool{}
	for _, q := range questions() {
		if q.crawl == nil && q.state == nil && q.desk == nil || q.state != nil && q.desk != nil {
			t.Errorf("%s is answered by nobody, or by two", q.Name)
		}
		if q.crawl != nil && q.state == nil && q.desk == nil {
			t.Errorf("%s is answered by nobody if no crawl is running", q.Name)
		}
		for _, key := range []string{q.Name, q.Method + " " + q.Path} {
			if seen[key] {
				t.Errorf("%s is there twice", key)
			}
			seen[key] = true
		}
	}
}

// A query for visits has the same meaning at all servers.
func TestFeedQuery(t *testing.T) {
	tests := []struct{ since, want uint64 }{
		{0, 0}, {7, 7}, {maxCursor, maxCursor}, {maxCursor + 1, maxCursor}, {1 << 63, maxCursor},
		{feed.Newest, feed.Newest},
	}
	h := CrawlHandler(&fakeCrawl{})
	for _, tt := range tests {
		want := fmt.Sprintf(`200 {"lines":["%d true 5"],"next":9,"more":false}`, tt.want)
		if got := asked(t, h, "GET", FeedQuery{tt.since, true, 5}.String()); got != want {
			t.Errorf("after %d: %s, want %s", tt.since, got, want)
		}
	}
}

// The flags of commands have the defaults of the questions.
func TestDefault(t *testing.T) {
	if a, b := Default("stats", "limit"), Default("suggest", "min_origins"); a != 20 || b != 1 {
		t.Errorf("the defaults are %d and %d", a, b)
	}
}
