package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/cmd/ripple/rippletest"
	"github.com/sumi-ripple/ripple/crawl/warc"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
)

// decoded returns the answer to a POST, which must succeed.
func (d *testDesk) decoded(path, body string) (v map[string]any) {
	d.t.Helper()
	code, text := d.send(path, body)
	if err := json.Unmarshal(text, &v); err != nil || code != http.StatusOK {
		d.t.Fatalf("%s: %d, %v: %.300s", path, code, err, text)
	}
	return v
}

func TestServeQuery(t *testing.T) {
	t.Parallel()
	d := serveState(t, filepath.Join(filepath.Dir(rippletest.Crawled(t, 5)), "state.bolt"))
	promised, _ := d.schemas()
	got := d.decoded("query", `{"sql": "SELECT domain, 1 AS one, NULL AS none FROM hosts WHERE domain = 'h0.gen.test'"}`)
	if err := promised["query"].Validate(got); err != nil {
		t.Error(err)
	}
	want := map[string]any{"columns": []any{"domain", "one", "none"}, "more": false,
		"rows": []any{[]any{"h0.gen.test", 1.0, nil}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if !testing.Short() { // with the race detector, a hundred thousand rows take the whole time limit of a statement
		many := `{"sql": "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 200000) SELECT i FROM n"}`
		if got := d.decoded("query", many); len(got["rows"].([]any)) != 100_000 || got["more"] != true {
			t.Errorf("%d rows, more: %v", len(got["rows"].([]any)), got["more"])
		}
	}
	for _, sql := range []string{
		"DROP TABLE pages", "SELECT 1; SELECT 2", "ATTACH 'x.db' AS x", "SELECT * FROM nothing", "", "PRAGMA writable_schema = 1",
		"SELECT load_extension('x')",
	} {
		body, err := json.Marshal(map[string]string{"sql": sql})
		if err != nil {
			t.Fatal(err)
		}
		if code, text := d.send("query", string(body)); code != http.StatusBadRequest {
			t.Errorf("%s: %d %s", sql, code, text)
		}
	}
}

// ordered returns an ordered file when it is finished or has failed.
func (d *testDesk) ordered(order string) map[string]any {
	d.t.Helper()
	id := d.decoded("files", order)["id"].(string)
	var f map[string]any
	if !rippletest.Soon(func() bool {
		f = d.json("files/" + id).(map[string]any)
		return f["status"] == "done" || f["status"] == "failed"
	}) {
		d.t.Fatalf("it is not written: %v", f)
	}
	return f
}

// download fetches what a ticket is for.
func (d *testDesk) download(ticket any) (code int, body []byte, header http.Header) {
	d.t.Helper()
	a, err := http.Get(fmt.Sprintf("%s/download/%v", strings.TrimSuffix(d.base, "/api/v1/"), ticket))
	if err != nil {
		d.t.Fatal(err)
	}
	defer a.Body.Close()
	if body, err = io.ReadAll(a.Body); err != nil {
		d.t.Fatal(err)
	}
	return a.StatusCode, body, a.Header
}

// A file is ordered, written and sent, once for each ticket.
func TestServeFiles(t *testing.T) {
	t.Parallel()
	d := serveState(t, filepath.Join(filepath.Dir(rippletest.Crawled(t, 5)), "state.bolt"))
	promised, _ := d.schemas()
	f := d.ordered(`{"format": "gexf", "level": "site"}`)
	if err := promised["file"].Validate(f); err != nil || f["status"] != "done" || f["bytes"] == 0.0 {
		t.Fatalf("the file is %v, %v", f, err)
	}
	path := fmt.Sprintf(`{"path": "files/%s"}`, f["id"])
	ticket := d.decoded("tickets", path)["ticket"]
	code, body, header := d.download(ticket)
	if code != http.StatusOK || !bytes.Contains(body, []byte("<gexf")) {
		t.Errorf("the file is sent as %d %.100s", code, body)
	}
	if got := header.Get("Content-Disposition"); got != "attachment; filename=terrain.gexf" {
		t.Errorf("it is sent as %s", got)
	}
	if got := header.Get("Content-Security-Policy"); !strings.HasPrefix(got, "sandbox;") {
		t.Errorf("its policy is %s", got)
	}
	if code, _, _ := d.download(ticket); code != http.StatusForbidden {
		t.Errorf("the second time: %d", code)
	}
	if f := d.ordered(`{"format": "csv"}`); f["status"] == "done" {
		_, body, header := d.download(d.decoded("tickets", fmt.Sprintf(`{"path": "files/%s"}`, f["id"]))["ticket"])
		z, err := zip.NewReader(bytes.NewReader(body), int64(len(body)))
		if err != nil || len(z.File) < 2 || !strings.Contains(header.Get("Content-Disposition"), ".zip") {
			t.Errorf("a folder is sent as %s, %v", header.Get("Content-Disposition"), err)
		}
	} else {
		t.Errorf("a folder: %v", f)
	}
	if f := d.ordered(`{"format": "gexf", "level": "galaxy"}`); f["status"] != "failed" ||
		!strings.Contains(f["error_message"].(string), "galaxy") {
		t.Errorf("what cannot be written: %v", f)
	}
	files := d.json("files").(map[string]any)
	if err := promised["files"].Validate(files); err != nil {
		t.Error(err)
	}
	if got := len(files["formats"].([]any)); got < 5 { // package serve tests which
		t.Errorf("%d formats can be ordered", got)
	}
	for _, body := range []string{`{"format": "exe"}`, `{"format": "../x"}`, `{}`, `{"path": "x"}`} {
		if code, text := d.send("files", body); code != http.StatusBadRequest {
			t.Errorf("order %s: %d %s", body, code, text)
		}
	}
	for _, path := range []string{"files/99", "files/../1", "/etc/passwd", ""} {
		if code, text := d.send("tickets", fmt.Sprintf(`{"path": %q}`, path)); code != http.StatusNotFound {
			t.Errorf("a ticket to %s: %d %s", path, code, text)
		}
	}
}

// The download has every readable page, and says how many cannot be read.
func TestServeSomePages(t *testing.T) {
	t.Parallel()
	dir, body := t.TempDir(), []byte("<title>A page</title>")
	sealed, err := new(warc.Sealer).Seal(&warc.Page{URL: "https://a.test/", At: time.Unix(1, 0), Status: 200, Body: body,
		Header: http.Header{"Content-Type": {"text/html"}}, Digest: sha256.Sum256(body)})
	if err != nil {
		t.Fatal(err)
	}
	store, err := warc.Open(dir, "t", warc.Position{}, "test")
	if err != nil {
		t.Fatal(err)
	}
	at, err := store.Append(sealed)
	if err := errors.Join(err, store.Close()); err != nil {
		t.Fatal(err)
	}
	w := surveytest.New(t, fmt.Sprintf("%s[pages]\nkeep = true\npath = %q\n", surveytest.Minimal, dir))
	w.Visit("a.test/", func(v *schema.Visit) { v.StoredPath = at })
	w.Visit("a.test/gone", func(v *schema.Visit) { v.StoredPath = at + "0" })
	d := serveState(t, saved(t, w))
	f := d.ordered(`{"format": "pages"}`)
	told, _ := f["error_message"].(string)
	if f["status"] != "done" || !strings.HasPrefix(told, "1 page is left out") || !strings.Contains(told, "a.test/gone") {
		t.Fatalf("%v", f)
	}
	_, zipped, _ := d.download(d.decoded("tickets", fmt.Sprintf(`{"path": "files/%s"}`, f["id"]))["ticket"])
	z, err := zip.NewReader(bytes.NewReader(zipped), int64(len(zipped)))
	if err != nil || !slices.ContainsFunc(z.File, func(f *zip.File) bool { return strings.HasSuffix(f.Name, ".html") }) {
		t.Errorf("the page is not sent: %v", err)
	}
}

// The demonstration is served while it crawls, and afterwards.
func TestDemoServes(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	cmd := ripple("demo", "--serve", "--dir", filepath.Join(t.TempDir(), "d"))
	cmd.Env = append(cmd.Env, "PATH=") // no browser
	address, told := servedDesk(t, cmd)
	d := newTestDesk(t, address)
	seen := false
	var text []byte
	if !rippletest.Soon(func() bool {
		var status map[string]any // none while the crawl is starting
		_, text = d.get("status")
		if err := json.Unmarshal(text, &status); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		seen = seen || status["mode"] == "crawl"
		if !seen || status["mode"] != "file" {
			return false
		}
		run := d.json("stats").(map[string]any)["run"].(map[string]any)
		return run["id"] == 2. && run["status"] == "completed"
	}) {
		t.Fatalf("the second run does not end: %s", text)
	}
	for line := ""; !strings.HasPrefix(line, "the desk is at "); {
		var err error
		if line, err = told.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Skipf("this system cannot interrupt a process: %v", err)
	}
	_, _ = io.Copy(io.Discard, told)
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}
