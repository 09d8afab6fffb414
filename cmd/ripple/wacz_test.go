package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sumi-ripple/ripple/cmd/ripple/rippletest"
	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/kv/survey"
)

// digestOf returns the digest of the map in a state file.
func digestOf(t *testing.T, state string) string {
	t.Helper()
	store := crawltest.Open(t, state)
	defer store.Close()
	digest, err := survey.Digest(crawltest.Survey(t, store))
	if err != nil {
		t.Fatal(err)
	}
	return digest
}

// exportWACZ exports the page store of a configuration.
func exportWACZ(t *testing.T, config string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pages.wacz")
	if _, complaints, code := ran(t, "export", "--config", config, "--wacz", path); code != 0 {
		t.Fatal(complaints)
	}
	return path
}

// importWACZ imports an archive under a configuration into a state file of its own, which it returns.
func importWACZ(t *testing.T, config, path string) string {
	t.Helper()
	text, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	again := filepath.Join(dir, "config.toml")
	if err := os.WriteFile(again, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, complaints, code := ran(t, "import", "--config", again, "--wacz", path); code != 0 ||
		strings.Contains(complaints, "damaged") || strings.Contains(complaints, "verified") {
		t.Fatalf("%s%s", out, complaints)
	}
	return filepath.Join(dir, "state.bolt")
}

// An import of an exported archive gives the digest of the crawl, and the same state gives the same bytes.
func TestWACZ(t *testing.T) {
	t.Parallel()
	config := rippletest.CrawledKept(t, 3)
	path := exportWACZ(t, config)
	state := filepath.Join(filepath.Dir(config), "state.bolt")
	if got, want := digestOf(t, importWACZ(t, config, path)), digestOf(t, state); got != want {
		t.Errorf("imported with digest %s, want %s", got, want)
	}
	if !bytes.Equal(contents(t, path), contents(t, exportWACZ(t, config))) {
		t.Error("a second export differs")
	}
	z, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	requireManifest(t, &z.Reader)
}

// An import of the archive of a crawl that rendered its pages gives the digest of that crawl.
func TestWACZOfRendered(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("chromium"); err != nil && os.Getenv("RIPPLE_CI") != "1" {
		t.Skip("Chromium is not installed, so nothing is rendered; .ci/run installs it:", err)
	}
	s := crawltest.Serve(t)
	s.Host("app.test").Page("/app.js", `document.getElementById("root").innerHTML =
		'<a href="/shown">shown</a> <a href="/again">again</a>'`).Type("text/javascript")
	s.Host("app.test").Page("/", crawltest.Shell("/app.js"))
	s.Host("app.test").Page("/again", crawltest.Shell("/app.js")) // the same body
	s.Host("app.test").Page("/shown", "<title>Shown</title>")
	dir := t.TempDir()
	text := crawltest.Config(t, s, fmt.Sprintf(`[state]
path = "state.bolt"
[render]
mode = "auto"
max-browsers = 1
timeout = "5m"
sandbox = %t
[pages]
keep = true
path = "pages"
[[quality]]
domain = "app.test"
seeds = ["https://app.test/"]
`, os.Getuid() != 0))
	config, state := filepath.Join(dir, "config.toml"), filepath.Join(dir, "state.bolt")
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, complaints, code := ran(t, "crawl", config, "-q"); code != 0 {
		t.Fatal(out, complaints)
	}
	imported := importWACZ(t, config, exportWACZ(t, config))
	if got, want := digestOf(t, imported), digestOf(t, state); got != want {
		t.Errorf("imported with digest %s, want %s", got, want)
	}
	out, _, _ := ran(t, "query", "--state", imported, "--json", "SELECT count(*) AS n FROM pages WHERE state = 'processed'")
	if !strings.Contains(out, `"n": 3`) && !strings.Contains(out, `"n":3`) {
		t.Errorf("processed pages: %s", out)
	}
}

// A WARC file that differs from its digest in the manifest is imported, and named.
func TestWACZDigest(t *testing.T) {
	t.Parallel()
	config := rippletest.CrawledKept(t, 3)
	path := exportWACZ(t, config)
	file := contents(t, path)
	name := string(regexp.MustCompile(`archive/\S+?\.warc\.gz`).Find(file))
	at := bytes.Index(file, []byte{0x1f, 0x8b, 8})
	if name == "" || at < 0 {
		t.Fatal("no segment")
	}
	file[at+9] ^= 0xff // the operating system, of which no checksum is made
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	z, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	z.Close()
	text, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	again := filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(again, text, 0o600); err != nil {
		t.Fatal(err)
	}
	out, complaints, code := ran(t, "import", "--config", again, "--wacz", path, "--json")
	var done struct {
		Pages      int
		Damaged    int      `json:"records_damaged"`
		Unverified int      `json:"files_unverified"`
		Names      []string `json:"unverified"`
	}
	if err := json.Unmarshal([]byte(out), &done); err != nil {
		t.Fatalf("%v: %s%s", err, out, complaints)
	}
	want := path + " " + name + ": the manifest states another SHA-256"
	if code != 0 || done.Pages == 0 || done.Damaged != 0 || done.Unverified != 1 || len(done.Names) != 1 ||
		done.Names[0] != want || !strings.Contains(complaints, want) {
		t.Errorf("exit code %d, %+v\n%s", code, done, complaints)
	}
}

// requireManifest verifies the lengths and digests that the manifest of an archive states, and that it lists all files.
func requireManifest(t *testing.T, z *zip.Reader) {
	t.Helper()
	files := map[string][]byte{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if files[f.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(f.Name, ".gz") && f.Method != zip.Store {
			t.Errorf("%s is compressed again", f.Name)
		}
	}
	var manifest struct {
		Profile   string
		Version   string `json:"wacz_version"`
		Title     string
		Software  string
		Created   string
		Main      string `json:"mainPageUrl"`
		Resources []struct {
			Path, Hash string
			Bytes      int
		}
	}
	if err := json.Unmarshal(files["datapackage.json"], &manifest); err != nil {
		t.Fatal(err)
	}
	if manifest.Profile != "data-package" || manifest.Version != "1.1.1" || manifest.Created == "" ||
		manifest.Title != "Ripple: h0.gen.test, h1.gen.test" || !strings.HasPrefix(manifest.Software, "Ripple ") ||
		manifest.Main != "https://h0.gen.test/" || len(manifest.Resources) != len(files)-2 {
		t.Errorf("%+v", manifest)
	}
	for _, r := range manifest.Resources {
		if sum := fmt.Sprintf("sha256:%x", sha256.Sum256(files[r.Path])); sum != r.Hash || len(files[r.Path]) != r.Bytes {
			t.Errorf("%s has %d bytes, %s; want %d, %s", r.Path, len(files[r.Path]), sum, r.Bytes, r.Hash)
		}
	}
	var digest struct{ Path, Hash string }
	if err := json.Unmarshal(files["datapackage-digest.json"], &digest); err != nil {
		t.Fatal(err)
	}
	if sum := fmt.Sprintf("sha256:%x", sha256.Sum256(files["datapackage.json"])); digest.Hash != sum {
		t.Errorf("the manifest has %s, and its digest is %s", sum, digest.Hash)
	}
}
