package webgraph

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/scope"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// originBits are the bits of a pair that hold the origin; the others hold the id of the source.
const originBits = 24

// ErrNoOrigin reports a graph that has none of the origins.
var ErrNoOrigin = errors.New("none of the origins is in the graph")

// A Reader finds the in-links of origins.
type Reader struct {
	Scope *scope.Scope
	Known func(host string, domain bool) (bool, error) // whether the terrain knows a host, or one below a domain
	Dir   string                                       // for temporary files
	See   func(pass string, read int64)                // bytes read so far of [Files.Bytes]; may be nil

	held, ranked int // pairs and ranks of sources held in memory; 0: heldPairs, rankedSources
}

// A Result is what was found.
type Result struct {
	schema.Graph
	Bad []string // places of the first lines that could not be read: file:line
}

// maxBad is the number of unreadable lines that are named.
const maxBad = 5

// Read reads a graph and calls emit for every source, in the order of the vertices. Hosts that differ only by www. are
// several sources. It fails with [ErrNoOrigin] or [ErrOrder], and soon after ctx is done, with its cause.
func (r *Reader) Read(ctx context.Context, f *Files, emit func(*schema.Inlink) error) (Result, error) {
	p := &passes{Reader: r, ctx: ctx, files: f, targets: map[uint64][]int{}}
	p.result.Release = f.Release
	p.pairs = pairs{dir: r.Dir, most: cmp.Or(r.held, heldPairs)}
	defer p.pairs.close()
	for _, o := range r.Scope.Origins() {
		p.result.Origins = append(p.result.Origins, o.Name)
	}
	p.result.Found = make([]uint32, len(p.result.Origins))
	if len(p.result.Origins) >= 1<<originBits {
		return p.result, fmt.Errorf("%d origins are too many", len(p.result.Origins))
	}
	var err error
	if p.sources, err = newSources(r.Dir, cmp.Or(r.ranked, rankedSources)); err != nil {
		return p.result, err
	}
	defer p.sources.close()
	for _, pass := range []func() error{p.findTargets, p.findPairs, p.findSources} {
		if err := pass(); err != nil {
			return p.result, err
		}
	}
	p.pairs.close()
	p.result.Ranked = len(f.Ranks) > 0
	for batch := range p.sources.batches() {
		if err := p.findRanks(batch); err != nil {
			return p.result, err
		}
		err := p.sources.each(batch, func(hash uint64, l *schema.Inlink) error {
			l.HarmonicRank, l.PageRank = p.sources.ranks.of(hash)
			return emit(l)
		})
		if err != nil {
			return p.result, err
		}
	}
	return p.result, nil
}

// passes is one reading of a graph.
type passes struct {
	*Reader
	ctx    context.Context
	files  *Files
	read   int64
	share  int64 // part of what is read that counts as read now, as 1/share: that of a list which is read as often
	result Result

	bases   map[string]bool  // the first one or two labels, from the right, of all origins
	sites   map[string][]int // in a graph of domains: origins by their domains
	targets map[uint64][]int // origins by the ids of their vertices
	filter  [1 << 16]uint64  // bits that may be set for ids of targets
	pairs   pairs
	sources *sources
}

// each calls f for every line of a list. f reports whether it could read it; what is not read is counted.
func (p *passes) each(pass string, files []string, count bool, f func(line []byte) (bool, error)) error {
	l := &lines{ctx: p.ctx, files: files, read: func(n int) {
		if p.read += int64(n) / max(p.share, 1); p.See != nil {
			p.See(pass, p.read)
		}
	}}
	defer l.close()
	for l.next() {
		ok, err := f(l.line)
		if err != nil {
			return fmt.Errorf("%s:%d: %w", l.name, l.number, err)
		}
		if ok || !count {
			continue
		}
		if p.result.Unreadable++; len(p.result.Bad) < maxBad {
			p.result.Bad = append(p.result.Bad, fmt.Sprintf("%s:%d", l.name, l.number))
		}
	}
	return l.err
}

// eachVertex calls f for every vertex, and checks that ids ascend.
func (p *passes) eachVertex(pass string, count bool, f func(v vertex) error) error {
	next := uint64(0)
	return p.each(pass, p.files.Vertices, count, func(line []byte) (bool, error) {
		v, ok := parseVertex(line)
		switch {
		case !ok:
			return false, nil
		case v.id < next:
			return true, fmt.Errorf("%w: %d comes after %d", ErrOrder, v.id, next-1)
		}
		next = v.id + 1
		return true, f(v)
	})
}

