package kv_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/process"
)

// A grower writes a crawl into a store: visits of pages with 40 to 50 links each, one in seven of them new.
type grower struct {
	s       *kv.Store
	rand    *rand.Rand
	hosts   int
	anchors bool
	visited int
	words   []string
	idle    time.Duration // time spent on generating data
}

func newGrower(s *kv.Store, hosts int) *grower {
	g := &grower{s: s, rand: rand.New(rand.NewPCG(1, 2)), hosts: hosts, anchors: true}
	for range 3000 {
		word := make([]byte, 3+g.rand.IntN(8))
		for i := range word {
			word[i] = byte('a' + g.rand.IntN(26))
		}
		g.words = append(g.words, string(word))
	}
	return g
}

func (g *grower) word() string { return g.words[g.rand.IntN(1+g.rand.IntN(len(g.words)))] }

// commit records n visits in one transaction.
func (g *grower) commit(n int) error {
	return g.s.Update(func(tx *kv.Tx) error {
		for i := g.s.Hosts(); i < g.hosts; i++ {
			if _, err := tx.Hosts.Add(fmt.Sprintf("%s-%d.example", g.word(), i)); err != nil {
				return err
			}
		}
		if err := tx.Runs.Put(schema.Run{ID: 1}); err != nil {
			return err
		}
		host := schema.HostID(1 + g.rand.IntN(g.hosts))
		for i := range n {
			if i%16 == 0 {
				host = schema.HostID(1 + g.rand.IntN(g.hosts))
			}
			if err := g.visit(tx, host); err != nil {
				return err
			}
		}
		return nil
	})
}

func (g *grower) visit(tx *kv.Tx, host schema.HostID) error {
	h, err := tx.Hosts.At(host)
	if err != nil {
		return err
	}
	began := time.Now()
	v := &schema.Visit{
		URL: schema.ID(min(g.visited+1, g.s.URLs())), Run: 1, At: time.UnixMilli(1.7e12 + int64(g.visited)*10),
		State: schema.Processed, Status: 200, Knew: schema.FormSet{Shapes: schema.ShapePlain}, Requests: 1,
		Content: schema.Content{Title: g.word() + " " + g.word() + " " + g.word() + " - " + h.Name, Charset: "utf-8",
			Distinct: 45}, ContentType: "text/html; charset=utf-8", ETag: fmt.Sprintf(`"%x"`, g.rand.Uint64()),
		LastModified: "Tue, 15 Nov 1994 12:45:26 GMT", ServerDate: "Tue, 15 Nov 2022 12:45:26 GMT", Length: 30000,
		ResponseTime: 120 * time.Millisecond,
	}
	for i := range v.SHA256 {
		v.SHA256[i] = byte(g.rand.Uint32())
	}
	made := g.links(h)
	g.idle += time.Since(began)
	for _, m := range made {
		to, err := g.record(tx, h, v, m)
		if err != nil {
			return err
		}
		if n := len(v.Links); n > 0 && v.Links[n-1].To == to {
			continue // met twice
		}
		m.link.To = to
		v.Links = append(v.Links, m.link)
	}
	if v.URL == 0 {
		v.URL = 1
	}
	if v.Form, err = tx.URLs.Norm(v.URL); err != nil {
		return err
	}
	if _, err := tx.Visits.Add(v); err != nil {
		return err
	}
	g.visited++
	h.Requests++
	tx.Hosts.Put(h)
	return tx.Frontier.Trim(h, func(id schema.ID) bool { return g.s.Latest(id) != 0 })
}

// A madeLink is a link to a known URL, or to a new one by its path.
type madeLink struct {
	link schema.Link
	path string
	norm string
}

func (g *grower) links(h *schema.Host) []madeLink {
	var made []madeLink
	known := g.s.URLs()
	for i := range 40 + g.rand.IntN(11) {
		m := madeLink{link: schema.Link{Kinds: plain, Place: schema.Place(g.rand.IntN(6))}}
		if known < 100 || g.rand.IntN(7) == 0 {
			m.path = fmt.Sprintf("/%s/%s/%s-%d-%d", g.word(), g.word(), g.word(), g.visited, i)
			m.norm = "https://" + h.Name + m.path
		} else {
			m.link.To = schema.ID(max(1, known-g.rand.IntN(1+g.rand.IntN(min(known, 100000)))))
		}
		if g.anchors {
			m.link.Anchor = g.word() + " " + g.word()
		}
		made = append(made, m)
	}
	slices.SortFunc(made, func(a, b madeLink) int { return int(a.link.To) - int(b.link.To) })
	i := slices.IndexFunc(made, func(m madeLink) bool { return m.path == "" })
	return append(made[max(i, 0):], made[:max(i, 0)]...) // new URLs, which have no id yet, come last
}

