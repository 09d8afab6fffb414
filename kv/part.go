package kv

import (
	"errors"
	"fmt"

	"github.com/sumi-ripple/ripple/schema"
	split "github.com/sumi-ripple/ripple/schema/shard"
)

// Part owns the value "part" of the bucket meta, which says that the file holds one shard of a terrain, or
// several merged ones. It creates the buckets outbox, inbound and peers, which only such a file has. A file
// of a whole terrain has none of these, at no cost.
//
// A URL, host or site is foreign if it belongs to a shard that the file does not hold.
type Part struct{ tx *base }

// A part is the in-memory state: the shard of every host, and the sizes of the buckets.
type part struct {
	of      schema.Part
	rule    *split.Rule // nil: the file holds a whole terrain
	shards  []uint8     // by host id, less 1
	marked  []int       // URLs in the outbox, by shard
	inbound int
	cursors []bool // whether a peer has a cursor, by shard
}

// Part returns the part of the terrain that the file holds.
func (p *part) Part() schema.Part { return p.of }

// Foreign reports whether a host belongs to a shard that the file does not hold.
func (p *part) Foreign(host schema.HostID) bool {
	return p.rule != nil && p.of.Foreign(p.ShardOf(host))
}

// ForeignName is Foreign for a host name, which need not be known.
func (p *part) ForeignName(host string) bool { return p.rule != nil && p.of.Foreign(p.rule.Of(host)) }

// ShardOf returns the shard of a host; 0 in a file that holds a whole terrain.
func (p *part) ShardOf(host schema.HostID) int {
	if p.rule == nil {
		return 0
	}
	return int(p.shards[host-1])
}

// ShardOfName is ShardOf for the name of a host or site, which need not be known.
func (p *part) ShardOfName(name string) int {
	if p.rule == nil {
		return 0
	}
	return p.rule.Of(name)
}

// Marked returns the number of URLs not yet sent to another shard, and whether known data may add more. URLs
// unmarked since are counted until the commit.
func (p *part) Marked(shard int) (n int, more bool) {
	if p.rule == nil {
		return 0, false
	}
	return p.marked[shard], p.cursors[shard]
}

// Told returns the number of URLs reported by other shards.
func (p *part) Told() int { return p.inbound }

// settle records the shard of a new host.
func (p *part) settle(name string) {
	if p.rule != nil {
		p.shards = append(p.shards, uint8(p.rule.Of(name)))
	}
}

// Of returns the part of the terrain that the file holds.
func (ps *Part) Of() schema.Part { return ps.tx.s.part.of }

// Put makes a file without hosts hold a part of a terrain, or updates the numbers of the terrain. The part
// cannot change, and neither number can go back.
func (ps *Part) Put(of schema.Part) error {
	if err := ps.tx.change(); err != nil {
		return err
	}
	was := ps.tx.s.part.of
	same := was
	same.Run, same.Configuration = of.Run, of.Configuration
	switch begun := ps.tx.s.rule != nil; {
	case begun && (same != of || of.Run < was.Run || of.Configuration < was.Configuration):
		return fmt.Errorf("kv: shard %d of %d at %d.%d cannot become shard %d of %d at %d.%d",
			was.Shard, was.Shards, was.Run, was.Configuration, of.Shard, of.Shards, of.Run, of.Configuration)
	case !begun:
		if err := ps.begin(of); err != nil {
			return err
		}
	}
	ps.tx.s.part.of = of
	w := ps.tx.fields()
	encodePart(w, of)
	return ps.tx.put(bMeta, []byte(partKeyName), w)
}

// begin creates the buckets.
func (ps *Part) begin(of schema.Part) error {
	if ps.tx.s.state.hosts > 0 {
		return errors.New("kv: a file that has hosts cannot become a shard")
	}
	if err := ps.tx.s.part.divide(of); err != nil {
		return err
	}
	for b := bPart; b < bucketCount; b++ {
		if _, err := ps.tx.b.CreateBucketIfNotExists([]byte(b.String())); err != nil {
			return fmt.Errorf("%s: %w", b, err)
		}
	}
	return nil
}

// divide sets the rule by which a terrain is split.
func (p *part) divide(of schema.Part) error {
	if of.Rule != split.Version {
		return fmt.Errorf("%w: the terrain is split by rule %d, not by rule %d", ErrFormat, of.Rule, split.Version)
	}
	rule, err := split.New(of.Shards)
	switch {
	case err != nil:
	case of.Shard < 0 || of.Shard >= of.Shards:
		err = fmt.Errorf("shard %d of %d", of.Shard, of.Shards)
	case of.Merged() && !merges(of):
		err = fmt.Errorf("%d shards without %s", of.Shards, of.Without)
	}
	if err != nil {
		return fmt.Errorf("kv: %w", err)
	}
	*p = part{of: of, rule: rule, marked: make([]int, of.Shards), cursors: make([]bool, of.Shards)}
	return nil
}

// merges reports whether shards remain, and only existing ones are excluded.
func merges(of schema.Part) bool {
	last := 0
	for n := range of.Without.All() {
		last = n
	}
	return of.Shard == 0 && last < of.Shards && of.Without.Len() < of.Shards
}

// place records the shards of all hosts.
func (ps *Part) place() error {
	s := ps.tx.s
	hosts := Hosts{tx: ps.tx}
	for id := schema.HostID(1); uint32(id) <= s.state.hosts; id++ {
		name, err := hosts.Name(id)
		if err != nil {
			return err
		}
		s.settle(name)
	}
	return nil
}

// rebuild loads the in-memory state.
func (ps *Part) rebuild() error {
	r, ok, err := ps.tx.find(bMeta, []byte(partKeyName))
	if !ok {
		return err
	}
	of := decodePart(&r)
	if r.bad {
		return damaged(bMeta, []byte(partKeyName), "cannot be decoded")
	}
	for b := bPart; b < bucketCount; b++ {
		if ps.tx.b.Bucket([]byte(b.String())) == nil {
			return damaged(b, nil, "is missing")
		}
	}
	s := ps.tx.s
	if err := s.part.divide(of); err != nil {
		return err
	}
	outbox, inbound, peers := Outbox{tx: ps.tx}, Inbound{tx: ps.tx}, Peers{tx: ps.tx}
	return errors.Join(ps.place(), outbox.rebuild(), inbound.rebuild(), peers.rebuild())
}

const partKeyName = "part"

func encodePart(w *writer, p schema.Part) {
	w.raw(p.Terrain[:])
	w.uint(uint64(p.Rule))
	w.uint(uint64(p.Shard))
	w.uint(uint64(p.Shards))
	w.uint(p.Run)
	w.uint(p.Configuration)
	w.shards(p.Without)
}

func decodePart(r *reader) (p schema.Part) {
	copy(p.Terrain[:], r.raw(16))
	p.Rule, p.Shard, p.Shards = int(r.narrow(1<<20)), int(r.narrow(split.MaxShards-1)), int(r.narrow(split.MaxShards))
	p.Run, p.Configuration = r.uint(), r.uint()
	p.Without = r.shards()
	if p.Shard >= p.Shards {
		r.fail()
	}
	return p
}

// shards writes a set of shards: their number, and each as a byte.
func (w *writer) shards(s schema.Shards) {
	w.uint(uint64(s.Len()))
	for n := range s.All() {
		w.byte(byte(n))
	}
}

func (r *reader) shards() schema.Shards {
	var numbers []int
	for range r.length(1) {
		numbers = append(numbers, int(r.byte()))
	}
	return schema.ShardsOf(numbers...)
}
