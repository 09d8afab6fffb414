package crawl

import (
	"crypto/sha256"
	"net/http"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/record"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/crawl/warc"
	"github.com/sumi-ripple/ripple/schema"
)

// TestReplayWithoutRendered reads a rendered page of which only the answer is left: it counts as
// missing, and not as read, too.
func TestReplayWithoutRendered(t *testing.T) {
	dir, body := t.TempDir(), []byte("<title>A shell</title>")
	w, err := warc.Open(dir, "t", warc.Position{}, "test")
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := new(warc.Sealer).Seal(&warc.Page{URL: "https://a.test/", At: time.Unix(1, 0), Status: 200, Body: body,
		Header: http.Header{"Content-Type": {"text/html"}}, Digest: sha256.Sum256(body)})
	if err != nil {
		t.Fatal(err)
	}
	at, err := w.Append(sealed)
	if err != nil {
		t.Fatal(err)
	}
	set, err := ring.NewSettings(crawltest.Parse(t, politeConfig(nil)))
	if err != nil {
		t.Fatal(err)
	}
	defer set.Client.Close()
	hash := func(schema.URLKind, string) uint64 { return 1 }
	p := &replay{set: set, reader: warc.NewReader(dir), parser: &parser{hash: hash}}
	for _, v := range []schema.Visit{{StoredPath: at}, {StoredPath: at,
		Content: schema.Content{Rendering: schema.Rendered}}} {
		p.read(record.Reading{ID: 1, Norm: "https://a.test/", Visit: &v})
	}
	if p.done.Pages != 1 || p.done.Missing != 1 {
		t.Errorf("%d read and %d missing, want 1 and 1", p.done.Pages, p.done.Missing)
	}
}

// A stored answer that the rules recognise is a wall.
func TestReplayReadsWall(t *testing.T) {
	dir := t.TempDir()
	w, err := warc.Open(dir, "t", warc.Position{}, "test")
	if err != nil {
		t.Fatal(err)
	}
	body := []byte(anubis().body)
	sealed, err := new(warc.Sealer).Seal(&warc.Page{URL: "https://a.test/", At: time.Unix(1, 0), Status: 200, Body: body,
		Header: http.Header{"Content-Type": {"text/html"}}, Digest: sha256.Sum256(body)})
	if err != nil {
		t.Fatal(err)
	}
	at, err := w.Append(sealed)
	if err != nil {
		t.Fatal(err)
	}
	p := &replay{reader: warc.NewReader(dir), parser: &parser{}}
	o, _ := p.read(record.Reading{ID: 1, Norm: "https://a.test/", Visit: &schema.Visit{StoredPath: at}})
	if o == nil || o.Wall == nil || o.Wall.ID != "anubis-challenge" || o.Page != nil {
		t.Errorf("read %+v", o)
	}
}
