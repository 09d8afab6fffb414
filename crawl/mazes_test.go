package crawl

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

// A mazeWeb is a part of a host: page returns the text and the links of a path, or no text if there is no such page.
type mazeWeb func(path string) (text string, to []string)

// saying returns n words of a writer with a vocabulary that grows with what is written, as that of people does.
func saying(rng *rand.Rand, n int) string {
	var b strings.Builder
	for range n {
		rank := int(rng.ExpFloat64() * rng.ExpFloat64() * 60)
		if rng.IntN(12) == 0 { // a name
			rank = 1_000 + rng.IntN(200_000)
		}
		b.WriteString(letters(rank))
		b.WriteByte(' ')
	}
	return b.String()
}

// letters spells a number as a word.
func letters(n int) string {
	word := []byte("wo")
	for n += 1_000; n > 0; n /= 20 {
		word = append(word, "bcdfghjklmnpqrstvwxz"[n%20])
	}
	return string(word)
}

func diceOf(path string) *rand.Rand {
	seed := uint64(len(path))
	for _, c := range []byte(path) {
		seed = seed*1_000_003 + uint64(c)
	}
	return rand.New(rand.NewPCG(seed, 1))
}

// babble is text by a Markov chain over a few sentences, with links to further text.
func babble(path string) (string, []string) {
	corpus := strings.Fields(`the old harbour keeps its boats under grey canvas until the first warm morning when the
		keeper of the harbour opens the sheds and the boats are carried down to the water where the first fish of the
		morning wait under the grey canvas of the water until the keeper of the boats carries them down to the old
		sheds and opens the first canvas of the warm harbour`)
	next := map[string][]string{}
	for i, w := range corpus {
		next[w] = append(next[w], corpus[(i+1)%len(corpus)])
	}
	rng := diceOf(path)
	var text []string
	for w := corpus[rng.IntN(len(corpus))]; len(text) < 250; w = next[w][rng.IntN(len(next[w]))] {
		text = append(text, w)
	}
	var to []string
	for range 3 + rng.IntN(4) {
		to = append(to, fmt.Sprintf("/babble/%s-%s/%d", corpus[rng.IntN(9)], corpus[rng.IntN(60)], rng.IntN(1e6)))
	}
	return strings.Join(text, " "), append(to, "/")
}

// calendar has a page a month, and one a day, in both directions for ever.
func calendar(path string) (string, []string) {
	var y, m int
	day := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	if n, _ := fmt.Sscanf(path, "/calendar/%d/%d", &y, &m); n == 2 {
		day = time.Date(y, time.Month(m), 1, 0, 0, 0, 0, time.UTC)
	}
	url := func(t time.Time) string { return t.Format("/calendar/2006/01") }
	text := "Events of " + day.Format("January 2006") + ". Monday Tuesday Wednesday Thursday Friday Saturday Sunday. " +
		"There are no events in this month. Choose another month, or write to us if your event is missing here. "
	for d := range 30 {
		text += fmt.Sprint(d+1, " ")
	}
	return text, []string{url(day.AddDate(0, -1, 0)), url(day.AddDate(0, 1, 0)), url(day.AddDate(1, 0, 0)), "/"}
}

// facets shows the same goods under every set of filters.
func facets(path string) (string, []string) {
	_, query, _ := strings.Cut(path, "?")
	var on []string
	if query != "" {
		on = strings.Split(query, "&")
	}
	var to []string
	for i := range 12 {
		filter := fmt.Sprintf("f%d=1", i)
		if !strings.Contains("&"+query+"&", "&"+filter+"&") {
			to = append(to, "/shop?"+strings.Join(append(append([]string{}, on...), filter), "&"))
		}
	}
	return "Filters: " + strings.Join(on, " ") + ". " + saying(rand.New(rand.NewPCG(7, 7)), 800), to
}

// sessions has ten pages, whose links bear a new number each time.
func sessions() mazeWeb {
	session := 0
	return func(path string) (string, []string) {
		if path != "/app" && !strings.HasPrefix(path, "/app/") {
			return "", nil
		}
		page, _, _ := strings.Cut(strings.TrimPrefix(path, "/app/"), "?")
		var to []string
		for i := range 10 {
			session++
			to = append(to, fmt.Sprintf("/app/page%d?sid=%d", i, session))
		}
		return saying(diceOf(page), 300), to
	}
}

// mirror repeats a tree of pages in itself, under new names.
func mirror(path string) (string, []string) {
	var to []string
	for i := range 4 {
		to = append(to, fmt.Sprintf("%s/copy%d%d", strings.TrimSuffix(path, "/"), strings.Count(path, "/"), i))
	}
	return saying(diceOf(path[max(0, len(path)-1):]), 300), to
}

// wiki is 600 articles that link to each other.
func wiki(path string) (string, []string) {
	rng := diceOf(path)
	var to []string
	for range 8 {
		to = append(to, "/wiki/article"+fmt.Sprint(int(rng.ExpFloat64()*100)%600))
	}
	return saying(rng, 250), append(to, "/wiki/index")
}