// record records a link like a recorder.
func (g *grower) record(tx *kv.Tx, h *schema.Host, v *schema.Visit, m madeLink) (schema.ID, error) {
	if m.path == "" {
		_, _, err := tx.URLs.Lookup(g.s.Hash(schema.KindPage, m.link.Anchor), h.ID, schema.KindPage, "/")
		return m.link.To, err
	}
	hash := g.s.Hash(schema.KindPage, m.norm)
	id, found, err := tx.URLs.Lookup(hash, h.ID, schema.KindPage, m.path)
	if found || err != nil {
		return id, err
	}
	u := schema.URL{Host: h.ID, PathQuery: m.path, Referrer: v.URL, FirstSeen: v.At, FirstRun: 1}
	if id, err = tx.URLs.Add(u, hash); err != nil {
		return 0, err
	}
	if _, err := tx.URLs.AddForm(id, m.norm, m.norm, false); err != nil {
		return 0, err
	}
	tx.Depths.Lower(id, 3, 0)
	return id, tx.Frontier.Push(h, 3, id)
}

func grow(b *testing.B, path string, urls int) (*kv.Store, *grower) {
	s := openStore(b, path)
	g := newGrower(s, 500)
	for s.URLs() < urls {
		if err := g.commit(4096); err != nil {
			b.Fatal(err)
		}
	}
	return s, g
}

// BenchmarkRecordStore commits 256 visits at a time, synced, to a store of 200,000 URLs and more. The time
// for generating them is measured separately and subtracted.
func BenchmarkRecordStore(b *testing.B) {
	path := filepath.Join(b.TempDir(), "state.db")
	s, g := grow(b, path, 200_000)
	size, urls, visits := s.Size(), s.URLs(), g.visited
	wrote := process.Written()
	g.idle = 0
	b.ReportAllocs()
	for b.Loop() {
		if err := g.commit(256); err != nil {
			b.Fatal(err)
		}
	}
	n, newURLs := float64(g.visited-visits), float64(s.URLs()-urls)
	b.ReportMetric(n/(b.Elapsed()-g.idle).Seconds(), "visits/s")
	b.ReportMetric(float64(process.Written()-wrote)/1024/n, "KB-written/visit")
	b.ReportMetric(float64(s.Size()-size)/newURLs, "B-disk/URL")
	b.ReportMetric((float64(s.Size()-size)-110*newURLs)/n, "B-disk/visit")
}

// reading returns the time it takes to read a file.
func reading(b *testing.B, path string) time.Duration {
	b.Helper()
	f, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	begun := time.Now()
	if _, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{f}, make([]byte, 1<<20)); err != nil {
		b.Fatal(err)
	}
	return time.Since(begun)
}

// BenchmarkOpen opens a store of 200,000 URLs, or of RIPPLE_BENCH_URLS. "of-read" is the time for that, as a
// multiple of reading the file once.
func BenchmarkOpen(b *testing.B) {
	urls := 200_000
	if n, err := strconv.Atoi(os.Getenv("RIPPLE_BENCH_URLS")); err == nil {
		urls = n
	}
	path := filepath.Join(b.TempDir(), "state.db")
	s, _ := grow(b, path, urls)
	urls = s.URLs()
	b.ReportMetric(float64(s.Size())/float64(urls), "B-disk/URL")
	s.Close()
	s = nil
	before := process.LiveHeap()
	s, err := kv.Open(path, kv.Options{})
	if err != nil {
		b.Fatal(err)
	}
	perURL := float64(process.LiveHeap()-before) / float64(urls)
	s.Close()
	b.ReportAllocs()
	for b.Loop() {
		s, err := kv.Open(path, kv.Options{})
		if err != nil {
			b.Fatal(err)
		}
		s.Close()
	}
	b.ReportMetric(perURL, "B-memory/URL")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(urls), "ns/URL")
	b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(reading(b, path)), "of-read")
}
