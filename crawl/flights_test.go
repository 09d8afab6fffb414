package crawl

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/schema"
)

// Open requests are reported, oldest first, until their answers have ended.
func TestFlights(t *testing.T) {
	var f flights
	begun := time.Unix(1000, 0)
	robots := ring.Step{Kind: ring.Robots, Host: 2, URL: "https://b.test/robots.txt"}
	page := ring.Step{Kind: ring.Head, Host: 1, Norm: "https://a.test/x", URL: "https://www.a.test/x"}
	ends := []func(){f.begin(&robots, begun.Add(time.Second)), f.begin(&page, begun)}
	file := ring.Step{Kind: ring.Get, URLKind: schema.KindSitemap, Host: 1}
	f.begin(&file, begun)()
	want := []Flight{
		{Host: 1, Page: "https://a.test/x", Kind: "head", URL: "https://www.a.test/x", Since: begun},
		{Host: 2, Kind: "robots", URL: "https://b.test/robots.txt", Since: begun.Add(time.Second)},
	}
	for i := 0; ; i++ {
		if diff := cmp.Diff(want[:len(want)-i], f.all()); diff != "" {
			t.Errorf("after %d have ended: %s", i, diff)
		}
		if i == len(ends) {
			break
		}
		ends[i]()
	}
}
