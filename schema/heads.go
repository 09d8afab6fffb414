package schema

// Heads records how a host answers HEAD: the kinds of refusals that a GET has confirmed once, or that a
// GET contradicted one. The kinds are separate because an honest answer for an image says nothing about
// pages.
type Heads uint8

// The kinds of refusals, for paths that end like a page's. For all other paths they are shifted by
// [HeadFile].
const (
	HeadRedirect Heads = 1 << iota
	HeadType
	_
	_
	HeadsLie // a GET contradicted a HEAD: no more HEAD requests are sent

	HeadFile = 2
)

// Doubted reports whether the visit relied on a HEAD answer of a host whose HEAD answers are no longer
// trusted. Its page is visited once more.
func (v *Visit) Doubted(h Heads) bool { return v.ByHead && h&HeadsLie != 0 }
