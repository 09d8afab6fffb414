package kv

import (
	"fmt"
	"math"
	"slices"

	"github.com/sumi-ripple/ripple/schema"
)

// Inlinks owns the bucket inlinks: which hosts outside the terrain link to the origins, by a web graph. They count
// only once the graph is named, which is done last.
type Inlinks struct{ tx *base }

// graphKey is the key of the record that describes the graph. It sorts before the keys of all hosts.
var graphKey = []byte{0}

// Graph returns the graph that the in-links are from; ok is false if there is none.
func (ls *Inlinks) Graph() (g schema.Graph, ok bool, err error) {
	r, ok, err := ls.tx.find(bInlinks, graphKey)
	if !ok {
		return g, false, err
	}
	if g = decodeGraph(&r); r.bad {
		return g, false, damaged(bInlinks, graphKey, "cannot be decoded")
	}
	return g, true, nil
}

// Clear removes all in-links, including those left by an import that was interrupted.
func (ls *Inlinks) Clear() error {
	if err := ls.tx.change(); err != nil {
		return err
	}
	name := []byte(bInlinks.String())
	ls.tx.buckets[bInlinks] = nil
	err := ls.tx.b.DeleteBucket(name)
	if err == nil {
		_, err = ls.tx.b.CreateBucket(name)
	}
	if err != nil {
		return fmt.Errorf("clear the in-links: %w", err)
	}
	return nil
}

// Put stores an in-link, joined with one that the same host has already. added is false if it had.
func (ls *Inlinks) Put(l *schema.Inlink) (added bool, err error) {
	if err := ls.tx.change(); err != nil {
		return false, err
	}
	key := hostKey(l.Host)
	r, known, err := ls.tx.find(bInlinks, key)
	if err != nil {
		return false, err
	}
	all := *l
	if known {
		old := decodeInlink(&r)
		if r.bad {
			return false, damaged(bInlinks, key, "cannot be decoded")
		}
		all.Hosts = max(all.Hosts, old.Hosts)
		all.HarmonicRank = schema.BetterRank(all.HarmonicRank, old.HarmonicRank)
		all.PageRank = schema.BetterRank(all.PageRank, old.PageRank)
		all.Origins = slices.Concat(all.Origins, old.Origins)
		slices.Sort(all.Origins)
		all.Origins = slices.Compact(all.Origins)
	}
	w := ls.tx.fields()
	w.uint(uint64(all.Hosts))
	w.uint(uint64(all.HarmonicRank))
	w.uint(uint64(all.PageRank))
	w.uint32s(all.Origins)
	return !known, ls.tx.put(bInlinks, key, w)
}

// PutGraph says which graph the in-links are from. All of them must have been put before.
func (ls *Inlinks) PutGraph(g *schema.Graph) error {
	if err := ls.tx.change(); err != nil {
		return err
	}
	w := ls.tx.fields()
	w.string(g.Release)
	w.bool(g.Domains)
	w.millis(g.ReadAt)
	w.uint(uint64(len(g.Origins)))
	for _, origin := range g.Origins {
		w.string(origin)
	}
	w.uint32s(g.Found)
	for _, n := range []uint64{g.Vertices, g.Edges, g.Sources, g.Known, g.Unreadable} {
		w.uint(n)
	}
	w.bool(g.Ranked)
	return ls.tx.put(bInlinks, graphKey, w)
}

// Each calls f for every in-link of the graph that comes after that of a host (or, if that is empty, for all), in the
// order of the labels of hosts from the right, until f returns false. Without a graph there is none.
func (ls *Inlinks) Each(after string, f func(*schema.Inlink) (bool, error)) error {
	g, ok, err := ls.Graph()
	if !ok {
		return err
	}
	return ls.each(after, func(l *schema.Inlink) (bool, error) {
		if n := len(l.Origins); n == 0 || int(l.Origins[n-1]) >= len(g.Origins) {
			return false, damaged(bInlinks, hostKey(l.Host), "names no origin")
		}
		return f(l)
	})
}

// each calls f for the in-links that come after that of a host, in any graph.
func (ls *Inlinks) each(after string, f func(*schema.Inlink) (bool, error)) error {
	from := []byte{graphKey[0] + 1}
	if after != "" {
		from = append(hostKey(after), 0)
	}
	return ls.tx.each(bInlinks, from, func(key []byte, r *reader) (bool, error) {
		l := decodeInlink(r)
		if r.bad {
			return true, nil // reported by base.each
		}
		l.Host = hostOfKey(string(key))
		if string(hostKey(l.Host)) != string(key) {
			return false, damaged(bInlinks, key, "names no host")
		}
		return f(&l)
	})
}

func (ls *Inlinks) check() error {
	g, ok, err := ls.Graph()
	if err != nil {
		return err
	}
	n := uint64(0)
	err = ls.each("", func(l *schema.Inlink) (bool, error) {
		n++
		if ok && (len(l.Origins) == 0 || int(l.Origins[len(l.Origins)-1]) >= len(g.Origins)) {
			return false, damaged(bInlinks, hostKey(l.Host), "names no origin")
		}
		return true, nil
	})
	if err == nil && ok && n != g.Sources {
		err = fmt.Errorf("%w: %d in-links recorded, %d counted", ErrDamaged, n, g.Sources)
	}
	return err
}

func decodeGraph(r *reader) (g schema.Graph) {
	g.Release, g.Domains, g.ReadAt = r.string(), r.bool(), r.millis()
	for range r.length(1) {
		g.Origins = append(g.Origins, r.string())
	}
	g.Found = r.uint32s()
	for _, n := range []*uint64{&g.Vertices, &g.Edges, &g.Sources, &g.Known, &g.Unreadable} {
		*n = r.uint()
	}
	g.Ranked = r.bool()
	if len(g.Found) != len(g.Origins) {
		r.fail()
	}
	return g
}

// decodeInlink decodes an in-link, whose origins must ascend.
func decodeInlink(r *reader) (l schema.Inlink) {
	l.Hosts, l.HarmonicRank, l.PageRank = r.uint32(), r.uint32(), r.uint32()
	l.Origins = r.uint32s()
	for i := 1; i < len(l.Origins); i++ {
		if l.Origins[i] <= l.Origins[i-1] {
			r.fail()
		}
	}
	return l
}

func (w *writer) uint32s(all []uint32) {
	w.uint(uint64(len(all)))
	for _, n := range all {
		w.uint(uint64(n))
	}
}

func (r *reader) uint32() uint32 { return uint32(r.narrow(math.MaxUint32)) }

func (r *reader) uint32s() (all []uint32) {
	for range r.length(1) {
		all = append(all, r.uint32())
	}
	return all
}
