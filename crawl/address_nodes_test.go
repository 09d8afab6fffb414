package crawl

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/webtest/nameserver"
)

// RIPPLE_PROOF_ADDRESS=1 measures how long machines of a terrain need for 200 hosts at one address.
func TestCostOfSharedAddress(t *testing.T) {
	if os.Getenv("RIPPLE_PROOF_ADDRESS") == "" {
		t.Skip("RIPPLE_PROOF_ADDRESS is not set")
	}
	for _, tt := range []struct {
		name  string
		hosts []int // by machine
	}{
		{"one machine", []int{200}},
		{"four machines", []int{50, 50, 50, 50}},
		{"four machines, hosts of one site", []int{200, 0, 0, 0}},
		{"four machines, unevenly", []int{80, 60, 40, 20}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			web := crawltest.Serve(t)
			var all errgroup.Group
			began := time.Now()
			for machine, hosts := range tt.hosts {
				if hosts == 0 {
					continue
				}
				name := func(n int) string { return fmt.Sprintf("h%d-%d.test", machine, n) }
				var seeds []string
				for n := range hosts {
					web.Host(name(n)+":"+portOf(web)).Page("/", "<title>here</title>")
					seeds = append(seeds, fmt.Sprintf("[[quality]]\ndomain = %q\nseeds = [\"https://%[1]s:%s/\"]\n", name(n),
						portOf(web)))
				}
				m := withNames(t, func(string) nameserver.Answer { return nameserver.At([4]byte{127, 0, 0, 1}) })
				m.ShareAddresses(len(tt.hosts))
				c := m.begin(t, crawltest.Parse(t, crawltest.Config(t, web, `[crawler]
max-concurrent-pages-open = 100
[politeness]
minimum-time-per-address = "50ms"
adaptive-delay = false
[network]
connect-to = {}
allow-private = ["127.0.0.0/8"]
`+strings.Join(seeds, ""))))
				all.Go(func() error { _, err := c.Run(t.Context()); return err })
			}
			if err := all.Wait(); err != nil {
				t.Fatal(err)
			}
			t.Logf("%d requests in %.1f s", len(web.Log()), time.Since(began).Seconds())
		})
	}
}
