package node_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/sumi-ripple/ripple/crawl/cluster/node"
)

// A tap counts what a hub carries, by kind of message.
type tap struct {
	mu    sync.Mutex
	of    map[string]string // kinds of requests, by the subject of their answers
	bytes map[string]int
	count map[string]int
}

// taps listens to all messages of a hub until the test ends.
func taps(t *testing.T, url string) *tap {
	t.Helper()
	nc, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	p := &tap{of: map[string]string{}, bytes: map[string]int{}, count: map[string]int{}}
	if _, err := nc.Subscribe(">", p.hears); err != nil {
		t.Fatal(err)
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	return p
}

var names = regexp.MustCompile(`\b([0-9a-f]{32}|[A-Z2-7]{26}|[0-9]+)\b`)

func (p *tap) hears(m *nats.Msg) {
	p.mu.Lock()
	defer p.mu.Unlock()
	kind := names.ReplaceAllString(m.Subject, "*")
	if of, is := p.of[m.Subject]; is {
		kind = of + ", answer"
		delete(p.of, m.Subject)
	} else if m.Reply != "" {
		if strings.HasPrefix(kind, "$JS.API.") {
			kind += " " + names.ReplaceAllString(string(m.Data), "*")
		}
		p.of[m.Reply] = kind
	}
	p.bytes[kind] += m.Size() + len(m.Subject) + len(m.Reply)
	p.count[kind]++
}

// measures returns how many bytes the hub carries in a time, the number of messages about the charter, and a table of
// all kinds. What is written into the bucket counts once more for each node, because each hears of it.
func (p *tap) measures(ctx context.Context, long time.Duration, nodes int) (all, charters int, kinds string) {
	p.mu.Lock()
	clear(p.bytes)
	clear(p.count)
	p.mu.Unlock()
	select {
	case <-time.After(long):
	case <-ctx.Done():
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, kind := range slices.SortedFunc(maps.Keys(p.bytes), func(a, b string) int {
		return cmp.Compare(p.bytes[b], p.bytes[a])
	}) {
		if strings.HasPrefix(kind, "$KV.") && !strings.HasSuffix(kind, "answer") {
			p.bytes[kind] *= 1 + nodes
		}
		if strings.Contains(kind, "charter") {
			charters += p.count[kind]
		}
		all += p.bytes[kind]
		kinds += fmt.Sprintf("%9d bytes in %6d %.150s\n", p.bytes[kind], p.count[kind], kind)
	}
	return all, charters, kinds
}

// While a terrain is paused, its nodes rarely read the charter. RIPPLE_PROOF_SILENCE=NODESxSHARDS measures all that is
// sent then, with the timing of real nodes.
func TestSilence(t *testing.T) {
	t.Parallel()
	nodes, shards, faster, long := 2, 8, 10, 10*time.Second
	if _, err := fmt.Sscanf(os.Getenv("RIPPLE_PROOF_SILENCE"), "%dx%d", &nodes, &shards); err == nil {
		faster, long = 1, 4*time.Minute
	}
	tr := slow(t, 50, nodes, shards)
	tr.faster, tr.long, tr.most = faster, true, nil
	var ends []func() error
	for n := range nodes {
		end, _ := tr.start(n)
		ends = append(ends, end)
	}
	tr.works(1)
	if _, err := node.Pause(t.Context(), tr.connect(), true); err != nil {
		t.Fatal(err)
	}
	time.Sleep(2 * tr.timing().Renew)
	all, charters, kinds := taps(t, tr.server.URL()).measures(t.Context(), long, nodes)
	t.Logf("%d nodes, %d shards: %d bytes per second and node\n%s", nodes, shards,
		int(float64(all)/long.Seconds()/float64(nodes)), kinds)
	if most := nodes * 20; charters > most { // with a look every second it would be 20 requests with their answers, twice
		t.Errorf("%d messages about the charter, want at most %d", charters, most)
	}
	for _, end := range ends {
		_ = end()
	}
}
