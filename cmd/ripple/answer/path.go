package answer

import (
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

// An OriginPath is a shortest path from an origin to a page.
type OriginPath struct {
	Origin string    `json:"quality_origin"`
	Depth  int       `json:"depth"`
	Path   []pathHop `json:"path"`
}

// A pathHop is a page on a path, and the link that leads to it.
type pathHop struct {
	URL    string `json:"url"`
	Kind   string `json:"kind,omitempty"`
	Rel    string `json:"rel,omitempty"`
	Place  string `json:"place,omitempty"`
	Anchor string `json:"anchor,omitempty"`
}

// An UnknownError reports a page that was never met.
type UnknownError struct{ URL string }

func (e *UnknownError) Error() string { return term.Clean(e.URL, 300) + " is not known" }

// Paths returns the canonical URL of a page and a shortest path to it from each origin, the nearest
// origin first. It fails with [UnknownError].
func (r Inspector) Paths(raw string) (norm string, paths []OriginPath, err error) {
	u, err := ParseURL(r.Config().Rules(), raw)
	if err != nil {
		return "", nil, err
	}
	id, known, err := r.Lookup(u.Norm)
	if err != nil {
		return u.Norm, nil, err
	}
	if !known {
		return u.Norm, nil, &UnknownError{u.Norm}
	}
	paths, err = OriginPaths(r.Survey, id, len(r.Scope().Origins()))
	return u.Norm, paths, err
}

// OriginPaths returns shortest paths to a page from up to limit origins, the nearest first.
func OriginPaths(s *survey.Survey, id schema.ID, limit int) ([]OriginPath, error) {
	ways, err := s.Ways(id, limit)
	paths := make([]OriginPath, len(ways))
	for i, w := range ways {
		paths[i] = OriginPath{Origin: s.Scope().Origins()[w.Origin].Name, Depth: int(w.Depth), Path: pathHops(w.Hops)}
	}
	return paths, err
}

func pathHops(hops []survey.Hop) []pathHop {
	out := make([]pathHop, len(hops))
	for i, h := range hops {
		out[i].URL = h.URL
		if i > 0 {
			out[i].Kind, out[i].Rel, out[i].Place = h.Link.Kinds.First().String(), h.Link.Rel.String(), h.Link.Where()
			out[i].Anchor = h.Link.Anchor
		}
	}
	return out
}
