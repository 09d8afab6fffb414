package weburl

import (
	"bytes"
	"slices"
	"strings"
)

// strip removes, in place, the parameters that the rules name from the query whose "?" is at
// text[mark]. If none is left, it removes the "?" too. A query that loses nothing stays as written,
// including empty pieces.
func (r *Rules) strip(text []byte, mark int) []byte {
	if mark >= len(text) {
		return text
	}
	start := mark + 1
	end, first, stripped := start, true, false // text[start:end] is the part that is kept
	for at := start; at <= len(text); {
		piece, _, _ := bytes.Cut(text[at:], []byte{'&'})
		at += len(piece) + 1
		name, _, _ := bytes.Cut(piece, []byte{'='})
		if r.strips(name) {
			stripped = true
			continue
		}
		if !first {
			text[end] = '&'
			end++
		}
		first = false
		end += copy(text[end:], piece)
	}
	if stripped && end == start {
		return text[:mark]
	}
	return text[:end]
}

// appendSortedQuery appends "?" and the parameters sorted by name, keeping the order of equal names. It
// appends nothing if there are no parameters.
func appendSortedQuery(dst []byte, query string) []byte {
	var buf [16]string
	params := buf[:0]
	for more := true; more; {
		var piece string
		if piece, query, more = strings.Cut(query, "&"); piece != "" {
			params = append(params, piece)
		}
	}
	if !slices.IsSortedFunc(params, compareNames) {
		slices.SortStableFunc(params, compareNames)
	}
	separator := byte('?')
	for _, p := range params {
		dst = append(append(dst, separator), p...)
		separator = '&'
	}
	return dst
}

func compareNames(a, b string) int { return strings.Compare(nameOf(a), nameOf(b)) }

func nameOf(param string) string {
	if i := strings.IndexByte(param, '='); i >= 0 {
		return param[:i]
	}
	return param
}