// stubs is a wiki of 3000 articles with many links, two in five of which have the same text.
func stubs(path string) (string, []string) {
	rng := diceOf(path)
	var to []string
	for range 40 {
		to = append(to, fmt.Sprintf("/wiki/article%d", rng.IntN(3000)))
	}
	if rng.IntN(5) < 2 {
		rng = diceOf("/wiki")
	}
	return saying(rng, 250), to
}

// goods is a shop without folders. Two in five of its 3000 goods have the same text.
func goods(path string) (string, []string) {
	rng := diceOf(path)
	var to []string
	for range 6 {
		to = append(to, fmt.Sprintf("/product-%d", rng.IntN(3000)))
	}
	if rng.IntN(5) < 2 {
		rng = diceOf("/product")
	}
	return path + " " + saying(rng, 250), to
}

// forum has threads of several pages, and users.
func forum(path string) (string, []string) {
	var thread, page int
	switch n, _ := fmt.Sscanf(path, "/forum/thread/%d/%d", &thread, &page); {
	case n == 2:
		to := []string{fmt.Sprintf("/forum/user/%d", diceOf(path).IntN(40)), "/forum/page/1"}
		if page < 1+thread%3 {
			to = append(to, fmt.Sprintf("/forum/thread/%d/%d", thread, page+1))
		}
		return saying(diceOf(path), 200), to
	case strings.HasPrefix(path, "/forum/user/"):
		return "Member since last year. " + path, nil
	}
	page = 1
	fmt.Sscanf(path, "/forum/page/%d", &page)
	var to []string
	for i := range 15 {
		to = append(to, fmt.Sprintf("/forum/thread/%d/1", page*15+i))
	}
	if page < 30 {
		to = append(to, fmt.Sprintf("/forum/page/%d", page+1))
	}
	return saying(diceOf(path), 60), to
}

// datedArchive is a blog of 400 posts, ten to a page, and each with links to its neighbours.
func datedArchive(path string) (string, []string) {
	var post, page int
	if n, _ := fmt.Sscanf(path, "/archive/post/%d", &post); n == 1 {
		to := []string{fmt.Sprintf("/archive/post/%d", max(post-1, 1)), fmt.Sprintf("/archive/post/%d", min(post+1, 400))}
		return saying(diceOf(path), 250), to
	}
	page = 1
	fmt.Sscanf(path, "/archive/page/%d", &page)
	var to []string
	for i := range 10 {
		to = append(to, fmt.Sprintf("/archive/post/%d", page*10-i))
	}
	if page < 40 {
		to = append(to, fmt.Sprintf("/archive/page/%d", page+1))
	}
	return saying(diceOf(path), 60), to
}

// mazeHost serves a front page, ten pages of its own, and a web that the front page enters at one address.
func mazeHost(entry string, web mazeWeb) func(question) reply {
	return func(q question) reply {
		text, to := "", []string(nil)
		switch {
		case q.path == "/robots.txt", strings.HasPrefix(q.path, "/sitemap"):
			return reply{status: http.StatusNotFound}
		case q.path == "/":
			text, to = "welcome", []string{entry}
			for i := range 10 {
				to = append(to, fmt.Sprintf("/own/%d", i))
			}
		case strings.HasPrefix(q.path, "/own/2") && len(q.path) > len("/own/2"):
			text = saying(diceOf(q.path), 100)
		case strings.HasPrefix(q.path, "/own/"):
			text, to = saying(diceOf(q.path), 100), []string{"/", "/own/2" + q.path[len("/own/"):]}
		default:
			if text, to = web(q.path); text == "" {
				return reply{status: http.StatusNotFound}
			}
		}
		r := links(to...)
		r.body = "<!DOCTYPE html><title>A page</title><p>" + text + "</p>" + r.body
		return r
	}
}

// endless is n pages without a word, each of which leads to three more.
func endless(n int) map[string]reply {
	web := map[string]reply{"a.test/": links("/m/0")}
	for i := range n {
		web[fmt.Sprintf("a.test/m/%d", i)] = links(fmt.Sprintf("/m/%d", min(3*i+1, n-1)),
			fmt.Sprintf("/m/%d", min(3*i+2, n-1)), fmt.Sprintf("/m/%d", min(3*i+3, n-1)))
	}
	return web
}

const mazeKeys = "max-depth = 200\nmax-domain-requests = 900\nminimum-time-on-page = 100\nhead-check = \"never\""

// below counts the requests to a host below a path.
func (s *paperServers) below(host, path string) (n int) {
	for _, e := range only(s.log, host) {
		if schema.Within(e.Path, path) {
			n++
		}
	}
	return n
}

