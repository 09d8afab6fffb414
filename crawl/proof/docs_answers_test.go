package proof

import (
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path"
	"strings"
	"testing"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

// TestDocumentationAnswers crawls real pages at hosts that show a page with a status of success for what they do not
// have. No page that exists is taken for a missing one, a wall or an offer of its domain, and all missing ones are found.
func TestDocumentationAnswers(t *testing.T) {
	t.Parallel()
	root := os.Getenv("RIPPLE_DOCS")
	if root == "" {
		t.Skip("RIPPLE_DOCS does not name the folder of the documentation packages")
	}
	s := crawltest.Serve(t)
	text, files := docsConfig+"[checks]\nsoft-404 = \"origins\"\n", map[string]fs.FS{}
	for _, d := range crawltest.Documentations(t, root) {
		s.Host(d.Host).Handle("/*", softly(d.Files))
		files[d.Host] = d.Files
		text += fmt.Sprintf("[[quality]]\ndomain = %q\nseeds = [\"https://%s/\"]\n", d.Host, d.Host)
	}
	w := newKillableWeb(t, s, text)
	if !w.crawl(t, 0) {
		t.Fatal("the crawl did not come to its end")
	}
	read, found := 0, 0
	crawltest.Surveyed(t, w.state, func(sv *survey.Survey) error {
		err := sv.EachPage(func(p *survey.Page) error {
			if p.State != schema.Processed {
				return nil
			}
			name, err := url.PathUnescape(strings.TrimPrefix(p.URL, "https://"+p.HostName+"/"))
			if err != nil {
				return err
			}
			exists := name == "" || has(files[p.HostName], name)
			switch {
			case exists && p.Answer != schema.AnswerPage:
				t.Errorf("%s is taken for %s (%s)", p.URL, p.Answer, p.AnswerRule)
			case exists:
				read++
			case p.Answer == schema.AnswerSoft404:
				found++
			case strings.TrimSuffix(name, path.Ext(name)) != "index": // by its name a front page
				t.Errorf("%s does not exist", p.URL)
			}
			return nil
		})
		if err != nil {
			return err
		}
		return sv.Hosts.Each(func(h *survey.HostReport) error {
			if len(h.Origins) > 0 && (h.MissingPages != "soft" || h.Wall != "" || h.Parked != "") {
				t.Errorf("%s: missing pages %q, wall %q, parked %q", h.Host.Name, h.MissingPages, h.Wall, h.Parked)
			}
			return nil
		})
	})
	t.Logf("%d pages processed: none is taken for a soft 404, a wall or an offer; %d missing pages are found", read, found)
	if read < 3000 || found < 50 {
		t.Errorf("%d pages processed, %d missing: the documentation is not all there", read, found)
	}
}

func has(files fs.FS, name string) bool {
	_, err := fs.Stat(files, name)
	return err == nil
}

// softly serves files, and the same page with a status of success for everything else.
func softly(files fs.FS) http.HandlerFunc {
	served := http.FileServerFS(files)
	return func(w http.ResponseWriter, r *http.Request) {
		if name := strings.Trim(r.URL.Path, "/"); name == "" || has(files, name) {
			served.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, "<title>Not here</title><h1>Sorry</h1><p>What you look for was removed, or has another address now.")
	}
}
