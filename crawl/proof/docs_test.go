package proof

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	whatwg "github.com/nlnwa/whatwg-url/url"
	"golang.org/x/net/html"
	"golang.org/x/net/html/charset"
	"golang.org/x/net/publicsuffix"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/webtest"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

const docsConfig = `
[crawler]
max-depth = 0
max-domain-requests = 100000
head-check = "auto"
[politeness]
adaptive-delay = false
[traps]
max-queries-per-path = 0
`

// TestDocumentation crawls real pages and compares the map with a count that shares no code with
// Ripple: goquery, the oracle's URL parser and the files.
func TestDocumentation(t *testing.T) {
	t.Parallel()
	root := os.Getenv("RIPPLE_DOCS")
	if root == "" {
		t.Skip("RIPPLE_DOCS does not name the folder of the documentation packages (git-doc, python3-doc, " +
			"postgresql-doc-15, cmake-doc, nodejs-doc)")
	}
	s := crawltest.Serve(t)
	text := docsConfig
	oracle := &counter{files: map[string]fs.FS{}, states: map[string]string{}, links: map[string]bool{}}
	for _, d := range crawltest.Documentations(t, root) {
		s.Host(d.Host).Folder(d.Files)
		seed := "https://" + d.Host + d.Front
		oracle.files[d.Host] = d.Files
		oracle.seeds = append(oracle.seeds, seed)
		text += fmt.Sprintf("[[quality]]\ndomain = %q\nseeds = [%q]\n", d.Host, seed)
	}
	oracle.count()
	w := newKillableWeb(t, s, text)
	if !w.crawl(t, 0) {
		t.Fatal("the crawl did not come to its end")
	}
	states, links := readMap(t, w.state)
	processed := 0
	for _, state := range states {
		if state == "processed" {
			processed++
		}
	}
	t.Logf("%d pages processed, %d URLs, %d links", processed, len(states), len(links))
	t.Logf("digest %s", crawltest.Digest(t, w.state))
	report(t, "state", states, oracle.states)
	report(t, "link", asStrings(links), asStrings(oracle.links))
	if processed < 3000 {
		t.Errorf("%d pages processed: the documentation is not all there", processed)
	}
	for _, bad := range webtest.CheckLog(s.Log(), webtest.MinGap(100*time.Millisecond, 0), webtest.MaxOpen(1, 0),
		webtest.RobotsFirst()) {
		t.Error(bad)
	}
}

// readMap returns the state of every page, and the links between them.
func readMap(t testing.TB, path string) (states map[string]string, links map[string]bool) {
	t.Helper()
	states, links = map[string]string{}, map[string]bool{}
	names := map[schema.ID]string{}
	crawltest.Surveyed(t, path, func(sv *survey.Survey) error {
		err := sv.EachPage(func(p *survey.Page) error {
			states[p.URL], names[p.ID] = p.State.String(), p.URL
			return nil
		})
		return errors.Join(err, sv.Links.Each(func(from schema.ID, l schema.Link, _, _ schema.RunID) error {
			links[names[from]+" "+names[l.To]] = true
			return nil
		}))
	})
	return states, links
}

func asStrings(set map[string]bool) map[string]string {
	all := map[string]string{}
	for k := range set {
		all[k] = "there"
	}
	return all
}

func report(t testing.TB, what string, got, want map[string]string) {
	t.Helper()
	shown := 0
	for _, k := range slices.Sorted(maps.Keys(want)) {
		if got[k] != want[k] && shown < 15 {
			shown++
			t.Errorf("%s of %s: %q, want %q", what, k, got[k], want[k])
		}
	}
	for _, k := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[k]; !ok && shown < 30 {
			shown++
			t.Errorf("%s of %s: %q, want none", what, k, got[k])
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d entries of %s, want %d", len(got), what, len(want))
	}
}

// A counter walks files breadth first, as a browser would read them.
type counter struct {
	files  map[string]fs.FS
	seeds  []string
	states map[string]string
	links  map[string]bool
	queue  []string
}

func (c *counter) count() {
	for _, seed := range c.seeds {
		c.meet(seed)
	}
	for len(c.queue) > 0 {
		form := c.queue[0]
		c.queue = c.queue[1:]
		c.visit(form)
	}
}