// Every maze is left within 150 pages, even if the crawl is killed on the way, and its host's own pages are visited.
func TestMazes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, entry, prefix string
		web                 func() mazeWeb
	}{
		{"Markov text", "/babble/a/1", "/babble", func() mazeWeb { return babble }},
		{"calendar", "/calendar/2026/11", "/calendar", func() mazeWeb { return calendar }},
		{"facets", "/shop", "/shop", func() mazeWeb { return facets }},
		{"session numbers", "/app/page1?sid=0", "/app", sessions},
		{"mirrored tree", "/tree", "/tree", func() mazeWeb { return mirror }},
	} {
		for _, kill := range []time.Duration{0, 4 * time.Second} {
			t.Run(fmt.Sprintf("%s, kill %v", tt.name, kill), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := newPaperServers(t)
					s.host["a.test"] = mazeHost(tt.entry, tt.web())
					text := politeConfig(map[string]string{"crawler": mazeKeys})
					s.crawl(text, kill)
					if kill > 0 {
						s.crawl(text, 0)
					}
					n := s.below("a.test", tt.prefix)
					if n < 50 || n > 150 {
						t.Errorf("%d pages below %s", n, tt.prefix)
					}
					if own := s.below("a.test", "/own"); own < 20 {
						t.Errorf("%d of 20 own pages", own)
					}
					t.Logf("%d pages, mazes %v", n, s.hostRecord("a.test").Mazes)
				})
			})
		}
	}
}

// No honest part of a host is a maze.
func TestNoMazes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, entry string
		web         mazeWeb
		least       int
	}{
		{"wiki", "/wiki/index", wiki, 300},
		{"wiki with stubs", "/wiki/index", stubs, 300},
		{"shop without folders", "/product-1", goods, 900},
		{"forum", "/forum/page/1", forum, 880},
		{"archive", "/archive/page/1", datedArchive, 439},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newPaperServers(t)
				s.host["a.test"] = mazeHost(tt.entry, tt.web)
				s.crawl(politeConfig(map[string]string{"crawler": mazeKeys}), 0)
				if h := s.hostRecord("a.test"); len(h.Mazes) > 0 || h.RunVisited < tt.least {
					t.Errorf("%d pages, mazes %v", h.RunVisited, h.Mazes)
				}
			})
		})
	}
}

// Nor is the documentation of Debian, as far as it is installed.
func TestDocumentationIsNoMaze(t *testing.T) {
	t.Parallel()
	folders := []string{"git-doc", "python3.11/html", "postgresql-doc-15/html", "cmake-data/html", "nodejs/api"}
	for _, folder := range folders {
		root := filepath.Join("/usr/share/doc", folder)
		if _, err := os.Stat(filepath.Join(root, "index.html")); err != nil {
			continue
		}
		t.Run(folder, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newPaperServers(t)
				s.host["a.test"] = func(q question) reply {
					path, _, _ := strings.Cut(q.path, "?")
					if path == "/" {
						return links("/docs/index.html")
					}
					body, err := os.ReadFile(filepath.Join(root, strings.TrimPrefix(path, "/docs/")))
					if err != nil || !strings.HasSuffix(path, ".html") {
						return reply{status: http.StatusNotFound}
					}
					return reply{status: http.StatusOK, body: string(body)}
				}
				most := crawltest.Number("RIPPLE_BENCH_PAGES", 120)
				keys := strings.Replace(mazeKeys, "900", fmt.Sprint(most), 1)
				s.crawl(politeConfig(map[string]string{"crawler": keys}), 0)
				if h := s.hostRecord("a.test"); len(h.Mazes) > 0 {
					t.Errorf("mazes %v after %d pages", h.Mazes, h.RunVisited)
				}
			})
		})
	}
}

// A maze is a cap: coverage names it, a later run looks at ten of its pages, and without the rule it is walked on.
func TestMazeStands(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newPaperServers(t)
		s.host["a.test"] = mazeHost("/calendar/2026/11", calendar)
		keys := map[string]string{"crawler": mazeKeys, "recrawl": "min-age = \"0s\""}
		s.crawl(politeConfig(keys), 0)
		first := s.below("a.test", "/calendar")
		cover := ""
		crawltest.EachHost(t, s.path, func(r *survey.HostReport) { cover = r.Coverage })
		if !strings.Contains(cover, "capped as a maze (/calendar)") {
			t.Errorf("coverage says %q", cover)
		}
		crawltest.EachPage(t, s.path, func(p *survey.Page) {
			if p.Rule == "maze: /calendar" && p.State != schema.Discovered {
				t.Errorf("%s is %v", p.URL, p.State)
			}
		})
		s.completed()
		s.log = nil
		s.crawl(politeConfig(keys), 0)
		if n := s.below("a.test", "/calendar"); n < schema.MazePages || n > schema.MazePages+10 {
			t.Errorf("%d pages of the maze in the second run, %d in the first", n, first)
		}
		s.completed()
		s.log = nil
		s.host["a.test"] = mazeHost("/calendar/2026/11", func(string) (string, []string) { return "", nil })
		s.crawl(politeConfig(keys), 0)
		if h := s.hostRecord("a.test"); len(h.Mazes) != 0 {
			t.Errorf("mazes after the host has changed: %v", h.Mazes)
		}
		s.completed()
		s.log = nil
		s.host["a.test"] = mazeHost("/calendar/2026/11", calendar)
		keys["traps"] = "maze = false"
		s.crawl(politeConfig(keys), 0)
		if n := s.below("a.test", "/calendar"); n < 500 {
			t.Errorf("%d pages without the rule", n)
		}
	})
}
