package kv

import "github.com/sumi-ripple/ripple/schema"

func (w *writer) reason(v *schema.Reason) {
	w.byte(byte(v.Cause))
	if v.Cause != schema.CauseNone {
		w.string(v.Detail)
		w.number(v.Status)
		w.micros(v.Wait)
		w.string(v.Host)
	}
}

func (r *reader) reason() schema.Reason {
	v := schema.Reason{Cause: schema.Cause(r.byte())}
	if !v.Cause.Known() {
		r.fail()
	}
	if v.Cause != schema.CauseNone {
		v.Detail, v.Status, v.Wait, v.Host = r.string(), r.number(), r.micros(), r.string()
	}
	return v
}

func (w *writer) end(v *schema.End) {
	w.byte(byte(v.Kind))
	if v.Kind != schema.EndNone {
		w.string(v.Detail)
		w.number(v.N)
		w.micros(v.After)
	}
	w.shards(v.Without)
}

func (r *reader) end() schema.End {
	v := schema.End{Kind: schema.EndKind(r.byte())}
	if !v.Kind.Known() {
		r.fail()
	}
	if v.Kind != schema.EndNone {
		v.Detail, v.N, v.After = r.string(), r.number(), r.micros()
	}
	v.Without = r.shards()
	return v
}
