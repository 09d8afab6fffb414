package crawl

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/sumi-ripple/ripple/crawl/render"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// A paperBrowser renders pages without a browser. Their scripts are lines: "get URL" runs
// what comes back in turn, "link URL" adds a link to the page, "title TEXT" a title, "go URL"
// tries to leave it, "large" makes it too large.
type paperBrowser struct {
	takes time.Duration                 // a look
	fail  func(url string, n int) error // the nth look at a page; nil: none fails
	mu    sync.Mutex
	looks map[string]int
	most  int // that were open at a time
	open  int
}

var scriptSource = regexp.MustCompile(`<script src="([^"]*)">`)

func (b *paperBrowser) Close() error { return nil }

func (b *paperBrowser) Render(ctx context.Context, p render.Page, a render.Answers) (render.Rendering, error) {
	b.mu.Lock()
	if b.looks == nil {
		b.looks = map[string]int{}
	}
	n := b.looks[p.URL]
	b.looks[p.URL]++
	b.open++
	b.most = max(b.most, b.open)
	b.mu.Unlock()
	defer func() {
		b.mu.Lock()
		b.open--
		b.mu.Unlock()
	}()
	select {
	case <-time.After(b.takes):
	case <-ctx.Done():
		return render.Rendering{}, ctx.Err()
	}
	if b.fail != nil {
		if err := b.fail(p.URL, n); err != nil {
			return render.Rendering{}, err
		}
	}
	l := &paperLook{answers: a, base: p.URL}
	for _, m := range scriptSource.FindAllStringSubmatch(string(p.Body), -1) {
		l.get(m[1])
	}
	if len(l.Missing) > 0 {
		return l.Rendering, nil
	}
	l.DOM = []byte("<!doctype html>" + string(p.Body) + l.added.String())
	return l.Rendering, nil
}

// A paperLook is one look at a page.
type paperLook struct {
	render.Rendering
	answers render.Answers
	base    string
	added   strings.Builder
}

func (l *paperLook) get(ref string) {
	url := ref
	if strings.HasPrefix(ref, "/") {
		url = "https://" + weburl.Host(l.base) + ref
	}
	req := render.Request{Method: http.MethodGet, URL: url}
	a, ok := l.answers.Answer(req.Method, req.URL)
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
		l.get(a.Header.Get("Location"))
		return
	}
	if a.Status != 200 {
		return
	}
	for line := range strings.Lines(string(a.Body)) {
		do, what, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch do {
		case "get":
			l.get(what)
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

// show renders a page as a visitor does.
func (s *paperServers) show(p *parser, step ring.Step) (o ring.Outcome) {
	v := visitors{parsers: make(parsers, 1)}
	v.parsers <- p
	v.render(s.t.Context(), step, func(rendered ring.Outcome) { o = rendered })
	return o
}

// shell is a page that shows nothing but what its scripts make of it.
func shell(scripts ...string) reply {
	var b strings.Builder
	b.WriteString(`<!doctype html><html><head><title>shell</title></head><body><noscript>You need to enable JavaScript` +
		` to run this app.</noscript><div id="root"></div>`)
	for _, src := range scripts {
		fmt.Fprintf(&b, `<script src="%s"></script>`, src)
	}
	b.WriteString("</body></html>")
	return reply{status: http.StatusOK, body: b.String()}
}

// script is what scripts ask for: lines for a [paperBrowser].
func script(lines ...string) reply {
	return reply{
		status: http.StatusOK, header: http.Header{"Content-Type": {"text/javascript"}}, body: strings.Join(lines, "\n"),
	}
}
