package schema

// Heads is what is known of a host's answers to HEAD: which kinds of refusals GET has confirmed, once each, or that
// it has contradicted one. Kinds are told apart so that an honest answer for a picture says nothing of a page.
type Heads uint8

// The kinds of refusals, each for paths that end like a page's and, shifted by [HeadFile], for all others.
const (
	HeadRedirect Heads = 1 << iota
	HeadType
	_
	_
	HeadsLie // no HEAD is sent any more

	HeadFile = 2
)

// Doubted reports whether a visit believed an answer to HEAD of a host whose answers to HEAD are not believed any more.
// Its page is visited once more.
func (v *Visit) Doubted(h Heads) bool { return v.ByHead && h&HeadsLie != 0 }
