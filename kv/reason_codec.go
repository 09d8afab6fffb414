package kv

import (
	"time"

	"github.com/sumi-ripple/ripple/schema"
)

// The sentence of a reason or an end has its own field, so that releases which know no
// causes still tell it. What follows at the end of the record makes a value of it: the
// cause and how many bytes of the sentence, which are its last, are the detail.

// cause writes what a reason and an end have in common; false: there is none, and
// nothing else follows.
func (w *writer) cause(kind byte, detail string, n int, span time.Duration) bool {
	w.byte(kind)
	if kind == 0 {
		return false
	}
	w.number(len(detail))
	w.number(n)
	w.micros(span)
	return true
}

// cause reads what [writer.cause] wrote. Without a cause the whole sentence is detail.
func (r *reader) cause(sentence string) (kind byte, detail string, n int, span time.Duration) {
	if kind = r.byte(); kind == 0 {
		return 0, sentence, 0, 0
	}
	return kind, r.tail(sentence), r.number(), r.micros()
}

// reason writes what makes a reason of its sentence.
func (w *writer) reason(v *schema.Reason) {
	if w.cause(byte(v.Cause), v.Detail, v.Status, v.Wait) {
		w.string(v.Host)
	}
}

// reason makes a reason of its sentence. Where this release does not know the cause, the
// reason is the sentence alone.
func (r *reader) reason(sentence string) schema.Reason {
	kind, detail, status, wait := r.cause(sentence)
	v := schema.Reason{Cause: schema.Cause(kind), Detail: detail, Status: status, Wait: wait}
	if v.Cause == schema.CauseNone {
		return v
	}
	v.Host = r.string()
	if !v.Cause.Known() {
		return told(sentence)
	}
	return v
}

// end writes what makes an end of its sentence.
func (w *writer) end(v *schema.End) { w.cause(byte(v.Kind), v.Detail, v.N, v.After) }

// end makes an end of its sentence, as [reader.reason] does.
func (r *reader) end(sentence string) schema.End {
	kind, detail, n, after := r.cause(sentence)
	v := schema.End{Kind: schema.EndKind(kind), Detail: detail, N: n, After: after}
	if v.Kind != schema.EndNone && !v.Kind.Known() {
		return schema.End{Detail: sentence}
	}
	return v
}

// tail returns the last bytes of a text, whose number follows.
func (r *reader) tail(text string) string {
	n := r.narrow(uint64(len(text)))
	return text[len(text)-int(n):]
}
