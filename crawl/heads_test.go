package crawl

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
)

// TestHeadsFoundToLie serves a host that answers HEAD honestly for one file and one redirect, and
// for other pages with a type or a redirect that GET does not give. Whatever the order, and however
// often the crawl is killed: all pages are read, no HEAD is sent once the host is known to lie, and
// targets of redirects that only HEAD gave are not on the map.
func TestHeadsFoundToLie(t *testing.T) {
	t.Parallel()
	seed := crawltest.Seed(t)
	honest := reply{status: http.StatusOK, header: http.Header{"Content-Type": {"text/plain"}}, body: "text"}
	page := reply{status: http.StatusOK, body: "<title>x</title><a href=/behind>x</a>"}
	believed := 0
	for i := range 12 {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		paths := []string{"/honest", "/type1", "/type2", "/type3", "/moved1", "/moved2", "/goes"}
		if i > 0 {
			r.Shuffle(len(paths), func(i, j int) { paths[i], paths[j] = paths[j], paths[i] })
		}
		kills := i % 3
		t.Run(fmt.Sprintf("%s, %d kills", strings.Join(paths, " "), kills), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newPaperServers(t)
				s.host["a.test"] = func(q question) reply {
					switch {
					case q.path == "/":
						return links(paths...)
					case q.path == "/honest":
						return honest
					case q.method == http.MethodHead && strings.HasPrefix(q.path, "/type"):
						return honest
					case q.path == "/goes":
						return redirect("/behind")
					case q.method == http.MethodHead && strings.HasPrefix(q.path, "/moved"):
						return redirect("https://elsewhere.test/error")
					case strings.HasPrefix(q.path, "/type"), strings.HasPrefix(q.path, "/moved"):
						return page
					case q.path == "/behind":
						return reply{status: http.StatusOK, body: "<title>y</title>"}
					}
					return reply{status: http.StatusNotFound}
				}
				cfg := strings.Replace(ofTwo("sitemaps = \"off\"\n", ""), "\"never\"", "\"always\"", 1)
				for range kills {
					s.crawl(cfg, time.Duration(1+r.IntN(8))*time.Second)
				}
				s.crawl(cfg, 0)
				s.verified()
				want := map[string]string{"a.test/": "processed", "a.test/honest": "content_mismatch", "a.test/moved1": "processed",
					"a.test/moved2": "processed", "a.test/goes": "processed",
					"a.test/type1": "processed", "a.test/type2": "processed", "a.test/type3": "processed", "a.test/behind": "processed"}
				got, found := map[string]string{}, false
				for url, p := range s.survey() {
					if strings.HasPrefix(url, "a.test/") || strings.HasPrefix(url, "elsewhere.test/") {
						got[url] = p.state
					}
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("pages (-want +got):\n%s", diff)
				}
				asked := map[string]string{}
				for _, e := range only(s.log, "a.test") {
					asked[e.Path] += e.Method + " "
					lies := e.Method == http.MethodGet && (strings.HasPrefix(e.Path, "/moved") || strings.HasPrefix(e.Path, "/type"))
					if kills == 0 && found && e.Method == http.MethodHead {
						t.Errorf("%s is asked by HEAD", e.Path)
					}
					found = found || lies
				}
				for path, methods := range asked {
					if kills == 0 && strings.Count(methods, "GET ") > 1 {
						t.Errorf("%s is asked by %s", path, methods)
					}
				}
				if v := s.visits()["https://a.test/type1"]; v.Prev != 0 {
					believed++
				}
			})
		})
	}
	if believed == 0 {
		t.Error("no page was refused by HEAD first")
	}
}
