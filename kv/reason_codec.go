package kv

import (
	"github.com/sumi-ripple/ripple/schema"
)

// The sentence of a reason or an end has its own field, so that releases which know no
// causes still tell it. What follows at the end of the record makes a value of it: the
// cause and how many bytes of the sentence, which are its last, are the detail.

// reason writes what makes a reason of its sentence.
func (w *writer) reason(v *schema.Reason) {
	w.byte(byte(v.Cause))
	if v.Cause == schema.CauseNone {
		return
	}
	w.number(len(v.Detail))
	w.number(v.Status)
	w.micros(v.Wait)
	w.string(v.Host)
}

// reason makes a reason of its sentence. Of a cause that this release does not know it
// is the sentence.
func (r *reader) reason(sentence string) schema.Reason {
	v := schema.Reason{Cause: schema.Cause(r.byte()), Detail: sentence}
	if v.Cause == schema.CauseNone {
		return v
	}
	v.Detail = r.tail(sentence)
	v.Status, v.Wait, v.Host = r.number(), r.micros(), r.string()
	if !v.Cause.Known() {
		return told(sentence)
	}
	return v
}

// end writes what makes an end of its sentence.
func (w *writer) end(v *schema.End) {
	w.byte(byte(v.Kind))
	if v.Kind == schema.EndNone {
		return
	}
	w.number(len(v.Detail))
	w.number(v.N)
	w.micros(v.After)
}

// end makes an end of its sentence, as [reader.reason] does.
func (r *reader) end(sentence string) schema.End {
	v := schema.End{Kind: schema.EndKind(r.byte()), Detail: sentence}
	if v.Kind == schema.EndNone {
		return v
	}
	v.Detail, v.N, v.After = r.tail(sentence), r.number(), r.micros()
	if !v.Kind.Known() {
		return schema.End{Detail: sentence}
	}
	return v
}

// tail returns the last bytes of a text, whose number follows.
func (r *reader) tail(text string) string {
	n := r.narrow(uint64(len(text)))
	return text[len(text)-int(n):]
}
