//go:build linux || darwin

package proof

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/webtest"
	"github.com/sumi-ripple/ripple/kv/survey"
)

const meansConfig = `
[crawler]
max-depth = 2
[retry]
max-retries = 0
timeout = "2m"
connect-timeout = "2m"
[politeness]
minimum-time-per-address = "0s"
[network]
max-open = 400
[[quality]]
domain = "h0.test"
seeds = ["https://h0.test/"]
`

// manyHosts makes a host with links to the others, all with a few pages.
func manyHosts(s *webtest.Server, hosts int) {
	var links []string
	for i := range hosts {
		h := s.Host(fmt.Sprintf("h%d.test", i))
		h.Page("/", crawltest.Anchors("/1", "/2", "/3"))
		for p := range 3 {
			h.Page(fmt.Sprintf("/%d", p+1), "<title>a page</title>")
		}
		links = append(links, fmt.Sprintf("https://h%d.test/", i))
	}
	s.Host("h0.test").Page("/", crawltest.Anchors(links...))
}

// limitDescriptors sets the limit of descriptors of this process from a variable, if that is set.
func limitDescriptors(env string) error {
	n, err := strconv.ParseUint(os.Getenv(env), 10, 32)
	if err != nil {
		return nil
	}
	return syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: n, Max: n})
}

// TestFewDescriptors crawls with hardly any descriptors, limited before the start and in mid-crawl.
// No host is to blame.
func TestFewDescriptors(t *testing.T) {
	t.Parallel()
	want := ""
	for _, tt := range []struct{ name, env, told string }{
		{"as many as there are", envFiles + "=", ""},
		{"few from the start", envFiles + "=40", "the limit of descriptors"},
		{"few later", envLater + "=24", "this machine lacks descriptors"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := crawltest.Serve(t)
			manyHosts(s, 120)
			w := newKillableWeb(t, s, meansConfig)
			log := filepath.Join(t.TempDir(), "log.json")
			cmd := child(w.config, envLog+"="+log, tt.env)
			if err := cmd.Run(); err != nil {
				t.Fatal(err)
			}
			crawltest.EachPage(t, w.state, func(p *survey.Page) {
				if p.Error != "" || p.Retries > 0 {
					t.Errorf("%s: %s, %d retries", p.URL, p.Error, p.Retries)
				}
			})
			digest := crawltest.Digest(t, w.state)
			if want == "" {
				want = digest
			}
			if digest != want {
				t.Errorf("digest %s, want %s", digest, want)
			}
			text, err := os.ReadFile(log)
			if err != nil {
				t.Fatal(err)
			}
			if told := strings.Count(string(text), `"level":"WARN"`); tt.told != "" &&
				strings.Count(string(text), tt.told) != 1 || told > 1 {
				t.Errorf("told %s", text)
			}
		})
	}
}
