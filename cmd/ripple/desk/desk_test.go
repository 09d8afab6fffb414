package desk

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/crawl/control"
	"github.com/sumi-ripple/ripple/schema/config"
)

// TestMain lets the test binary be a reader, or write an export.
func TestMain(m *testing.M) {
	if os.Getenv("DESK_TEST_EXPORT") != "" {
		Report(os.Stdout, "links", 3, 4)
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(1)
	}
	if socket := os.Getenv("DESK_TEST_SOCKET"); socket != "" {
		api, err := NewAPI(testRoutes(), nil, "test")
		if err == nil {
			err = ServeReader(context.Background(), socket, api, os.Stdin, os.Stdout)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

type said struct {
	Text   string `json:"text"`
	Number int    `json:"number"`
	Flag   bool   `json:"flag"`
}

// testRoutes are answered with the request itself.
func testRoutes() []Route {
	params := []Param{
		{Name: "text", Kind: Text, Most: 10, Doc: "a text"},
		{Name: "word", Kind: Text, Words: []string{"one", "two"}, Doc: "a word"},
		{Name: "number", Kind: Number, Default: 5, Least: 1, Most: 9, Doc: "a number"},
		{Name: "flag", Kind: Flag, Doc: "a flag"},
	}
	echo := func(_ context.Context, q Query) (any, error) {
		return said{q.Text("text") + q.Text("word") + q.Text("name"), q.Number("number"), q.Flag("flag")}, nil
	}
	return []Route{
		{Name: "now", Method: http.MethodGet, Path: "now", Params: params, Returns: said{}, Answer: echo},
		{Name: "far", Method: http.MethodGet, Path: "far", Params: params, Returns: said{}, Apart: true, Answer: echo},
		{Name: "named", Method: http.MethodGet, Path: "named/{name}", Returns: said{}, Answer: echo,
			Params: []Param{{Name: "name", Kind: Text, Required: true, Most: 10, Doc: "a name"}}},
		{Name: "needy", Method: http.MethodGet, Path: "needy", Returns: said{}, Answer: echo,
			Params: []Param{{Name: "text", Kind: Text, Required: true, Doc: "a text"}}},
		{Name: "change", Method: http.MethodPost, Path: "change", Returns: said{}, Body: said{},
			Answer: func(_ context.Context, q Query) (any, error) {
				var s said
				return &s, q.Decode(&s)
			}},
		{Name: "wrong", Method: http.MethodGet, Path: "wrong", Returns: said{},
			Answer: func(context.Context, Query) (any, error) { return nil, errors.New("<b>no\x1b[31m") }},
		{Name: "pid", Method: http.MethodGet, Path: "pid", Returns: said{}, Apart: true,
			Answer: func(context.Context, Query) (any, error) { return said{Number: os.Getpid()}, nil }},
		{Name: "large", Method: http.MethodGet, Path: "large", Returns: "", Answer: largeAnswer},
		{Name: "long", Method: http.MethodGet, Path: "long", Returns: said{}, Answer: longAnswer},
		{Name: "conflict", Method: http.MethodGet, Path: "conflict", Returns: said{},
			Answer: func(context.Context, Query) (any, error) {
				return nil, &control.Error{Code: 409, Text: "not now"}
			}},
	}
}

const largeBytes = 64 << 20 // more than fits into the buffers of a connection

func largeAnswer(context.Context, Query) (any, error) {
	return Stream(func(w io.Writer) error {
		_, err := w.Write(bytes.Repeat([]byte(" "), largeBytes))
		return err
	}), nil
}

// longAnswer takes as long as an answer of a reader may.
func longAnswer(ctx context.Context, _ Query) (any, error) {
	select {
	case <-time.After(maxAnswer):
		return said{Text: "at last"}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func testReader() *Reader {
	return &Reader{Command: func(socket string) (*exec.Cmd, error) {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "DESK_TEST_SOCKET="+socket)
		return cmd, nil
	}}
}

const testToken = "0123456789abcdefXYZ"

// A served desk answers until the test ends.
type served struct {
	*Desk
	t    *testing.T
	host string // its address
	over http.RoundTripper
}

func serve(t *testing.T, m config.Monitor) *served {
	t.Helper()
	return serveWith(t, m, &fakeLive{})
}

// serveWith serves a desk that functions prepare before it begins.
func serveWith(t *testing.T, m config.Monitor, live Live, prepare ...func(*Desk)) *served {
	t.Helper()
	d := listening(t, m, live)
	for _, f := range prepare {
		f(d)
	}
	return serveUntil(t, context.Background(), d)
}

// listening returns a desk that does not serve yet.
func listening(t *testing.T, m config.Monitor, live Live) *Desk {
	t.Helper()
	if m.Listen == "" {
		m.Listen = "127.0.0.1:0"
	}
	m.TokenFile = filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(m.TokenFile, []byte(testToken+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	metrics := func(context.Context) ([]byte, error) { return []byte("up 1\n"), nil }
	routes := testRoutes()
	for i := range routes {
		if routes[i].Apart {
			routes[i].Answer = nil // left to the reader
		}
	}
	d, err := Listen(Options{Monitor: m, Routes: routes, Reader: testReader(), Live: live, Version: "test",
		Metrics: metrics, Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// serveUntil serves a desk until the test ends, or ctx is done.
func serveUntil(t *testing.T, ctx context.Context, d *Desk) *served {
	t.Helper()
	ctx, cancel := context.WithCancel(ctx)
	var g errgroup.Group
	g.Go(func() error { return d.Serve(ctx) })
	t.Cleanup(func() {
		cancel()
		if err := g.Wait(); err != nil {
			t.Error(err)
		}
	})
	return &served{d, t, d.listener.Addr().String(), http.DefaultTransport}
}

// open sends a request and returns the beginning of its answer. It sends the right token unless a
// header says otherwise.
func (s *served) open(method, path, body string, header ...string) *http.Response {
	s.t.Helper()
	address := s.address()
	r, err := http.NewRequest(method, address.Scheme+"://"+s.host+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+testToken)
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		if r.Header.Set(header[i], header[i+1]); header[i] == "Host" {
			r.Host = header[i+1]
		}
	}
	a, err := s.over.RoundTrip(r)
	if err != nil {
		s.t.Fatal(err)
	}
	return a
}

// ask sends a request to a desk, with the right token unless a header says otherwise.
func (s *served) ask(method, path, body string, header ...string) (code int, text string, answer http.Header) {
	s.t.Helper()
	a := s.open(method, path, body, header...)
	defer a.Body.Close()
	all, err := io.ReadAll(a.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return a.StatusCode, string(all), a.Header
}

// Only the files of the application are served.
func TestPaths(t *testing.T) {
	s := serve(t, config.Monitor{})
	for _, path := range []string{
		"/app/", "/app", "/server.go", "/app/../server.go", "/app/%2e%2e/server.go", "/..%2f..%2fetc/passwd", "/app/..%5cserver.go",
		"//etc/passwd", "/app//etc/passwd", "/enter/nothing", "/app/index.html/", "/app/none.js", "/app/index.html",
	} {
		code, text, header := s.ask("GET", path, "")
		if code != 404 && (code != 301 && code != 307 || strings.Contains(header.Get("Location"), "//")) {
			t.Errorf("%s: %d %s %.80q", path, code, header.Get("Location"), text)
		}
	}
	for _, path := range []string{"/", "/app/main.js"} {
		if code, _, _ := s.ask("GET", path, ""); code != 200 {
			t.Errorf("%s: %d", path, code)
		}
	}
}

// The topics of "ripple help" are available without a token, too.
func TestHelp(t *testing.T) {
	s := serve(t, config.Monitor{})
	for path, want := range map[string]string{
		"/help/": `<a href="/help/machines">More than one machine</a>`, "/help/machines": "ripple shard release",
		"/help/grafana.json": `"title": "Ripple"`,
	} {
		if code, text, _ := s.ask("GET", path, "", "Authorization", ""); code != 200 || !strings.Contains(text, want) {
			t.Errorf("%s: %d %.80q", path, code, text)
		}
	}
	if code, _, _ := s.ask("GET", "/help/none", ""); code != 404 {
		t.Errorf("no topic: %d", code)
	}
}

func TestParams(t *testing.T) {
	s := serve(t, config.Monitor{})
	tests := []struct {
		query string
		code  int
		want  string
	}{
		{"now", 200, `{"text":"","number":5,"flag":false}`},
		{"now?text=a%3Cb&number=9&flag=1", 200, `{"text":"a<b","number":9,"flag":true}`},
		{"far?text=a&number=1&flag=true", 200, `{"text":"a","number":1,"flag":true}`},
		{"now?word=two", 200, `{"text":"two","number":5,"flag":false}`},
		{"named/x", 200, `{"text":"x","number":0,"flag":false}`},
		{"named/a%2Fb", 200, `{"text":"a/b","number":0,"flag":false}`},
		{"now?word=three", 400, "word must be one of one, two"},
		{"now?text=01234567890", 400, "text is longer than 10 bytes"},
		{"now?number=0", 400, "number must be a number from 1 to 9"},
		{"now?number=1e1", 400, "number must be a number"},
		{"far?number=99999999999999999999", 400, "number must be a number"},
		{"now?flag=perhaps", 400, "flag must be 1 or 0"},
		{"now?text=a&text=b", 400, "text is given twice"},
		{"now?nothing=1", 400, `there is no parameter \"nothing\"`},
		{"now?name=%zz", 400, "the query is malformed"},
		{"needy", 400, "text is missing: a text"},
		{"named/01234567890", 400, "name is longer"},
		{"wrong", 500, `no\u001b[31m"}`},
		{"conflict", 409, `{"error":"not now"}`},
		{"nothing", 404, "openapi.json says what there is"},
	}
	for _, tt := range tests {
		code, text, header := s.ask("GET", "/api/v1/"+tt.query, "")
		if code != tt.code || !strings.Contains(text, tt.want) {
			t.Errorf("%s: %d %s, want %d %s", tt.query, code, text, tt.code, tt.want)
		}
		if header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: is %s", tt.query, header.Get("Content-Type"))
		}
	}
}

// The reader is restarted after it was killed, and other users cannot use its socket.
func TestReaderKilled(t *testing.T) {
	s := serve(t, config.Monitor{})
	if code, text, _ := s.ask("GET", "/api/v1/far?text=a", ""); code != 200 {
		t.Fatalf("far: %d %s", code, text)
	}
	info, err := os.Stat(s.reader.dir)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder of the socket: %v, %v", info.Mode(), err)
	}
	for range 2 {
		c := s.reader.child
		_ = c.cmd.Process.Kill()
		<-c.ended
		if code, text, _ := s.ask("GET", "/api/v1/far?text=a", ""); code != 200 || !strings.Contains(text, `"a"`) {
			t.Errorf("far, when the reader was killed: %d %s", code, text)
		}
	}
}

// A reader that does not start is reported, and nothing else fails.
func TestReaderFails(t *testing.T) {
	s := serve(t, config.Monitor{})
	works := s.reader.Command
	s.reader.Command = func(string) (*exec.Cmd, error) { return exec.Command(os.Args[0], "-no-such-flag"), nil }
	if code, text, _ := s.ask("GET", "/api/v1/far", ""); code != 503 || !strings.Contains(text, "no-such-flag") {
		t.Errorf("far: %d %s", code, text)
	}
	if code, _, _ := s.ask("GET", "/api/v1/now", ""); code != 200 {
		t.Errorf("now: %d", code)
	}
	s.reader.Command = works
	if code, text, _ := s.ask("GET", "/api/v1/far", ""); code != 200 {
		t.Errorf("far, mended: %d %s", code, text)
	}
}

func TestListenRefused(t *testing.T) {
	s := serve(t, config.Monitor{})
	for listen, want := range map[string]string{
		s.host: "is in use", "0.0.0.0:0": "takes cert-file and key-file", "nonsense": "is not an address",
		"example.com:0": "takes cert-file",
	} {
		if d, err := Listen(Options{Monitor: config.Monitor{Listen: listen}, Reader: testReader()}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v; want %q", listen, d, err, want)
		}
	}
}

func TestIPv6(t *testing.T) {
	if l, err := net.Listen("tcp", "[::1]:0"); err != nil {
		t.Skip(err)
	} else {
		l.Close()
	}
	s := serve(t, config.Monitor{Listen: "[::1]:0"})
	if code, _, _ := s.ask("GET", "/api/v1/now", ""); code != 200 {
		t.Errorf("now: %d", code)
	}
	if got := s.address().String(); !strings.HasPrefix(got, "http://[::1]:") {
		t.Errorf("the address is %s", got)
	}
}

// The address lets one browser in, once, and until then a program. It never contains the token.
func TestEntrance(t *testing.T) {
	s := serve(t, config.Monitor{})
	var logged strings.Builder
	s.Desk.log = slog.New(slog.NewTextHandler(&logged, nil))
	address, err := s.Entrance()
	site, ticket, found := strings.Cut(address, "#token=")
	if err != nil || !found || site != "http://"+s.host+"/" || ticket == testToken {
		t.Fatalf("Entrance = %s, %v", address, err)
	}
	body := `{"ticket": "` + ticket + `"}`
	for name, header := range map[string][]string{
		"by another name": {"Host", "evil.example"}, "from another origin": {"Origin", "https://evil.example"},
		"by a form": {"Content-Type", "text/plain"},
	} {
		if code, text, _ := s.ask("POST", "/enter", body, header...); code < 400 || strings.Contains(text, testToken) {
			t.Errorf("%s: %d %s", name, code, text)
		}
	}
	for range 2 {
		if code, _, _ := s.ask("GET", "/api/v1/now", "", "Authorization", "Bearer "+ticket); code != 200 {
			t.Errorf("a program is answered with %d", code)
		}
	}
	code, text, header := s.ask("POST", "/enter", body)
	if code != 200 || text != `{"token":"`+testToken+"\"}\n" || header.Get("Cache-Control") != "no-store" {
		t.Errorf("the first time: %d %s %v", code, text, header)
	}
	if strings.Contains(logged.String(), "second time") {
		t.Error("the first use is told as the second")
	}
	for range 2 {
		if code, text, _ := s.ask("POST", "/enter", body); code != 403 || !strings.Contains(text, "used before") ||
			strings.Contains(text, testToken) {
			t.Errorf("the second time: %d %s", code, text)
		}
	}
	if !strings.Contains(logged.String(), "a ticket to the desk was used a second time") {
		t.Errorf("the second use is not told: %s", logged.String())
	}
	if code, _, _ := s.ask("GET", "/api/v1/now", "", "Authorization", "Bearer "+ticket); code != 401 {
		t.Errorf("a program with a used ticket is answered with %d", code)
	}
	if code, _, _ := s.ask("POST", "/enter", `{"ticket": "NOTHING"}`); code != 404 {
		t.Errorf("no ticket: %d", code)
	}
	if code, _, _ := s.ask("POST", "/enter", "NOTHING"); code != 400 {
		t.Errorf("no JSON: %d", code)
	}
}

func TestTickets(t *testing.T) {
	var all tickets
	for range maxTickets {
		if _, err := all.sell("a"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := all.sell("a"); err == nil {
		t.Error("there is no end of tickets")
	}
	for id, old := range all.sold {
		old.until = time.Now().Add(-time.Second)
		all.sold[id] = old
		if to, ok, _ := all.take(id); ok {
			t.Errorf("an old ticket leads to %s", to)
		}
		break
	}
	if id, err := all.sell("b"); err != nil {
		t.Error(err)
	} else if to, ok, _ := all.take(id); !ok || to != "b" {
		t.Errorf("take = %s, %v", to, ok)
	}
}
