package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/cmd/ripple/serve"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/schema/config"
)

// A testDesk is a desk that is used like by a program.
type testDesk struct {
	t     testing.TB
	base  string
	token string
}

// serveState serves a state file until the test ends.
func serveState(t *testing.T, state string) *testDesk {
	t.Helper()
	return serveConfig(t, state, "")
}

// serveConfig serves a state file that a configuration names.
func serveConfig(t *testing.T, state, cfg string) *testDesk {
	t.Helper()
	d, end := openState(t, state, cfg)
	t.Cleanup(end)
	return d
}

// openState serves a state file until the returned function is called.
func openState(t testing.TB, state, cfg string) (served *testDesk, end func()) {
	t.Helper()
	d, err := serve.OpenDesk(state, cfg, config.Monitor{Listen: "127.0.0.1:0"}, term.NewVoice(io.Discard).Logger())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var g errgroup.Group
	g.Go(func() error { return d.Serve(ctx) })
	return newTestDesk(t, deskAddress("for programs: "+d.Programs())), func() {
		cancel()
		if err := g.Wait(); err != nil {
			t.Error(err)
		}
	}
}

var toPrograms = regexp.MustCompile(`for programs: (https?://\S+/)api/v1/ with Authorization: Bearer (\S+)`)

// deskAddress returns the address of a desk and its token, separated by a space, from the line for
// programs in a text; empty: there is none.
func deskAddress(said string) string {
	if m := toPrograms.FindStringSubmatch(said); m != nil {
		return m[1] + " " + m[2]
	}
	return ""
}

// servedDesk starts a command that serves a desk until the test ends, and returns its address with
// the token, and its further output.
func servedDesk(t testing.TB, cmd *exec.Cmd) (address string, then *bufio.Reader) {
	t.Helper()
	programs, then := served(t, cmd)
	line, err := then.ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "the desk is at http") {
		t.Fatalf("the last line is %q, %v", line, err)
	}
	return deskAddress(programs), then
}

func newTestDesk(t testing.TB, address string) *testDesk {
	base, token, _ := strings.Cut(address, " ")
	return &testDesk{t, base + "api/v1/", token}
}

// served starts a command that serves until the test ends, and returns the address, which it prints
// first, and its further output.
func served(t testing.TB, cmd *exec.Cmd) (address string, then *bufio.Reader) {
	t.Helper()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	told := bufio.NewReader(out)
	address, err = told.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(address), told
}

// events returns the lines of the stream from the first event on.
func (d *testDesk) events() *bufio.Scanner {
	d.t.Helper()
	r, err := http.NewRequest("GET", d.base+"events", nil)
	if err != nil {
		d.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+d.token)
	r.Header.Set("Last-Event-ID", "0")
	stream, err := http.DefaultClient.Do(r)
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { stream.Body.Close() })
	return bufio.NewScanner(stream.Body)
}

func (d *testDesk) get(path string) (code int, text []byte) {
	d.t.Helper()
	return d.ask("GET", path, nil)
}

// send sends a POST with JSON.
func (d *testDesk) send(path, body string) (code int, text []byte) {
	d.t.Helper()
	return d.ask("POST", path, strings.NewReader(body))
}

func (d *testDesk) ask(method, path string, body io.Reader) (code int, text []byte) {
	d.t.Helper()
	r, err := http.NewRequest(method, d.base+path, body)
	if err != nil {
		d.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+d.token)
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		d.t.Fatal(err)
	}
	defer a.Body.Close()
	text, err = io.ReadAll(a.Body)
	if err != nil {
		d.t.Fatal(err)
	}
	return a.StatusCode, text
}

// json returns an answer, which must be JSON.
func (d *testDesk) json(path string) any {
	d.t.Helper()
	code, text := d.get(path)
	var v any
	if err := json.Unmarshal(text, &v); err != nil || code != http.StatusOK {
		d.t.Fatalf("%s: %d, %v: %.300s", path, code, err, text)
	}
	return v
}

// schemas returns the schemas of answers in openapi.json, by operation, and the paths.
func (d *testDesk) schemas() (promised map[string]*jsonschema.Resolved, paths map[string]string) {
	d.t.Helper()
	_, text := d.get("openapi.json")
	var doc struct {
		OpenAPI string `json:"openapi"`
		Paths   map[string]map[string]struct {
			ID        string `json:"operationId"`
			Responses map[string]struct {
				Content map[string]struct {
					Schema *jsonschema.Schema `json:"schema"`
				} `json:"content"`
			} `json:"responses"`
		} `json:"paths"`
	}
	if err := json.Unmarshal(text, &doc); err != nil || doc.OpenAPI != "3.1.1" {
		d.t.Fatalf("openapi.json: %v, version %q", err, doc.OpenAPI)
	}
	promised, paths = map[string]*jsonschema.Resolved{}, map[string]string{}
	for path, methods := range doc.Paths {
		for _, o := range methods {
			for kind, content := range o.Responses["200"].Content {
				if kind != "application/json" {
					continue
				}
				s, err := content.Schema.Resolve(nil)
				if err != nil {
					d.t.Fatalf("%s: %v", o.ID, err)
				}
				promised[o.ID], paths[o.ID] = s, path
			}
		}
	}
	return promised, paths
}
