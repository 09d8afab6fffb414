package main

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sumi-ripple/ripple/cmd/ripple/rippletest"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
)

func TestServeRefuses(t *testing.T) {
	t.Parallel()
	d := serveState(t, filepath.Join(filepath.Dir(rippletest.Crawled(t, 5)), "state.bolt"))
	for path, want := range map[string]int{
		"pages?url=" + url.QueryEscape("::nonsense"): 400, "pages": 400, "path?url=https://never.met.test/": 404,
		"hosts/" + url.PathEscape("https://h0.gen.test/"): 400, "hosts?sort=password": 400, "diff": 409, "diff?to=7": 409,
		"pages?url=https://a.test/" + strings.Repeat("x", 3000): 400, "hosts?limit=501": 400,
		"pages?url=" + strings.Repeat("x", 70_000): 400, "pages/list?snapshot=OLD": 410, "pages/list?sort=password": 400,
		"pages/list?search=" + strings.Repeat("x", 10_000): 400, "graph?kind=guess": 400,
	} {
		if code, text := d.get(path); code != want {
			t.Errorf("%.60s: %d %s, want %d", path, code, text, want)
		}
	}
}

// A page can be requested by an address as long as [url] max-length allows, escaped in the query.
func TestServeLongAddress(t *testing.T) {
	t.Parallel()
	w := surveytest.New(t, surveytest.Minimal+"[url]\nmax-length = 65536\n")
	name := "a.test/" + strings.Repeat("/", 1<<16-len("https://a.test/")-1) + "x"
	w.Visit(name, nil)
	d := serveState(t, saved(t, w))
	page := d.json("pages?url=" + url.QueryEscape("https://"+name)).(map[string]any)
	if page["known"] != true || page["url"] != "https://"+name {
		t.Errorf("%v, %.80v", page["known"], page["url"])
	}
}

// saved returns the path of a file with the content of a store.
func saved(t *testing.T, w *surveytest.World) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "state.bolt")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Store.Snapshot(f); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}
