package kv

import "github.com/sumi-ripple/ripple/schema"

func (w *writer) reason(v *schema.Reason) {
	w.byte(byte(v.Cause))
	w.string(v.Detail)
	if v.Cause != schema.CauseNone {
		w.number(v.Status)
		w.micros(v.Wait)
		w.string(v.Host)
	}
}

func (r *reader) reason() schema.Reason {
	v := schema.Reason{Cause: schema.Cause(r.byte()), Detail: r.string()}
	if !v.Cause.Known() {
		r.fail()
	}
	if v.Cause != schema.CauseNone {
		v.Status, v.Wait, v.Host = r.number(), r.micros(), r.string()
	}
	return v
}

func (w *writer) end(v *schema.End) {
	w.byte(byte(v.Kind))
	w.string(v.Detail)
	w.number(v.N)
	w.micros(v.After)
	w.shards(v.Without)
}

func (r *reader) end() schema.End {
	v := schema.End{Kind: schema.EndKind(r.byte()), Detail: r.string(), N: r.number(), After: r.micros()}
	if v.Kind != schema.EndNone && !v.Kind.Known() {
		r.fail()
	}
	v.Without = r.shards()
	return v
}
