package answers_test

import (
	"bytes"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/zeebo/xxh3"

	"github.com/sumi-ripple/ripple/crawl/answers"
	"github.com/sumi-ripple/ripple/crawl/render"
)

func open(t *testing.T, most int64) *answers.Cache {
	t.Helper()
	c := answers.New(t.TempDir(), most)
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func put(t *testing.T, c *answers.Cache, url string, a render.Answer) {
	t.Helper()
	c.Put(render.Resource{URL: url}, &a)
}

// to returns a request for a URL.
func to(method, url string) render.Request {
	return render.Request{Method: method, Resource: render.Resource{URL: url}}
}

// The first answer is kept, even if it is a refusal.
func TestFirstStands(t *testing.T) {
	c := open(t, 1000)
	put(t, c, "https://a.test/app.js", render.Answer{Status: 200, Header: http.Header{"Etag": {"1"}}, Body: []byte("one")})
	put(t, c, "https://a.test/app.js", render.Answer{Status: 200, Body: []byte("two")})
	put(t, c, "https://a.test/no.js", render.Answer{Refused: "denied by robots.txt"})
	put(t, c, "https://a.test/no.js", render.Answer{Status: 200, Body: []byte("yes")})
	a, ok := c.Answer(to(http.MethodGet, "https://a.test/app.js"))
	if !ok || string(a.Body) != "one" || a.Status != 200 || a.Header.Get("ETag") != "1" {
		t.Errorf("the answer is %+v, %v; want the first", a, ok)
	}
	if a, ok := c.Answer(to(http.MethodHead, "https://a.test/app.js")); !ok || a.Body != nil || a.Status != 200 {
		t.Errorf("to HEAD the answer is %+v, %v", a, ok)
	}
	a, ok = c.Answer(to(http.MethodGet, "https://a.test/no.js"))
	if !ok || a.Refused != "denied by robots.txt" || a.Status != 0 {
		t.Errorf("the answer is %+v, %v; want the refusal", a, ok)
	}
	if a, ok := c.Answer(to(http.MethodGet, "https://a.test/other.js")); ok {
		t.Errorf("what nobody has asked for has the answer %+v", a)
	}
}

// An answer that does not fit is refused, and stays refused when there is room again.
func TestBound(t *testing.T) {
	c := open(t, 100)
	page := c.Keep(&render.Page{URL: "https://a.test/", Body: make([]byte, 60)})
	if page == nil {
		t.Fatal("a page that fits is not kept")
	}
	put(t, c, "https://a.test/large.js", render.Answer{Status: 200, Body: make([]byte, 60)})
	put(t, c, "https://a.test/small.js", render.Answer{Status: 200, Body: make([]byte, 40)})
	if c.Keep(&render.Page{URL: "https://a.test/b", Body: make([]byte, 60)}) != nil {
		t.Error("a page that does not fit is kept")
	}
	page.Free()
	page.Free()
	put(t, c, "https://a.test/large.js", render.Answer{Status: 200, Body: make([]byte, 60)})
	put(t, c, "https://a.test/later.js", render.Answer{Status: 200, Body: make([]byte, 60)})
	for url, refused := range map[string]string{"large": answers.Crowded, "small": "", "later": ""} {
		if a, ok := c.Answer(to(http.MethodGet, "https://a.test/"+url+".js")); !ok || a.Refused != refused {
			t.Errorf("%s: refused for %q, want %q", url, a.Refused, refused)
		}
	}
	if a, _ := c.Answer(to(http.MethodGet, "https://a.test/later.js")); len(a.Body) != 60 {
		t.Errorf("%d bytes came back of 60", len(a.Body))
	}
	large := http.Header{"A": {string(make([]byte, 70_000))}}
	put(t, c, "https://a.test/head.js", render.Answer{Status: 200, Header: large})
	if a, _ := c.Answer(to(http.MethodGet, "https://a.test/head.js")); a.Refused != answers.Crowded {
		t.Error("an answer with a head of 70 kB is kept")
	}
}

// Whatever is kept and freed, everything is read back unchanged, and the space is bounded.
func TestRoomIsUsedAgain(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	c := open(t, 4000)
	type kept struct {
		page *answers.Page
		body []byte
	}
	var all []kept
	for n := range 3000 {
		if len(all) > 0 && random.IntN(2) == 0 {
			i := random.IntN(len(all))
			got, err := all[i].page.Load()
			if err != nil || !bytes.Equal(got.Body, all[i].body) {
				t.Fatalf("step %d: a body came back changed: %v", n, err)
			}
			all[i].page.Free()
			all[i] = all[len(all)-1]
			all = all[:len(all)-1]
			continue
		}
		body := bytes.Repeat([]byte(strconv.Itoa(n%10)), random.IntN(400))
		page := c.Keep(&render.Page{URL: "https://a.test/" + strconv.Itoa(n), Status: 200, Body: body})
		if page != nil {
			all = append(all, kept{page, body})
		}
	}
	for _, k := range all {
		k.page.Free()
	}
	if c.Keep(&render.Page{Body: make([]byte, 4000)}) == nil {
		t.Error("when all is freed, not all the room is there")
	}
}

// Nothing is left in the folder, and after Close there are no answers.
func TestClose(t *testing.T) {
	dir := t.TempDir()
	c := answers.New(dir, 1000)
	put(t, c, "https://a.test/app.js", render.Answer{Status: 200, Body: []byte("one")})
	page := c.Keep(&render.Page{Body: []byte("page")})
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
	page.Free()
	if got, err := page.Load(); err == nil && len(got.Body) > 0 {
		t.Errorf("a page can be loaded after the end: %q", got.Body)
	}
	if c.Has(render.Resource{URL: "https://a.test/app.js"}) {
		t.Error("there is an answer after the end")
	}
	put(t, c, "https://a.test/b.js", render.Answer{Status: 200, Body: []byte("b")})
	if a, _ := c.Answer(to(http.MethodGet, "https://a.test/b.js")); a.Body != nil {
		t.Error("an answer is kept after the end")
	}
}

// Whatever exceeds a page's number of requests is refused.
func TestLook(t *testing.T) {
	c := open(t, 1000)
	put(t, c, "https://a.test/1", render.Answer{Status: 200})
	put(t, c, "https://a.test/3", render.Answer{Status: 200})
	look := answers.Look{Answers: c, Most: 2}
	if a, ok := look.Answer(to(http.MethodGet, "https://a.test/1")); !ok || a.Status != 200 || len(look.Refused) > 0 {
		t.Errorf("what is known has the answer %+v, %v", a, ok)
	}
	if a, ok := look.Answer(to(http.MethodGet, "https://a.test/2")); ok || len(look.Refused) > 0 {
		t.Errorf("what is not known has the answer %+v", a)
	}
	if a, ok := look.Answer(to(http.MethodGet, "https://a.test/1")); !ok || a.Status != 200 {
		t.Errorf("asked twice, it counts twice: %+v, %v", a, ok)
	}
	if a, ok := look.Answer(to(http.MethodGet, "https://a.test/3")); !ok || a.Refused != answers.TooMany ||
		!look.Refused[answers.TooMany] {
		t.Errorf("the third request has the answer %+v, %v", a, ok)
	}
}

// A body is read in pieces. The first has the header, and all state the size and sum of the whole.
func TestPiece(t *testing.T) {
	c := open(t, 1000)
	body := []byte("0123456789")
	put(t, c, "https://a.test/1", render.Answer{Status: 200, Header: http.Header{"Etag": {"1"}}, Body: body})
	put(t, c, "https://a.test/2", render.Answer{Refused: "no"})
	for at, want := range map[int]string{0: "0123", 4: "4567", 8: "89", 10: "", 99: ""} {
		p, ok := c.Piece(render.Resource{URL: "https://a.test/1"}, at, 4)
		if !ok || string(p.Body) != want || p.Size != 10 || p.Sum != xxh3.Hash(body) || p.Status != 200 {
			t.Errorf("from %d on: %+v, %t", at, p, ok)
		}
		if got := p.Header.Get("ETag"); (got != "") != (at == 0) {
			t.Errorf("from %d on the header is %v", at, p.Header)
		}
	}
	p, ok := c.Piece(render.Resource{URL: "https://a.test/2"}, 0, 4)
	if !ok || p.Refused != "no" || p.Size != 0 || p.Sum != xxh3.Hash(nil) {
		t.Errorf("of a refusal: %+v, %t", p, ok)
	}
	if _, ok := c.Piece(render.Resource{URL: "https://a.test/3"}, 0, 4); ok {
		t.Error("there is a piece of what nobody has asked for")
	}
}

// Header bytes that are not UTF-8 are dropped.
func TestHeaderIsText(t *testing.T) {
	c := open(t, 1000)
	put(t, c, "https://a.test/1", render.Answer{Status: 302, Header: http.Header{"Location": {"/caf\xe9.js"}}})
	if a, _ := c.Answer(to(http.MethodGet, "https://a.test/1")); a.Header.Get("Location") != "/caf.js" {
		t.Errorf("the header is %q", a.Header)
	}
}

// However many refusals there are, memory is bounded.
func TestRefusalsAreBounded(t *testing.T) {
	c := open(t, 1000)
	for i := range 300_000 {
		put(t, c, "https://a.test/"+strconv.Itoa(i), render.Answer{Refused: "blacklist"})
	}
	if c.Has(render.Resource{URL: "https://a.test/299999"}) || !c.Has(render.Resource{URL: "https://a.test/99999"}) {
		t.Error("too many refusals are kept, or too few")
	}
	if p, known := c.Piece(render.Resource{URL: "https://a.test/299999"}, 0, 1000); !known || p.Refused != answers.Crowded {
		t.Errorf("what cannot be kept is known %t, refused %q", known, p.Refused)
	}
}

// However long the requested URLs and the received headers are, memory is bounded.
func TestWordsAreBounded(t *testing.T) {
	long := strings.Repeat("x", 60_000)
	for what, each := range map[string]func(n string) (string, render.Answer){
		"URLs": func(n string) (string, render.Answer) {
			return "https://a.test/" + long + n, render.Answer{Refused: "not an https URL"}
		},
		"headers": func(n string) (string, render.Answer) {
			return "https://a.test/" + n, render.Answer{Status: 200, Header: http.Header{"A": {long}}}
		},
	} {
		c := open(t, 1000)
		for i := range 3000 {
			url, a := each(strconv.Itoa(i))
			put(t, c, url, a)
		}
		first, _ := each("0")
		last, _ := each("2999")
		if !c.Has(render.Resource{URL: first}) || c.Has(render.Resource{URL: last}) {
			t.Errorf("of 180 MB of %s the first is kept %t, the last %t", what, c.Has(render.Resource{URL: first}),
				c.Has(render.Resource{URL: last}))
		}
		if a, known := c.Answer(to(http.MethodGet, last)); !known || a.Refused != answers.Crowded {
			t.Errorf("what cannot be kept is known %t, refused %q", known, a.Refused)
		}
	}
}
