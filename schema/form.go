package schema

import (
	"hash/fnv"
	"slices"
	"strings"
)

// A page has one identity, but a server may know it only under another spelling. Its forms are the
// spellings found so far. A form is own if a page or sitemap of its own host named it, or a seed, or a
// redirect within a visit. On a host that is no origin's, a form named by a page of an origin is own
// too. All other forms are foreign. Ownership depends only on what was read, so the order of visits
// does not change it, and it is never revoked.
//
// The four forms derived from the identity (see [Shape]) are always kept. Of the others, the first in
// byte order are kept, own and foreign ones separately, so that no foreign form displaces an own one.
const (
	MaxOwnForms     = 4
	MaxForeignForms = 2
	MaxForms        = 8    // tried in one visit
	maxLonger       = 1024 // bytes by which a kept form may exceed the identity
	maxForm         = 32 << 10
)

// Forms are the known forms of a URL.
type Forms struct {
	Norm    string   // the identity
	Shapes  Shape    // the forms derived from the identity
	Own     Shape    // the own ones among Shapes
	Others  []string // other own forms, in byte order
	Foreign []string // other foreign forms, in byte order; may include forms that are own as well
}

// All returns the forms in the order in which they are tried: first the own forms, then those derived
// from the identity, then other foreign forms; each group in byte order. If there are none, it returns
// the identity.
func (f *Forms) All() []string {
	all, foreign := f.Split()
	for _, form := range foreign {
		if !slices.Contains(f.Others, form) {
			all = append(all, form)
		}
	}
	if len(all) == 0 {
		return []string{f.Norm}
	}
	return all
}

// Keeps reports whether a form that is not derived from the identity may be kept.
func Keeps(norm, form string) bool { return len(form) <= min(len(norm)+maxLonger, maxForm) }

// Split returns the own forms and the foreign ones, each in the order in which they are tried.
func (f *Forms) Split() (own, foreign []string) {
	own = append(derived(f.Norm, f.Shapes&f.Own), f.Others...)
	slices.Sort(own)
	foreign = derived(f.Norm, f.Shapes&^f.Own)
	slices.Sort(foreign)
	return own, append(foreign, f.Foreign...)
}

// IsOwn reports whether a form is own.
func (f *Forms) IsOwn(form string) bool {
	return f.Own&ShapeOf(f.Norm, form) != 0 || slices.Contains(f.Others, form)
}

// Set returns the set of these forms.
func (f *Forms) Set() FormSet {
	others := slices.Concat(f.Others, f.Foreign)
	slices.Sort(others)
	return FormSet{Shapes: f.Shapes &^ ShapeOther, Own: f.Own, Others: sumOf(slices.Compact(others)),
		OwnOthers: sumOf(f.Others)}
}

func derived(norm string, shapes Shape) (forms []string) {
	for shape := ShapePlain; shape < ShapeOther; shape <<= 1 {
		if shapes&shape != 0 {
			forms = append(forms, shape.Form(norm))
		}
	}
	return forms
}

// A FormSet is a fingerprint of the forms of one URL.
type FormSet struct {
	Shapes    Shape // without [ShapeOther]
	Own       Shape
	Others    uint16 // checksum of the other forms; 0: none
	OwnOthers uint16 // checksum of the own ones among them
}

// Covers reports whether every form of the other set is in this one.
func (s FormSet) Covers(other FormSet) bool {
	return other.Shapes&^s.Shapes == 0 && (other.Others == s.Others || other.Others == 0)
}

// CoversOwn is like Covers, for own forms.
func (s FormSet) CoversOwn(other FormSet) bool {
	return other.Own&^s.Own == 0 && (other.OwnOthers == s.OwnOthers || other.OwnOthers == 0)
}

func sumOf(forms []string) uint16 {
	if len(forms) == 0 {
		return 0
	}
	h := fnv.New32a()
	for _, form := range forms {
		_, _ = h.Write(append([]byte(form), 0)) // never fails
	}
	return uint16(h.Sum32()>>16) | 1
}

// Found reports whether the visit found its page, even one of a type that is not accepted.
func (v *Visit) Found() bool { return v.State == Processed || v.State == ContentMismatch }

const scheme = "https://"

// ShapeOf returns how a form is derived from the identity of its URL.
func ShapeOf(norm, form string) Shape {
	identity, ok := strings.CutPrefix(norm, scheme)
	rest, ok2 := strings.CutPrefix(form, scheme)
	if !ok || !ok2 {
		return ShapeOther
	}
	if s := slashShape(identity, rest); s != ShapeOther {
		return s
	}
	if rest, ok = strings.CutPrefix(rest, "www."); !ok {
		return ShapeOther
	}
	switch slashShape(identity, rest) {
	case ShapePlain:
		return ShapeWWW
	case ShapeSlash:
		return ShapeWWWSlash
	}
	return ShapeOther
}

func slashShape(identity, form string) Shape {
	if form == identity {
		return ShapePlain
	}
	path, query := cutQuery(identity)
	if len(form) == len(identity)+1 && !strings.HasSuffix(path, "/") &&
		form[:len(path)] == path && form[len(path)] == '/' && form[len(path)+1:] == query {
		return ShapeSlash
	}
	return ShapeOther
}

// Form derives the form of one shape from an identity. s must not be [ShapeOther].
func (s Shape) Form(norm string) string {
	identity := strings.TrimPrefix(norm, scheme)
	path, query := cutQuery(identity)
	switch s {
	case ShapeWWW:
		return scheme + "www." + identity
	case ShapeSlash:
		return scheme + path + "/" + query
	case ShapeWWWSlash:
		return scheme + "www." + path + "/" + query
	}
	return norm
}

// cutQuery splits a URL at its question mark, which stays with the query.
func cutQuery(url string) (path, query string) {
	if i := strings.IndexByte(url, '?'); i >= 0 {
		return url[:i], url[i:]
	}
	return url, ""
}
