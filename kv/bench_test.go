package kv_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// A grower writes a crawl into a store: visits of pages with 40 to 50 links
// each, of which one in seven is new.
type grower struct {
	s       *kv.Store
	rand    *rand.Rand
	hosts   int
	anchors bool
	visited int
	words   []string
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
			if _, err := tx.AddHost(fmt.Sprintf("%s-%d.example", g.word(), i)); err != nil {
				return err
			}
		}
		if err := tx.PutRun(schema.Run{ID: 1}); err != nil {
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
	h, err := tx.Host(host)
	if err != nil {
		return err
	}
	v := &schema.Visit{
		URL: schema.ID(min(g.visited+1, g.s.URLs())), Run: 1, At: time.UnixMilli(1.7e12 + int64(g.visited)*10), State: schema.Processed,
		Status: 200, FormsKnown: 1, Requests: 1, Title: g.word() + " " + g.word() + " " + g.word() + " - " + h.Name,
		ContentType: "text/html; charset=utf-8", Charset: "utf-8", ETag: fmt.Sprintf(`"%x"`, g.rand.Uint64()),
		LastModified: "Tue, 15 Nov 1994 12:45:26 GMT", ServerDate: "Tue, 15 Nov 2022 12:45:26 GMT", Length: 30000,
		ResponseTime: 120 * time.Millisecond, Distinct: 45,
	}
	for i := range v.SHA256 {
		v.SHA256[i] = byte(g.rand.Uint32())
	}
	if err := g.links(tx, h, v); err != nil {
		return err
	}
	if v.URL == 0 {
		v.URL = 1
	}
	if v.Form, err = tx.Norm(v.URL); err != nil {
		return err
	}
	if _, err := tx.AddVisit(v); err != nil {
		return err
	}
	g.visited++
	h.Requests++
	tx.PutHost(h)
	return tx.Trim(h, func(id schema.ID) bool { return g.s.Latest(id) != 0 })
}

func (g *grower) links(tx *kv.Tx, h *schema.Host, v *schema.Visit) error {
	n := 40 + g.rand.IntN(11)
	nearby := g.s.URLs()
	seen := map[schema.ID]bool{}
	for range n {
		var id schema.ID
		if nearby < 100 || g.rand.IntN(7) == 0 {
			path := fmt.Sprintf("/%s/%s/%s-%d", g.word(), g.word(), g.word(), g.s.URLs())
			norm := "https://" + h.Name + path
			hash := g.s.Hash(schema.KindPage, norm)
			var err error
			if id, _, err = tx.Lookup(hash, h.ID, schema.KindPage, path); err != nil {
				return err
			}
			if id, err = tx.AddURL(schema.URL{Host: h.ID, PathQuery: path, Referrer: v.URL, FirstSeen: v.At, FirstRun: 1}, hash); err != nil {
				return err
			}
			if _, err := tx.AddForm(id, norm, norm); err != nil {
				return err
			}
			tx.SetDepth(id, 3, 0)
			if err := tx.Push(h, 3, id); err != nil {
				return err
			}
		} else {
			id = schema.ID(max(1, nearby-g.rand.IntN(1+g.rand.IntN(min(nearby, 100000)))))
			if _, found, err := tx.Lookup(uint64(id), h.ID, schema.KindPage, "/"); found || err != nil {
				return err
			}
		}
		if seen[id] {
			continue
		}
		seen[id] = true
		l := schema.Link{To: id, Kinds: plain, Place: schema.Place(g.rand.IntN(6))}
		if g.anchors {
			l.Anchor = g.word() + " " + g.word()
		}
		v.Links = append(v.Links, l)
	}
	return nil
}

// heap returns the bytes of live memory.
func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
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

// BenchmarkRecordStore commits 256 visits at a time, synced, to a store of
// 200,000 URLs and more. The time of making them up is not counted.
func BenchmarkRecordStore(b *testing.B) {
	path := filepath.Join(b.TempDir(), "state.db")
	s, g := grow(b, path, 200_000)
	size, urls, visits := s.Size(), s.URLs(), g.visited
	wrote := written()
	b.ReportAllocs()
	for b.Loop() {
		if err := g.commit(256); err != nil {
			b.Fatal(err)
		}
	}
	n := float64(g.visited - visits)
	b.ReportMetric(n/b.Elapsed().Seconds(), "visits/s")
	b.ReportMetric(float64(written()-wrote)/1024/n, "KB-written/visit")
	b.ReportMetric(float64(s.Size()-size)/float64(s.URLs()-urls), "B-disk/URL")
}

// written returns the bytes that this process has written to files; 0 where
// that cannot be known.
func written() int64 {
	text, err := os.ReadFile("/proc/self/io")
	if err != nil {
		return 0
	}
	var v int64
	fmt.Sscanf(string(text[indexOf(text, "wchar:"):]), "wchar: %d", &v)
	return v
}

func indexOf(text []byte, word string) int {
	for i := range text {
		if string(text[i:min(i+len(word), len(text))]) == word {
			return i
		}
	}
	return 0
}

// BenchmarkOpen opens a store of 200,000 URLs, with RIPPLE_PROOF=full of a million.
func BenchmarkOpen(b *testing.B) {
	urls := 200_000
	if os.Getenv("RIPPLE_PROOF") == "full" {
		urls = 1_000_000
	}
	path := filepath.Join(b.TempDir(), "state.db")
	s, _ := grow(b, path, urls)
	urls = s.URLs()
	b.ReportMetric(float64(s.Size())/float64(urls), "B-disk/URL")
	s.Close()
	s = nil
	before := heap()
	s, err := kv.Open(path, kv.Options{})
	if err != nil {
		b.Fatal(err)
	}
	perURL := float64(heap()-before) / float64(urls)
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
}
