package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
)

// needPackages returns a folder with the scripts of a folder, and the packages from npm that they use.
func needPackages(t *testing.T, scripts string) string {
	t.Helper()
	kept := os.Getenv("RIPPLE_APPS")
	if kept == "" || testing.Short() {
		t.Skip("short, or RIPPLE_APPS does not name the folder for what is built from npm; .ci/run apps sets it")
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		if os.Getenv("RIPPLE_CI") == "1" {
			t.Fatal("npm is missing")
		}
		t.Skip("npm is not installed")
	}
	dir, err := os.MkdirTemp(kept, "npm-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.CopyFS(dir, os.DirFS(scripts)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(npm, "install", "--no-audit", "--no-fund", "--no-package-lock", "--fetch-retries", "1",
		"--ignore-scripts")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("npm does not install the packages: %v: %.300s", err, out)
	}
	return dir
}

// A played is a page as another program reads it from an archive.
type played struct {
	Type, URL, Title string
	Status           int
	Body             string // SHA-256
	Verified         []string
}

// node runs a script of the player's folder, and returns the lines that it prints.
func node(t *testing.T, dir string, args ...string) (all []played) {
	t.Helper()
	cmd := exec.Command("node", args...)
	cmd.Dir = dir
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %.1000s", err, complaints.String())
	}
	for line := range strings.Lines(string(out)) {
		var p played
		if strings.HasPrefix(line, "{") && json.Unmarshal([]byte(line), &p) == nil {
			all = append(all, p)
		}
	}
	return all
}

// A player shows every page of an exported archive as the server sent it, and another reader of WARC files reads the
// same pages. The pages have URLs that are easily looked up under another key, and bodies that the store has only once.
func TestWACZPlays(t *testing.T) {
	t.Parallel()
	dir := needPackages(t, "testdata/wacz")
	s := crawltest.Serve(t)
	pages := map[string]string{
		"https://a.test/Upper/Case?b=2&a=1&B=0": "<title>Query</title>", "https://a.test/p%C3%A4th/u": "<title>ä</title>",
		"https://a.test/same": "<title>Twice</title>", "https://www.a.test/again": "<title>Twice</title>",
		"https://a.test/?q=%20x+y~*%27": "<title>\u2028 \"quoted\" \\ 🜁</title>", "https://b.test/empty": " ",
	}
	front := crawltest.Anchors("/Upper/Case?b=2&a=1&B=0", "/p%C3%A4th/u", "/same", "https://www.a.test/again",
		"/?q=%20x+y~*%27", "https://b.test/empty")
	pages["https://a.test/"] = front
	for url, body := range pages {
		host, path, _ := strings.Cut(strings.TrimPrefix(url, "https://"), "/")
		s.Host(host).Page("/"+path, body)
	}
	config, _ := crawltest.Files(t, s, "[pages]\nkeep = true\npath = \"pages\"\n[[quality]]\ndomain = \"a.test\"\n"+
		"seeds = [\"https://a.test/\"]\n")
	if _, complaints, code := ran(t, "crawl", config, "-q"); code != 0 {
		t.Fatal(complaints)
	}
	path := exportWACZ(t, config)
	files := httptest.NewServer(http.FileServer(http.Dir(filepath.Dir(path))))
	defer files.Close()

	want := map[string]string{}
	for url, body := range pages {
		want[url] = fmt.Sprintf("200 %x", sha256.Sum256([]byte(body)))
	}
	got, titles := map[string]string{}, map[string]string{}
	shown := node(t, dir, "play.mjs", files.URL+"/"+filepath.Base(path))
	for _, p := range shown[:max(0, len(shown)-1)] {
		got[p.URL], titles[p.URL] = fmt.Sprint(p.Status, " ", p.Body), p.Title
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the player shows (-want +got)\n%s", diff)
	}
	odd := titles["https://a.test/?q=%20x+y~*%27"]
	if titles["https://a.test/same"] != "Twice" || !strings.Contains(odd, `"quoted" \ 🜁`) {
		t.Errorf("titles: %q", titles)
	}
	if last := shown[len(shown)-1]; !slices.Contains(last.Verified, "defaultpages/pages.jsonl") {
		t.Errorf("the player has verified %q", last.Verified)
	}

	clear(got)
	for _, p := range node(t, dir, "records.mjs", unpackedWARC(t, path)) {
		if p.Type == "response" {
			got[p.URL] = fmt.Sprint(p.Status, " ", p.Body)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the reader reads (-want +got)\n%s", diff)
	}
}

// unpackedWARC returns the only WARC file in an archive.
func unpackedWARC(t *testing.T, path string) string {
	t.Helper()
	z, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	from, err := z.File[0].Open()
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(from)
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "x.warc.gz")
	if err := os.WriteFile(to, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return to
}
