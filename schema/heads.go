package schema

// Heads records how a host answers HEAD: for which paths a GET has confirmed a content type that is not
// accepted, or that a GET contradicted a HEAD. Pages and files are separate because an honest answer for an
// image says nothing about pages.
type Heads uint8

// What may be known of the host's answers.
const (
	HeadPageType Heads = 1 << iota // types are right for paths that end like a page's
	HeadFileType                   // types are right for all other paths
	HeadsLie                       // a GET contradicted a HEAD: no more HEAD requests are sent
)

// Doubted reports whether the visit relied on a HEAD answer of a host whose HEAD answers are no longer
// trusted. Its page is visited once more.
func (v *Visit) Doubted(h Heads) bool { return v.ByHead && h&HeadsLie != 0 }
