package kv

import (
	"errors"
	"slices"
	"strings"

	"github.com/sumi-ripple/ripple/schema"
)

const scheme = "https://"

// AddForm records a form of a URL, given its identity, and reports whether the
// forms that [URLs.Forms] returns have changed.
func (us *URLs) AddForm(id schema.ID, norm, form string) (bool, error) {
	if err := errors.Join(us.tx.change(), us.tx.known(id)); err != nil {
		return false, err
	}
	shape := shapeOf(norm, form)
	known := us.tx.s.Shapes(id)
	if shape != schema.ShapeOther && known&shape != 0 {
		return false, nil
	}
	if known|shape < schema.ShapeOther { // at most four, all derived
		us.addShape(id, shape)
		return true, nil
	}
	before, err := us.forms(id, norm)
	if err != nil {
		return false, err
	}
	if shape != schema.ShapeOther {
		us.addShape(id, shape)
	} else if err := us.addOther(id, form); err != nil {
		return false, err
	}
	after, err := us.forms(id, norm)
	return !slices.Equal(before, after), err
}

func (us *URLs) addShape(id schema.ID, shape schema.Shape) {
	known := us.tx.s.known.of(id)
	if known.mark&uint8(shape) != 0 {
		return
	}
	known.mark |= uint8(shape)
	if id < us.first() {
		us.shaped = append(us.shaped, id)
	}
}

// addOther stores a form that cannot be derived, if it is among the first four of those.
func (us *URLs) addOther(id schema.ID, form string) error {
	others, err := us.otherForms(id)
	if err != nil {
		return err
	}
	at, found := slices.BinarySearch(others, form)
	if found || at == schema.MaxForms {
		return nil
	}
	others = slices.Insert(others, at, form)
	w := us.tx.fields()
	w.uint(uint64(min(len(others), schema.MaxForms)))
	for _, text := range others[:min(len(others), schema.MaxForms)] {
		w.string(text)
	}
	us.addShape(id, schema.ShapeOther)
	return us.tx.put(bForms, key64(uint64(id)), w)
}

func (us *URLs) otherForms(id schema.ID) ([]string, error) {
	if us.tx.s.Shapes(id)&schema.ShapeOther == 0 {
		return nil, nil
	}
	key := key64(uint64(id))
	r, err := us.tx.get(bForms, key)
	if err != nil {
		return nil, missing(err, bForms, key)
	}
	forms := decodeForms(&r)
	if r.bad {
		return nil, damaged(bForms, key, "cannot be decoded")
	}
	return forms, nil
}

func decodeForms(r *reader) []string {
	var forms []string
	for range r.narrow(schema.MaxForms) {
		forms = append(forms, r.string())
	}
	return forms
}

// Forms returns the first four in byte order of all forms of a URL that were
// ever added.
func (us *URLs) Forms(id schema.ID) ([]string, error) {
	norm, err := us.Norm(id)
	if err != nil {
		return nil, err
	}
	return us.forms(id, norm)
}

func (us *URLs) forms(id schema.ID, norm string) ([]string, error) {
	forms, err := us.otherForms(id)
	if err != nil {
		return nil, err
	}
	for shape := schema.ShapePlain; shape < schema.ShapeOther; shape <<= 1 {
		if us.tx.s.Shapes(id)&shape != 0 {
			forms = append(forms, formOf(norm, shape))
		}
	}
	slices.Sort(forms)
	return forms[:min(len(forms), schema.MaxForms)], nil
}

// flushShapes writes the shapes of older URLs that were added to.
func (us *URLs) flushShapes() error {
	slices.Sort(us.shaped)
	p := packing{tx: us.tx, bucket: bShapes}
	before := uint64(0)
	for _, id := range slices.Compact(us.shaped) {
		item, err := p.add(uint64(id))
		if err != nil {
			return err
		}
		if p.fresh() {
			before = uint64(id)
		}
		item.uint(uint64(id) - before)
		item.byte(byte(us.tx.s.Shapes(id)))
		before = uint64(id)
	}
	err := p.end()
	us.tx.s.state.shapes += uint64(p.part)
	return err
}

// shapeOf returns how a form is derived from the identity of its URL.
func shapeOf(norm, form string) schema.Shape {
	identity, ok := strings.CutPrefix(norm, scheme)
	rest, ok2 := strings.CutPrefix(form, scheme)
	if !ok || !ok2 {
		return schema.ShapeOther
	}
	if s := slashShape(identity, rest); s != schema.ShapeOther {
		return s
	}
	if rest, ok = strings.CutPrefix(rest, "www."); !ok {
		return schema.ShapeOther
	}
	switch slashShape(identity, rest) {
	case schema.ShapePlain:
		return schema.ShapeWWW
	case schema.ShapeSlash:
		return schema.ShapeWWWSlash
	}
	return schema.ShapeOther
}

func slashShape(identity, form string) schema.Shape {
	if form == identity {
		return schema.ShapePlain
	}
	path, query := cutQuery(identity)
	if len(form) == len(identity)+1 && !strings.HasSuffix(path, "/") &&
		form[:len(path)] == path && form[len(path)] == '/' && form[len(path)+1:] == query {
		return schema.ShapeSlash
	}
	return schema.ShapeOther
}

// formOf returns the form of a shape that can be derived.
func formOf(norm string, shape schema.Shape) string {
	identity := strings.TrimPrefix(norm, scheme)
	path, query := cutQuery(identity)
	switch shape {
	case schema.ShapeWWW:
		return scheme + "www." + identity
	case schema.ShapeSlash:
		return scheme + path + "/" + query
	case schema.ShapeWWWSlash:
		return scheme + "www." + path + "/" + query
	}
	return norm
}

// cutQuery splits a URL before its question mark.
func cutQuery(url string) (path, query string) {
	if i := strings.IndexByte(url, '?'); i >= 0 {
		return url[:i], url[i:]
	}
	return url, ""
}
