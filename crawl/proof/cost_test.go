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

// maxCost is what a page may cost with several machines, as a share of what it costs with one.
const maxCost = 1.3

// costWeb is a web of real sizes, of which every host is a site of its own, and what a crawl of
// it needs.
func costWeb(t *testing.T) (web *webtest.Server, text string, pages int) {
	t.Helper()
	const hosts, each = 300, 20
	web = crawltest.Serve(t, webtest.WithoutLog())
	seeds := web.Generate(1, webtest.GenConfig{Domain: "test", Hosts: hosts, Pages: each, Leave: 0.1}).Seeds()
	var b strings.Builder
	b.WriteString(costConfig)
	for i, seed := range seeds {
		fmt.Fprintf(&b, "[[quality]]\ndomain = \"h%d.test\"\nseeds = [%q]\n", i, seed)
	}
	return web, b.String(), hosts * each
}

// TestCostOfMachines crawls a web with one machine, with a node of one shard and of four, and
// with three nodes and a hub, so many times in turn as RIPPLE_PROOF_COST says, and compares the
// processor time of a page, in the median.
func TestCostOfMachines(t *testing.T) {
	rounds, err := strconv.Atoi(os.Getenv("RIPPLE_PROOF_COST"))
	if err != nil {
		t.Skip("measures for minutes: RIPPLE_PROOF_COST=5")
	}
	web, text, pages := costWeb(t)
	costs := map[string][]time.Duration{}
	for range rounds {
		for _, run := range []struct {
			name          string
			nodes, shards int
		}{{"alone", 0, 0}, {"one shard", 1, 1}, {"four shards", 1, 4}, {"three nodes", 3, 6}} {
			t.Run(run.name, func(t *testing.T) {
				nodes, hub := costOf(t, web, text, run.nodes, run.shards)
				costs[run.name] = append(costs[run.name], nodes+hub)
				costs[run.name+" without hub"] = append(costs[run.name+" without hub"], nodes)
				t.Logf("%v a page, and the hub %v", nodes/time.Duration(pages), hub/time.Duration(pages))
			})
		}
	}
	median := func(name string) float64 {
		slices.Sort(costs[name])
		return costs[name][len(costs[name])/2].Seconds()
	}
	for _, c := range []struct{ name, than string }{
		{"one shard without hub", "alone"},
		{"four shards without hub", "one shard without hub"},
		{"three nodes", "alone"},
	} {
		ratio := median(c.name) / median(c.than)
		t.Logf("%s: %.0f us a page, %.2f of %s", c.name, median(c.name)*1e6/float64(pages), ratio, c.than)
		if ratio > maxCost {
			t.Errorf("%s cost more than %.1f of %s", c.name, maxCost, c.than)
		}
	}
}

// costOf crawls a web with so many nodes, 0 without a hub, and returns the processor time that
// they take, and that of the hub.
func costOf(t *testing.T, web *webtest.Server, text string, nodes, shards int) (all, hub time.Duration) {
	t.Helper()
	if nodes == 0 {
		path, _ := crawltest.Files(t, web, text)
		cmd := child(path)
		if err := cmd.Run(); err != nil {
			t.Fatal(err)
		}
		return busy(cmd), 0
	}
	ms := newMachines(t, rand.New(rand.NewPCG(1, 1)), web, text, nodes, shards)
	ms.faster = "3" // a busy machine must not lose its leases
	for _, m := range ms.all {
		if err := ms.start(m); err != nil {
			t.Fatal(err)
		}
	}
	for _, m := range ms.all {
		if err := m.end(); err != nil {
			t.Fatal(err)
		}
		all += busy(m.cmd)
	}
	ms.killHub()
	return all, busy(ms.hub.cmd)
}

// busy is the processor time of a process that has ended.
func busy(cmd *exec.Cmd) time.Duration {
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}
