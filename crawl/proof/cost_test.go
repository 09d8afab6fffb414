//go:build linux || darwin

package proof

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/webtest"
)

const costConfig = `
[crawler]
max-depth = 0
max-concurrent-pages-open = 64
max-domain-requests = 1000000
[politeness]
minimum-time-per-address = "0s"
adaptive-delay = false
[traps]
max-per-prefix = 0
max-queries-per-path = 0
`

// The difference between a crawl of many hosts and one of few is the cost of pages.
const (
	smallHosts = 30
	largeHosts = 600
	costPages  = 20 // of a host
)

// costWeb returns a web of realistic sizes, in which every host is a site of its own, and the
// configuration of a crawl.
func costWeb(t *testing.T, hosts int) (web *webtest.Server, text string, pages int) {
	t.Helper()
	web = crawltest.Serve(t, webtest.WithoutLog())
	seeds := web.Generate(1, webtest.GenConfig{Domain: "test", Hosts: hosts, Pages: costPages, Leave: 0.1}).Seeds()
	var b strings.Builder
	b.WriteString(costConfig)
	for i, seed := range seeds {
		fmt.Fprintf(&b, "[[quality]]\ndomain = \"h%d.test\"\nseeds = [%q]\n", i, seed)
	}
	return web, b.String(), hosts * costPages
}

// A cost is the cost of a crawl.
type cost struct {
	nodes, hub      time.Duration // processor time
	messages, bytes float64       // sent and received by nodes
}

// more returns the processor time of each page by which a crawl is larger than a smaller one.
func (c cost) more(few cost, pages int) cost {
	n := time.Duration(pages)
	return cost{nodes: (c.nodes - few.nodes) / n, hub: (c.hub - few.hub) / n}
}

// TestCostOfMachines crawls webs with one machine, with a node of one shard and of four, and with
// three nodes, of one shard each and of two, and a hub. It alternates between them, as many times
// as RIPPLE_PROOF_COST says, and compares the median cost of a page. It counts only the difference
// between a large web and a small one, because starting a process, joining a terrain and finding
// its end cost the same for any length of crawl. Requests that are repeated while a crawl lasts do
// count.
func TestCostOfMachines(t *testing.T) {
	rounds, err := strconv.Atoi(os.Getenv("RIPPLE_PROOF_COST"))
	if err != nil {
		t.Skip("measures for minutes: RIPPLE_PROOF_COST=5")
	}
	small, smallText, few := costWeb(t, smallHosts)
	large, largeText, many := costWeb(t, largeHosts)
	pages := many - few
	costs := map[string][]cost{}
	for range rounds {
		for _, run := range []struct {
			name          string
			nodes, shards int
		}{{"alone", 0, 0}, {"one shard", 1, 1}, {"four shards", 1, 4}, {"three nodes", 3, 3}, {"six shards", 3, 6}} {
			t.Run(run.name, func(t *testing.T) {
				start := costOf(t, small, smallText, run.nodes, run.shards)
				all := costOf(t, large, largeText, run.nodes, run.shards)
				c := all.more(start, pages)
				costs[run.name] = append(costs[run.name], c)
				t.Logf("%v a page, and the hub %v; %d pages in all %v, and %v; "+
					"%d pages %.2f messages and %.0f bytes each",
					c.nodes, c.hub, few, start.nodes, start.hub, many, all.messages/float64(many),
					all.bytes/float64(many))
			})
		}
	}
	median := func(name string, of func(cost) time.Duration) float64 {
		var all []time.Duration
		for _, c := range costs[name] {
			all = append(all, of(c))
		}
		slices.Sort(all)
		return all[len(all)/2].Seconds()
	}
	nodes := func(c cost) time.Duration { return c.nodes }
	both := func(c cost) time.Duration { return c.nodes + c.hub }
	for _, c := range []struct {
		name, than string
		of         func(cost) time.Duration
		most       float64 // limit of the cost
	}{
		{"one shard", "alone", nodes, 1.1}, {"four shards", "one shard", nodes, 1.2},
		{"three nodes", "alone", both, 1.3}, {"six shards", "alone", both, 1.45},
	} {
		ratio := median(c.name, c.of) / median(c.than, c.of)
		t.Logf("%s: %.0f us a page, %.2f of %s", c.name, median(c.name, c.of)*1e6, ratio, c.than)
		if ratio > c.most {
			t.Errorf("%s cost more than %.2f of %s", c.name, c.most, c.than)
		}
	}
}

// costOf crawls a web with the given number of nodes; 0: without a hub.
func costOf(t *testing.T, web *webtest.Server, text string, nodes, shards int) (c cost) {
	t.Helper()
	if nodes == 0 {
		path, _ := crawltest.Files(t, web, text)
		cmd := child(path)
		if err := cmd.Run(); err != nil {
			t.Fatal(err)
		}
		c.nodes = busy(cmd)
		return c
	}
	ms := newMachines(t, rand.New(rand.NewPCG(1, 1)), web, text, nodes, shards)
	ms.faster = "1" // periodic requests have their real interval
	for _, m := range ms.all {
		if err := ms.start(m, envFresh+"=1"); err != nil {
			t.Fatal(err)
		}
	}
	for _, m := range ms.all {
		if err := m.end(); err != nil {
			t.Fatal(err)
		}
		var messages, bytes float64
		_, said, _ := strings.Cut(m.words(), "traffic: ")
		if _, err := fmt.Sscanf(said, "%f messages of %f bytes", &messages, &bytes); err != nil {
			t.Fatalf("%v: %s", err, m.words())
		}
		c.nodes, c.messages, c.bytes = c.nodes+busy(m.cmd), c.messages+messages, c.bytes+bytes
	}
	ms.killHub()
	c.hub = busy(ms.hub.cmd)
	return c
}

// busy returns the processor time of a process that has ended.
func busy(cmd *exec.Cmd) time.Duration {
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}
