package crawl

import (
	"fmt"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/page"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/process"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

const metConfig = `
[crawler]
max-depth = 1
max-domain-requests = 100000
[traps]
max-per-prefix = 0
[[quality]]
domain = "a.test"
seeds = ["https://a.test/0"]
`

// A metCrawl drives recorder and scheduler by hand. Every page of a.test leads to the next one and
// to a thousand new sites, none of which is requested.
type metCrawl struct {
	t     *testing.T
	store *kv.Store
	rec   *committer
	sched *scheduler
	next  []ring.Step // of a.test
	met   int
}

func newMetCrawl(t *testing.T) *metCrawl {
	set, err := ring.NewSettings(crawltest.Parse(t, crawltest.Paper(metConfig)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(set.Client.Close)
	c := &metCrawl{t: t, store: crawltest.Open(t, filepath.Join(t.TempDir(), "state.bolt"))}
	c.rec = newCommitter(c.store, set, quietLog(), nil)
	c.sched = newScheduler(schedulerConfig{Slots: 64, MaxUncommitted: usualUncommitted})
	if _, err = c.rec.recorder.Begin(t.Context()); err == nil {
		err = c.rec.recorder.EachWaiting(c.publish)
	}
	if err != nil {
		t.Fatal(err)
	}
	c.commit(&batch{wakes: []ring.Wake{{Host: 1}}})
	return c
}

func (c *metCrawl) publish(e *ring.Effect) {
	if e.Host == 1 {
		c.next = append(c.next, e.Steps...)
		return
	}
	c.sched.apply(e)
}

func (c *metCrawl) commit(b *batch) {
	c.t.Helper()
	effects := make(chan ring.Effects, 1)
	if err := c.rec.commit(c.t.Context(), b, effects); err != nil {
		c.t.Fatal(err)
	}
	all := <-effects
	c.sched.waking = 0
	for _, e := range all.List {
		c.publish(&e)
	}
}

// until crawls until the given number of sites were met.
func (c *metCrawl) until(hosts int) {
	c.t.Helper()
	for c.met < hosts {
		if len(c.next) == 0 {
			c.commit(&batch{wakes: []ring.Wake{{Host: 1}}})
		}
		if len(c.next) == 0 {
			c.t.Fatal("a.test is not asked any more")
		}
		step := c.next[0]
		c.next = c.next[1:]
		c.commit(&batch{outcomes: []ring.Outcome{c.answer(step)}, wakes: c.wakes()})
	}
}

// wakes returns what the scheduler wakes now. The planned hosts are not requested.
func (c *metCrawl) wakes() (wakes []ring.Wake) {
	for to := make(chan ring.Wake); ; {
		w, ok := c.sched.nextWake(time.Now(), to)
		if ok == nil {
			return wakes
		}
		c.sched.woke(&w)
		wakes = append(wakes, w)
	}
}

func (c *metCrawl) answer(step ring.Step) ring.Outcome {
	now := time.Now()
	o := ring.Outcome{Step: step, Status: 200, ContentType: "text/html", FirstByte: now, Done: now, RetryAfter: -1}
	if step.Kind == ring.Robots {
		o.Status = 404
		return o
	}
	var n int
	fmt.Sscanf(step.Norm, "https://a.test/%d", &n)
	o.Page = &page.Page{Content: schema.Content{Distinct: 1001}}
	c.link(&o, fmt.Sprintf("https://a.test/%d", n+1))
	for range 1000 {
		c.met++
		c.link(&o, fmt.Sprintf("https://site-%d.test/", c.met))
	}
	return o
}

func (c *metCrawl) link(o *ring.Outcome, to string) {
	o.Hashes = append(o.Hashes, c.store.Hash(schema.KindPage, to))
	o.Page.Links = append(o.Page.Links, page.Link{
		URL: weburl.URL{Norm: to, Form: to}, Kinds: schema.Kinds(0).Add(schema.LinkAnchor),
	})
}

// In a crawl that keeps meeting new sites, each costs almost nothing in addition to its URL. The
// next steps of the first maxPlanned sites are in memory, and no more when there are ten times as
// many sites.
func TestMemoryOfHostsMet(t *testing.T) {
	if process.Race {
		t.Skip("memory says nothing under the race detector")
	}
	const first, last, most, url = 25_000, 100_000, 64, 40
	c := newMetCrawl(t)
	c.until(first)
	before := process.LiveHeap()
	c.until(last)
	n := (process.LiveHeap() - before) / (last - first)
	t.Logf("a host costs %d bytes with its URL", n)
	if n > most+url {
		t.Errorf("a host costs %d bytes with its URL, want %d at most", n, most+url)
	}
	if hosts := c.store.Hosts(); hosts != last+1 {
		t.Errorf("%d hosts are known, want %d", hosts, last+1)
	}
	runtime.KeepAlive(c)
}
