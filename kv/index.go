package kv

import (
	"github.com/zeebo/xxh3"

	"github.com/sumi-ripple/ripple/schema"
)

// An index is the in-memory state of the URLs: a map from hashes, and by id the data that is needed too often
// to read records for it.
type index struct {
	seed   uint64 // of the hashes
	lookup table  // of all URLs, or of those looked up, see [URLs.seek]
	known  column[known]

	foundAll bool            // lookup contains all URLs
	sought   map[uint64]bool // otherwise the hashes whose URLs it contains
	seeks    int             // number of partial look-ups

	runs    []schema.Run // of each the ID, the kind and the first visit
	imports schema.Imports
	asked   map[schema.ID]uint32 // the visit of [index.Asked] if it comes before an import's, which is the latest
}

// shapesMask selects the bits of a mark that hold shapes.
const shapesMask = 31

// A known is the in-memory data of a URL, kept together because one use usually needs several of its fields.
type known struct {
	host   uint32 // id
	latest uint32 // visit
	depth  uint8  // plus 1; 0: none
	hops   uint8  // plus 1
	mark   uint8  // shapes; the kind from bit 5 on; bit 7: it is the front page of its host
	own    uint8  // shapes of own forms; bit 7: it is its host's own, see [Depths.SetOwn]
}

// frontMark is the bit of the front page of a host.
const frontMark = 1 << 7

// ownPage is the bit of a page that is its host's own.
const ownPage = 1 << 7

// Hash returns the hash for looking up a URL. It is seeded, so that nobody can make URLs collide.
func (x *index) Hash(kind schema.URLKind, norm string) uint64 {
	return xxh3.HashStringSeed(norm, x.seed+uint64(kind))
}

// HostOf returns the host of a URL; 0: there is no such URL.
func (x *index) HostOf(id schema.ID) schema.HostID { return schema.HostID(x.known.at(id).host) }

// Latest returns the last visit of a URL; 0: never visited.
func (x *index) Latest(id schema.ID) schema.Seq { return schema.Seq(x.known.at(id).latest) }

// Asked returns the last visit of a URL that is not one of an import; 0: none.
func (x *index) Asked(id schema.ID) schema.Seq {
	seq := x.Latest(id)
	if !x.imports.Has(seq) {
		return seq
	}
	return schema.Seq(x.asked[id])
}

// visited makes a visit the latest of a URL.
func (x *index) visited(id schema.ID, seq schema.Seq) {
	k := x.known.of(id)
	if k.latest != 0 && x.imports.Has(seq) && !x.imports.Has(schema.Seq(k.latest)) {
		if x.asked == nil {
			x.asked = map[schema.ID]uint32{}
		}
		x.asked[id] = k.latest
	}
	k.latest = uint32(seq)
}

// setRun notes which visits are those of a run.
func (x *index) setRun(run *schema.Run) {
	if n := int(run.ID); n > len(x.runs) {
		x.runs = append(x.runs, make([]schema.Run, n-len(x.runs))...)
	}
	is := schema.Run{ID: run.ID, Kind: run.Kind, FirstVisit: run.FirstVisit}
	if was := &x.runs[run.ID-1]; was.Kind != is.Kind || was.FirstVisit != is.FirstVisit {
		*was = is
		x.imports = schema.ImportsOf(x.runs)
	}
}

// Imports returns the visits of imports.
func (x *index) Imports() schema.Imports { return x.imports }

// Kind returns the kind of a URL.
func (x *index) Kind(id schema.ID) schema.URLKind {
	return schema.URLKind(x.known.at(id).mark >> 5 & 3)
}

// Front reports whether a page is the front page of its host.
func (x *index) Front(id schema.ID) bool { return x.known.at(id).mark&frontMark != 0 }

// Own reports whether a page is its host's own in this generation: the front page always is, and any other
// page if [Depths.SetOwn] was called for it.
func (x *index) Own(id schema.ID) bool {
	k := x.known.at(id)
	return k.own&ownPage != 0 || k.mark&frontMark != 0
}

// Shapes returns the derivable forms of a URL, and whether there are others.
func (x *index) Shapes(id schema.ID) schema.Shape {
	return schema.Shape(x.known.at(id).mark & shapesMask)
}

// OwnShapes returns which of these forms are own forms.
func (x *index) OwnShapes(id schema.ID) schema.Shape {
	return schema.Shape(x.known.at(id).own & shapesMask)
}

// Depth returns the smallest depth of a URL and its smallest number of hops; [NoDepth] for one it does not
// have in this generation.
func (x *index) Depth(id schema.ID) (depth, hops uint8) {
	k := x.known.at(id)
	return k.depth - 1, k.hops - 1
}

func (x *index) setDepth(id schema.ID, depth, hops uint8) {
	k := x.known.of(id)
	k.depth, k.hops = depth+1, hops+1
}
