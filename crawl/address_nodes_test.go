package crawl

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/webtest/nameserver"
)

// BenchmarkSharedAddress measures how long machines of a terrain need for 200 hosts at one address.
func BenchmarkSharedAddress(b *testing.B) {
	for _, tt := range []struct {
		name  string
		hosts []int // by machine
	}{
		{"one machine", []int{200}},
		{"four machines", []int{50, 50, 50, 50}},
		{"four machines, hosts of one site", []int{200, 0, 0, 0}},
		{"four machines, unevenly", []int{80, 60, 40, 20}},
	} {
		b.Run(tt.name, func(b *testing.B) {
			web := crawltest.Serve(b)
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
				m := withNames(b, func(string) nameserver.Answer { return nameserver.At([4]byte{127, 0, 0, 1}) })
				m.ShareAddresses(len(tt.hosts))
				c := m.begin(b, crawltest.Parse(b, crawltest.Config(b, web, `[crawler]
max-concurrent-pages-open = 100
[politeness]
minimum-time-per-address = "50ms"
adaptive-delay = false
[network]
connect-to = {}
allow-private = ["127.0.0.0/8"]
`+strings.Join(seeds, ""))))
				all.Go(func() error { _, err := c.Run(b.Context()); return err })
			}
			if err := all.Wait(); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(time.Since(began).Seconds(), "s")
			b.ReportMetric(float64(len(web.Log())), "requests")
		})
	}
}