// findTargets finds the vertices of the origins.
func (p *passes) findTargets() error {
	err := p.eachVertex("hosts of the origins", true, func(v vertex) error {
		if p.result.Vertices++; p.result.Vertices == 1 {
			p.result.Domains = v.hosts > 0
			p.indexOrigins()
		}
		if !p.near(v.name) {
			return nil
		}
		host, err := hostOf(v.name)
		if err != nil {
			return nil
		}
		origins := p.sites[host]
		if !p.result.Domains {
			origins = p.Scope.OriginsOf(host)
		}
		for _, n := range origins {
			p.result.Found[n]++
		}
		if len(origins) > 0 {
			p.targets[v.id] = origins
			p.filter[v.id>>6%uint64(len(p.filter))] |= 1 << (v.id & 63)
		}
		return nil
	})
	switch {
	case err != nil:
		return err
	case p.result.Vertices == 0:
		return fmt.Errorf("%s: no line is a vertex of a web graph", strings.Join(p.files.Vertices, ", "))
	case len(p.targets) == 0:
		return fmt.Errorf("%w %s", ErrNoOrigin, p.result.Release)
	}
	return nil
}

// indexOrigins prepares near.
func (p *passes) indexOrigins() {
	p.bases, p.sites = map[string]bool{}, map[string][]int{}
	for n, site := range p.Scope.OriginSites() {
		p.sites[site] = append(p.sites[site], n)
	}
	for _, name := range p.result.Origins {
		labels := strings.Split(strings.TrimPrefix(name, "*."), ".")
		slices.Reverse(labels)
		p.bases[strings.Join(labels[:min(2, len(labels))], ".")] = true
	}
}

// near reports whether a name may be that of a host of an origin.
func (p *passes) near(name []byte) bool {
	dots := 0
	for i, c := range name {
		if c != '.' {
			continue
		}
		if dots++; p.bases[string(name[:i])] {
			return true
		}
		if dots == 2 {
			return false
		}
	}
	return p.bases[string(name)]
}

// findPairs finds the sources of links to the targets.
func (p *passes) findPairs() error {
	return p.each("links to them", p.files.Edges, true, func(line []byte) (bool, error) {
		from, to, ok := parseEdge(line)
		if !ok {
			return false, nil
		}
		p.result.Edges++
		if p.filter[to>>6%uint64(len(p.filter))]&(1<<(to&63)) == 0 {
			return true, nil
		}
		for _, origin := range p.targets[to] {
			if err := p.pairs.add(from<<originBits | uint64(origin)); err != nil {
				return true, err
			}
		}
		return true, nil
	})
}

// findSources finds the names of the sources, and leaves out those that are not outside.
func (p *passes) findSources() error {
	found, err := p.pairs.merged()
	if err != nil {
		return err
	}
	pair, more, err := found.next()
	if err != nil {
		return err
	}
	return p.eachVertex("names of those that link", false, func(v vertex) (err error) {
		var origins []uint32
		for more && pair>>originBits <= v.id {
			if pair>>originBits == v.id { // else an edge has a source that is no vertex
				origins = append(origins, uint32(pair&(1<<originBits-1)))
			}
			if pair, more, err = found.next(); err != nil {
				return err
			}
		}
		if len(origins) == 0 {
			return nil
		}
		return p.addSource(v, origins)
	})
}

func (p *passes) addSource(v vertex, origins []uint32) error {
	host, err := hostOf(v.name)
	if err != nil {
		p.result.Unreadable++
		return nil
	}
	known := p.targets[v.id] != nil
	if !known && p.Known != nil {
		if known, err = p.Known(host, p.result.Domains); err != nil {
			return err
		}
	}
	if known {
		p.result.Known++
		return nil
	}
	p.result.Sources++
	return p.sources.add(hashName(v.name), &schema.Inlink{Host: host, Hosts: v.hosts, Origins: origins})
}

// findRanks finds the ranks of a batch of sources.
func (p *passes) findRanks(batch int) error {
	if !p.result.Ranked {
		return nil
	}
	p.sources.ranks = nil
	debug.FreeOSMemory() // of the pairs, or of the ranks before
	if err := p.sources.rank(batch); err != nil {
		return err
	}
	p.share = int64(p.sources.batches())
	return p.each("ranks", p.files.Ranks, batch == 0, func(line []byte) (bool, error) {
		if len(line) > 0 && line[0] == '#' {
			return true, nil
		}
		one, ok := parseRanking(line)
		if ok {
			p.sources.ranks.put(one)
		}
		return ok, nil
	})
}

// Site returns the registrable domain of a source.
func Site(l *schema.Inlink) string {
	if l.Hosts > 0 {
		return l.Host
	}
	return weburl.Site(l.Host)
}
