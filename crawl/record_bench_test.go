package crawl

import (
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"
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

const recordConfig = `
[crawler]
max-depth = 0
max-domain-requests = 100000000
head-check = "never"
sitemaps = "off"
[politeness]
minimum-time-per-address = "0s"
[traps]
max-per-prefix = 0
[user-agent]
crawler-name = "T"
[[quality]]
domain = "*.gen.test"
seeds = [%s]
`

const (
	recordHosts = 600
	recordLinks = 40 // distinct targets of a page
	recordNew   = 15 // of a hundred links lead to a URL not seen before
	recordLeave = 10 // of a hundred links lead to another host
	maxByKey    = 1_000_000
)

// An outcomeWeb makes outcomes of visits without servers: pages whose links lead to the host's last
// thousands of URLs and, some of them, to new ones.
type outcomeWeb struct {
	r     *rand.Rand
	words []string
	known []int // URLs by host
}

func newOutcomeWeb(hosts int) *outcomeWeb {
	w := &outcomeWeb{r: rand.New(rand.NewPCG(1, 2)), known: make([]int, hosts)}
	for range 3000 {
		word := make([]byte, 3+w.r.IntN(8))
		for i := range word {
			word[i] = byte('a' + w.r.IntN(26))
		}
		w.words = append(w.words, string(word))
	}
	for i := range w.known {
		w.known[i] = 1
	}
	return w
}

func (w *outcomeWeb) word() string { return w.words[w.r.IntN(1+w.r.IntN(len(w.words)))] }

// url returns the n-th page of a host, the same at every call.
func (w *outcomeWeb) url(host, n int) string {
	if n == 0 {
		return fmt.Sprintf("https://h%d.gen.test/", host)
	}
	h := uint32(host)*2654435761 + uint32(n)*40503
	return fmt.Sprintf("https://h%d.gen.test/%s/%s/%s-%d.html", host, w.words[h%17], w.words[h%331], w.words[h%3000], n)
}

// link draws the target of a link of a page of a host.
func (w *outcomeWeb) link(host int) string {
	if w.r.IntN(100) < recordLeave {
		host = w.r.IntN(len(w.known))
	}
	if w.r.IntN(100) < recordNew {
		w.known[host]++
		return w.url(host, w.known[host]-1)
	}
	return w.url(host, w.known[host]-1-w.r.IntN(min(w.known[host], 2000)))
}

// answer returns what a visitor would find.
func (w *outcomeWeb) answer(step ring.Step, hash func(schema.URLKind, string) uint64) ring.Outcome {
	now := time.Now()
	o := ring.Outcome{Step: step, Status: 200, ContentType: "text/html; charset=utf-8", FirstByte: now, Done: now,
		RetryAfter: -1, Length: -1}
	if step.Kind == ring.Robots {
		o.Status = 404
		return o
	}
	o.ETag, o.Length = fmt.Sprintf(`"%x"`, w.r.Uint64()), 34_000
	o.LastModified, o.Date = "Tue, 15 Nov 1994 12:45:26 GMT", now.UTC().Format("Mon, 02 Jan 2006 15:04:05 GMT")
	for i := range o.SHA256 {
		o.SHA256[i] = byte(w.r.Uint32())
	}
	var host int
	fmt.Sscanf(step.Norm, "https://h%d.", &host)
	o.Page = &page.Page{Content: schema.Content{
		Title:   w.word() + " " + w.word() + " " + w.word() + " - documentation",
		Charset: "utf-8", Distinct: recordLinks,
	}}
	seen := map[string]bool{step.Norm: true}
	for tries := 0; len(o.Hashes) < recordLinks && tries < 4*recordLinks; tries++ {
		to := w.link(host)
		if seen[to] {
			continue
		}
		seen[to] = true
		u := weburl.URL{Norm: to, Form: to}
		o.Hashes = append(o.Hashes, hash(schema.KindPage, to))
		o.Page.Links = append(o.Page.Links, page.Link{
			URL: u, Kinds: schema.Kinds(0).Add(schema.LinkAnchor),
			Place: schema.Place(1 + w.r.IntN(5)), Anchor: w.word() + " " + w.word(),
		})
	}
	return o
}

// A handCrawl drives a recorder by hand: all its requests are answered at once.
type handCrawl struct {
	b      *testing.B
	web    *outcomeWeb
	path   string
	store  *kv.Store
	rec    *committer
	steps  []ring.Step
	wakes  []ring.Wake
	visits int
	took   time.Duration // spent in commits
	cpu    time.Duration
	wrote  int64
	worst  time.Duration
}

func startHandCrawl(b *testing.B, path string) *handCrawl {
	b.Helper()
	c := &handCrawl{b: b, web: newOutcomeWeb(recordHosts), path: path}
	c.open(c.web.settings(b, recordConfig))
	return c
}

// settings returns the settings of a configuration without seeds.
func (w *outcomeWeb) settings(t testing.TB, text string) *ring.Settings {
	t.Helper()
	var seeds []string
	for i := range w.known {
		seeds = append(seeds, strconv.Quote(w.url(i, 0)))
	}
	set, err := ring.NewSettings(crawltest.Parse(t, fmt.Sprintf(text, strings.Join(seeds, ","))))
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func (c *handCrawl) open(set *ring.Settings) {
	c.b.Helper()
	store, err := kv.Open(c.path, kv.Options{})
	if err != nil {
		c.b.Fatal(err)
	}
	c.store, c.rec = store, newCommitter(store, set, quietLog(), nil)
	if _, err := c.rec.recorder.Begin(c.b.Context()); err != nil {
		c.b.Fatal(err)
	}
	var list []ring.Effect
	if err := c.rec.recorder.EachWaiting(func(e *ring.Effect) { list = append(list, *e) }); err != nil {
		c.b.Fatal(err)
	}
	c.publish(list)
}

func (c *handCrawl) publish(list []ring.Effect) {
	for _, e := range list {
		c.steps = append(c.steps, e.Steps...)
		if e.Wake {
			c.wakes = append(c.wakes, ring.Wake{Host: e.Host})
		}
	}
}

// next makes the outcomes of a commit.
func (c *handCrawl) next() *batch {
	n := min(len(c.steps), maxBatch)
	batch := &batch{wakes: c.wakes}
	for _, step := range c.steps[:n] {
		batch.outcomes = append(batch.outcomes, c.web.answer(step, c.store.Hash))
	}
	c.steps, c.wakes = append([]ring.Step(nil), c.steps[n:]...), nil
	return batch
}

func (c *handCrawl) commit(batch *batch) {
	effects := make(chan ring.Effects, 1)
	wrote, cpu, begun := process.Written(), process.CPUTime(), time.Now()
	if err := c.rec.commit(c.b.Context(), batch, effects); err != nil {
		c.b.Fatal(err)
	}
	took := time.Since(begun)
	c.took, c.worst = c.took+took, max(c.worst, took)
	c.cpu += process.CPUTime() - cpu
	c.wrote += process.Written() - wrote
	c.visits += pagesOf(batch)
	c.publish((<-effects).List)
}

// heldBy returns what the store and the recorder hold in memory, after a restart.
func (c *handCrawl) heldBy() int64 {
	c.b.Helper()
	set := c.rec.set
	if err := c.store.Close(); err != nil {
		c.b.Fatal(err)
	}
	c.store, c.rec, c.steps, c.wakes = nil, nil, nil, nil
	before := process.LiveHeap()
	c.open(set)
	held := process.LiveHeap() - before
	set.Client.Close()
	if err := c.store.Close(); err != nil {
		c.b.Fatal(err)
	}
	return held
}

func pagesOf(batch *batch) (n int) {
	for i := range batch.outcomes {
		if batch.outcomes[i].Page != nil {
			n++
		}
	}
	return n
}

// BenchmarkRecord measures the recorder and the store alone: outcomes built in advance, 256 to a
// commit, each commit synced, until the store knows 200,000 URLs or RIPPLE_BENCH_URLS. Alternately
// the same outcomes are recorded by key, the most obvious way; "of-by-key" is the speed relative to
// that. Above a million URLs that is left out, because it would write tens of gigabytes. The "tail"
// is the last tenth of the visits.
func BenchmarkRecord(b *testing.B) {
	for b.Loop() {
		dir := b.TempDir()
		c := startHandCrawl(b, filepath.Join(dir, "state.bolt"))
		k := openByKey(b, filepath.Join(dir, "bykey.bolt"), c.store.Hash)
		var tail, tailVisits = time.Duration(0), 0
		for urls := crawltest.Number("RIPPLE_BENCH_URLS", 200_000); c.store.URLs() < urls; {
			batch := c.next()
			before := c.took
			c.commit(batch)
			if c.store.URLs() > urls/10*9 {
				tail, tailVisits = tail+c.took-before, tailVisits+pagesOf(batch)
			}
			if urls <= maxByKey {
				k.commit(batch)
			}
		}
		visits, urls, size := float64(c.visits), float64(c.store.URLs()), c.store.Size()
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(visits/c.took.Seconds(), "visits/s")
		b.ReportMetric(float64(tailVisits)/tail.Seconds(), "tail-visits/s")
		b.ReportMetric(float64(c.worst.Microseconds())/1000, "worst-commit-ms")
		b.ReportMetric(float64(c.wrote)/1024/visits, "KB-written/visit")
		b.ReportMetric(float64(size)/urls, "B-disk/URL")
		b.ReportMetric((float64(size)-110*urls)/visits, "B-disk/visit")
		b.ReportMetric(float64(c.cpu.Microseconds())/visits, "cpu-us/visit")
		if k.close(); k.took > 0 {
			b.ReportMetric(k.took.Seconds()/c.took.Seconds(), "of-by-key")
			b.ReportMetric(k.cpu.Seconds()/c.cpu.Seconds(), "of-by-key-cpu")
			b.ReportMetric(float64(k.wrote)/1024/visits, "by-key-KB-written/visit")
		}
		b.ReportMetric(float64(c.heldBy())/urls, "B-memory/URL")
	}
}

func quietLog() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }
