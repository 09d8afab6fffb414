package decision

import (
	"slices"
	"unicode/utf8"
)

// A Patch replaces a part of a text.
type Patch struct {
	At     int    `json:"at"`     // where the part begins, in bytes
	Length int    `json:"length"` // of the part, in bytes
	Text   string `json:"text"`   // in its place
}

// between returns the patch that turns one text, in UTF-8, into another.
func between(from, to []byte) Patch {
	most := min(len(from), len(to))
	head := 0
	for head < most && from[head] == to[head] {
		head++
	}
	for head > 0 && (inRune(from, head) || inRune(to, head)) {
		head--
	}
	tail := 0
	for tail < most-head && from[len(from)-tail-1] == to[len(to)-tail-1] {
		tail++
	}
	for tail > 0 && (inRune(from, len(from)-tail) || inRune(to, len(to)-tail)) {
		tail--
	}
	return Patch{head, len(from) - head - tail, string(to[head : len(to)-tail])}
}

// inRune reports whether a character begins before a byte and does not end there.
func inRune(text []byte, at int) bool { return at < len(text) && !utf8.RuneStart(text[at]) }

// apply returns a text with the part replaced.
func (p *Patch) apply(text []byte) ([]byte, error) {
	if p.At < 0 || p.Length < 0 || p.At > len(text) || p.Length > len(text)-p.At {
		return nil, ErrUndo
	}
	return slices.Concat(text[:p.At], []byte(p.Text), text[p.At+p.Length:]), nil
}
