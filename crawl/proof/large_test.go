package proof

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/webtest"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/process"
)

const largeConfig = `
[crawler]
max-depth = 1
head-check = "never"
sitemaps = "off"
[retry]
max-retries = 0
[network]
max-open = %d
[[quality]]
domain = "h0.test"
seeds = ["https://h0.test/"]
`

// outsideHeap is memory that no collector sees: the program, and mapped pages of the state file.
const outsideHeap = 32_000_000

// TestLargeBodies opens pages of 9.9 MB at the same time, every other one of which is small on the
// wire, under a limit that holds a few of them. All of them are read within the limit. A limit is
// soft, and on a busy machine the collector may be late; the short form leaves room for that.
// Without a budget, 100 of them took 2.7 GB.
func TestLargeBodies(t *testing.T) {
	hosts, limit, most := 24, 250_000_000, int64(350_000_000)
	if crawltest.Full() {
		hosts, limit, most = 100, 400_000_000, 400_000_000
	}
	s := crawltest.Serve(t)
	serveLarge(t, s, hosts)
	w := newKillableWeb(t, s, fmt.Sprintf(largeConfig, hosts))
	cmd := child(w.config, fmt.Sprintf("GOMEMLIMIT=%d", limit-outsideHeap))
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	pages := 0
	crawltest.EachPage(t, w.state, func(p *survey.Page) {
		if pages++; p.State != schema.Processed || p.Error != "" || p.Retries > 0 {
			t.Errorf("%s: %v, %s, %d retries", p.URL, p.State, p.Error, p.Retries)
		}
	})
	if pages != hosts {
		t.Errorf("%d pages, want %d", pages, hosts)
	}
	held := process.MaxResident(cmd.ProcessState)
	t.Logf("%d bodies of 9.9 MB: %d MB resident at most", hosts, held/1e6)
	if held > most && !process.Race {
		t.Errorf("%d MB resident, want %d", held/1e6, most/1e6)
	}
}

// serveLarge serves a host with links to others, which have a large page each.
func serveLarge(t *testing.T, s *webtest.Server, hosts int) {
	t.Helper()
	plain := []byte("<title>a large page</title>" + strings.Repeat("words and words ", 9_900_000/16))
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write(plain) // writing to a bytes.Buffer cannot fail
	_ = z.Close()
	var links []string
	for i := 1; i < hosts; i++ {
		name := fmt.Sprintf("h%d.test", i)
		links = append(links, "https://"+name+"/")
		s.Host(name).Handle("/", func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(time.Second) // so that they arrive together
			w.Header().Set("Content-Type", "text/html")
			if i%2 == 0 {
				_, _ = w.Write(plain)
				return
			}
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(packed.Bytes())
		})
	}
	s.Host("h0.test").Page("/", crawltest.Anchors(links...))
}
