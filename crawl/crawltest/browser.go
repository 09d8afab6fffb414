package crawltest

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/sumi-ripple/ripple/crawl/render"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// A Browser simulates rendering without a browser; see [Shell]. Scripts are lines: "get URL [ACCEPT]" requests
// URL and runs the answer, "post URL" sends something, "link URL" adds a link to the page, "title
// TEXT" a title, "go URL" tries to navigate away, "large" makes the page too large. Read its counters only
// while nothing is rendered.
type Browser struct {
	Takes time.Duration                 // duration of one rendering round, all of it processor time
	Fail  func(url string, n int) error // for the nth rendering of a page; nil: none fails

	Endless func(url string) bool // pages that use the processor until they are stopped; nil: none
	Starved bool                  // the browser gets no processor time

	mu    sync.Mutex
	Looks map[string]int
	Most  int // peak number of concurrent renderings
	open  int
}

// Close does nothing: the browser may be used again.
func (b *Browser) Close() error { return nil }

// Render implements the renderer of a crawl.
func (b *Browser) Render(ctx context.Context, p render.Page, a render.Answers) (render.Rendering, error) {
	b.mu.Lock()
	if b.Looks == nil {
		b.Looks = map[string]int{}
	}
	n := b.Looks[p.URL]
	b.Looks[p.URL]++
	b.open++
	b.Most = max(b.Most, b.open)
	b.mu.Unlock()
	defer func() {
		b.mu.Lock()
		b.open--
		b.mu.Unlock()
	}()
	l := &look{answers: a, base: p.URL}
	takes, began := b.Takes, time.Now()
	if b.Endless != nil && b.Endless(p.URL) {
		takes = time.Hour
	}
	var err error
	select {
	case <-time.After(takes):
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if !b.Starved {
		l.Processor = time.Since(began)
	}
	if err != nil {
		return l.Rendering, err
	}
	if b.Fail != nil {
		if err := b.Fail(p.URL, n); err != nil {
			return l.Rendering, err
		}
	}
	source := regexp.MustCompile(`<script src="([^"]*)">`)
	for _, m := range source.FindAllStringSubmatch(string(p.Body), -1) {
		l.get(m[1], "")
	}
	if len(l.Missing) > 0 {
		return l.Rendering, nil
	}
	l.DOM = []byte("<!doctype html>" + string(p.Body) + l.added.String())
	return l.Rendering, nil
}

// A look is one rendering of a page.
type look struct {
	render.Rendering
	answers render.Answers
	base    string
	added   strings.Builder
}

func (l *look) get(ref, accept string) {
	url := ref
	if strings.HasPrefix(ref, "/") {
		url = "https://" + weburl.Host(l.base) + ref
	}
	req := render.Request{Method: http.MethodGet, Resource: render.Resource{URL: url, Accept: accept}}
	a, ok := l.answers.Answer(req)
	switch {
	case !ok:
		l.Missing = append(l.Missing, req)
		return
	case a.Refused != "":
		l.Refused = append(l.Refused, render.Refusal{Request: req, Reason: a.Refused})
		return
	}
	l.Used = append(l.Used, req)
	if a.Status >= 300 && a.Status < 400 {
		l.get(a.Header.Get("Location"), accept)
		return
	}
	if a.Status != 200 {
		return
	}
	for line := range strings.Lines(string(a.Body)) {
		do, what, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch do {
		case "get":
			url, accept, _ := strings.Cut(what, " ")
			l.get(url, accept)
		case "post":
			post := render.Request{Method: http.MethodPost, Resource: render.Resource{URL: what}}
			l.Refused = append(l.Refused, render.Refusal{Request: post, Reason: render.Sends})
		case "link":
			fmt.Fprintf(&l.added, "<a href=%q>shown</a>", what)
		case "title":
			fmt.Fprintf(&l.added, "<title>%s</title>", what)
		case "go":
			l.Navigations = append(l.Navigations, what)
		case "large":
			l.TooLarge = true
		}
	}
}

// Shell returns a page that is empty except for what its scripts add.
func Shell(scripts ...string) string {
	var b strings.Builder
	b.WriteString(`<!doctype html><html><head><title>shell</title></head><body><noscript>You need to enable ` +
		`JavaScript to run this app.</noscript><div id="root"></div>`)
	for _, src := range scripts {
		fmt.Fprintf(&b, `<script src="%s"></script>`, src)
	}
	b.WriteString("</body></html>")
	return b.String()
}
