package crawl

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
)

// The page store of a crawl that rendered its pages has the map of that crawl, whether or not the import's
// configuration renders pages.
func TestImportOfRendered(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "pages")
	web := application(9)
	web["a.test/app.js"] = script("link /p1", "link /away", "link /again", "link https://b.test/", "title shown")
	web["a.test/away"] = shell("/away.js")
	web["a.test/away.js"] = script("go /only")
	web["a.test/only"] = links("/p3")
	web["a.test/again"] = shell("/app.js") // the body of the front page: a revisit
	web["b.test/"] = shell("/b.js")        // of no origin: it is not rendered
	var want string
	synctest.Test(t, func(t *testing.T) {
		s := rendered(t, web, fmt.Sprintf("[pages]\nkeep = true\npath = %q\n", dir))
		if n := len(s.browser.Looks); n != 12 {
			t.Errorf("%d pages were rendered", n)
		}
		want = crawltest.Digest(t, s.path)
	})
	from := Archives{}
	var err error
	if from.WARC, err = filepath.Glob(filepath.Join(dir, "*.warc.gz")); err != nil || len(from.WARC) == 0 {
		t.Fatal(err, "no segment")
	}
	for _, mode := range []string{"auto", "off"} {
		path := filepath.Join(t.TempDir(), "state.bolt")
		store, err := kv.Open(path, kv.Options{})
		if err != nil {
			t.Fatal(err)
		}
		cfg := crawltest.Parse(t, rendering("[render]\nmode = \""+mode+"\"\n"))
		done, err := Import(context.Background(), store, cfg, from)
		if err != nil {
			t.Fatal(err)
		}
		if err := survey.Check(crawltest.Survey(t, store), func(problem string) { t.Error(problem) }); err != nil {
			t.Fatal(err)
		}
		if err := store.Close(); err != nil {
			t.Fatal(err)
		}
		if got := crawltest.Digest(t, path); got != want || done.Damaged != 0 {
			t.Errorf("mode %s: imported %+v with digest %s, want %s", mode, done, got, want)
		}
	}
}