// meet records a URL once, by its identity, and queues it if its host is served.
func (c *counter) meet(form string) (id string) {
	id = identity(form)
	if _, known := c.states[id]; known || id == "" {
		return id
	}
	u, _ := url.Parse(id)
	if _, served := c.files[u.Host]; !served {
		c.states[id] = "depth_exceeded"
		return id
	}
	c.states[id] = "queued"
	c.queue = append(c.queue, form)
	return id
}

func (c *counter) visit(form string) {
	id := identity(form)
	u, err := url.Parse(form)
	if err != nil {
		c.states[id] = "unreadable"
		return
	}
	name := strings.TrimPrefix(u.Path, "/")
	if dir := strings.TrimSuffix(name, "/"); dir == "" || strings.HasSuffix(name, "/") {
		name = path.Join(dir, "index.html")
	} else if st, err := fs.Stat(c.files[strings.TrimPrefix(u.Host, "www.")], dir); err == nil && st.IsDir() {
		name = dir + "/index.html" // redirected to the form with a slash
		u.Path += "/"
	}
	body, err := fs.ReadFile(c.files[u.Host], name)
	if err != nil {
		c.states[id] = "dead_link"
		return
	}
	if ext := path.Ext(name); ext != ".html" && ext != ".htm" {
		c.states[id] = "content_mismatch"
		return
	}
	c.states[id] = "processed"
	c.read(id, u.String(), body)
}

func (c *counter) read(id, base string, body []byte) {
	text, err := charset.NewReader(bytes.NewReader(body), "text/html; charset=utf-8")
	if err != nil {
		return
	}
	root, err := html.ParseWithOptions(text, html.ParseOptionEnableScripting(false))
	if err != nil {
		return
	}
	doc := goquery.NewDocumentFromNode(root)
	if href, ok := doc.Find("base[href]").First().Attr("href"); ok {
		base = resolve(base, href)
	}
	link := func(attr string) func(int, *goquery.Selection) {
		return func(_ int, s *goquery.Selection) {
			if _, download := s.Attr("download"); download && goquery.NodeName(s) != "link" {
				return
			}
			to := c.meet(resolve(base, s.AttrOr(attr, "")))
			if to != "" && to != id {
				c.links[id+" "+to] = true
			}
		}
	}
	doc.Find("a[href], area[href]").Each(link("href"))
	doc.Find("link[rel~=canonical][href]").Each(link("href"))
	doc.Find("frame[src]").Each(link("src"))
}

// resolve returns the absolute URL of a reference, or "" if it is not a page.
func resolve(base, ref string) string {
	u, err := whatwg.NewParser().ParseRef(base, ref)
	if err != nil || u.Protocol() != "http:" && u.Protocol() != "https:" || u.Hostname() == "" {
		return ""
	}
	u.SetHash("")
	u.SetUsername("")
	u.SetPassword("")
	return "https" + strings.TrimPrefix(u.Href(false), strings.TrimSuffix(u.Protocol(), ":"))
}

// identity computes the identity of a page, spelled out step by step for the simple URLs of
// documentation.
func identity(form string) string {
	if form == "" {
		return ""
	}
	u, err := whatwg.NewParser().Parse(form)
	if err != nil {
		return ""
	}
	host := strings.TrimSuffix(u.Host(), ".")
	for strings.HasPrefix(host, "www.") {
		rest := strings.TrimPrefix(host, "www.")
		if suffix, icann := publicsuffix.PublicSuffix(rest); suffix == rest && icann {
			break
		}
		host = rest
	}
	p := u.Pathname()
	for _, c := range "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~" {
		for _, escape := range []string{fmt.Sprintf("%%%02x", c), fmt.Sprintf("%%%02X", c)} {
			p = strings.ReplaceAll(p, escape, string(c))
		}
	}
	if p = strings.TrimRight(p, "/"); p == "" {
		p = "/"
	}
	var kept []string
	for _, piece := range strings.Split(strings.TrimPrefix(u.Search(), "?"), "&") {
		name, _, _ := strings.Cut(strings.ToLower(piece), "=")
		if piece != "" && !strings.HasPrefix(name, "utm_") &&
			!slices.Contains([]string{"fbclid", "gclid", "mc_eid", "ref", "source"}, name) {
			kept = append(kept, piece)
		}
	}
	slices.SortStableFunc(kept, func(a, b string) int {
		x, _, _ := strings.Cut(a, "=")
		y, _, _ := strings.Cut(b, "=")
		return strings.Compare(x, y)
	})
	if len(kept) > 0 {
		p += "?" + strings.Join(kept, "&")
	}
	return "https://" + host + p
}
