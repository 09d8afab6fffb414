package kv

import (
	"github.com/zeebo/xxh3"

	"github.com/sumi-ripple/ripple/schema"
)

// An index is what is held in memory of the URLs: where a hash leads, and by id
// what is asked for so often that no record can be read for it.
type index struct {
	seed   uint64 // of the hashes
	lookup table  // of all URLs, or of those that were looked for, see [URLs.seek]
	known  column[known]

	foundAll bool            // lookup has all URLs
	sought   map[uint64]bool // else the hashes of which it has them
	seeks    int             // how often some were looked for
}

// shapesMask are the bits of a mark that hold shapes.
const shapesMask = 31

// A known is what is held of a URL: together, because whoever asks for one of it
// asks for more.
type known struct {
	host   uint32 // id
	latest uint32 // visit
	depth  uint8  // plus 1; 0: none
	hops   uint8  // plus 1
	mark   uint8  // shapes, the kind from bit 5 on, and in bit 7 whether it is the front page of its host
	own    uint8  // shapes of own forms, and in bit 7 whether it is its host's own, see [Depths.SetOwn]
}

// frontMark is the bit of the front page of a host.
const frontMark = 1 << 7

// ownPage is the bit of a page that is its host's own.
const ownPage = 1 << 7

// Hash returns the hash under which a URL is looked up. It is seeded, so that
// nobody can make URLs collide.
func (x *index) Hash(kind schema.URLKind, norm string) uint64 {
	return xxh3.HashStringSeed(norm, x.seed+uint64(kind))
}

// HostOf returns the host of a URL; 0: there is no such URL.
func (x *index) HostOf(id schema.ID) schema.HostID { return schema.HostID(x.known.at(id).host) }

// Latest returns the last visit of a URL; 0: never visited.
func (x *index) Latest(id schema.ID) schema.Seq { return schema.Seq(x.known.at(id).latest) }

// Kind returns what a URL is asked for.
func (x *index) Kind(id schema.ID) schema.URLKind {
	return schema.URLKind(x.known.at(id).mark >> 5 & 3)
}

// Front reports whether a page is the front page of its host.
func (x *index) Front(id schema.ID) bool { return x.known.at(id).mark&frontMark != 0 }

// Own reports whether a page is its host's own in this generation: the front page always is, any
// other if [Depths.SetOwn] has said so.
func (x *index) Own(id schema.ID) bool {
	k := x.known.at(id)
	return k.own&ownPage != 0 || k.mark&frontMark != 0
}

// Shapes returns the forms of a URL that can be derived, and whether there are others.
func (x *index) Shapes(id schema.ID) schema.Shape {
	return schema.Shape(x.known.at(id).mark & shapesMask)
}

// OwnShapes returns which of these forms are own ones.
func (x *index) OwnShapes(id schema.ID) schema.Shape {
	return schema.Shape(x.known.at(id).own & shapesMask)
}

// Depth returns the smallest depth of a URL and its smallest number of hops,
// each [NoDepth] if it has none in this generation.
func (x *index) Depth(id schema.ID) (depth, hops uint8) {
	k := x.known.at(id)
	return k.depth - 1, k.hops - 1
}

func (x *index) setDepth(id schema.ID, depth, hops uint8) {
	k := x.known.of(id)
	k.depth, k.hops = depth+1, hops+1
}
