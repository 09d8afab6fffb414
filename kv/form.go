package kv

import (
	"strings"

	"github.com/sumi-ripple/ripple/schema"
)

// maxForms is the number of forms of a URL that are kept, the first in byte order.
const maxForms = 4

const scheme = "https://"

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
