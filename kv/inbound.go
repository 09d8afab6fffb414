package kv

import (
	"encoding/binary"
	"errors"

	"github.com/sumi-ripple/ripple/schema"
)

// Inbound owns the bucket inbound: what other shards have reported about URLs of this one.
type Inbound struct{ tx *base }

// Put stores what is reported about a URL, replacing any previous report.
func (in *Inbound) Put(id schema.ID, told schema.Inbound) error {
	_, known, err := in.At(id)
	if err := errors.Join(in.tx.change(), in.tx.known(id), err); err != nil {
		return err
	}
	if in.tx.s.rule == nil || in.tx.s.Foreign(in.tx.s.HostOf(id)) {
		return damaged(bInbound, key32(uint32(id)), "is no URL of this shard")
	}
	if !known {
		in.tx.s.inbound++
	}
	w := in.tx.fields()
	encodeInbound(w, told)
	return in.tx.put(bInbound, key32(uint32(id)), w)
}

// At returns what is reported about a URL, if anything.
func (in *Inbound) At(id schema.ID) (told schema.Inbound, ok bool, err error) {
	if in.tx.s.rule == nil {
		return told, false, nil
	}
	r, ok, err := in.tx.find(bInbound, key32(uint32(id)))
	if !ok {
		return told, false, err
	}
	if told = decodeInbound(&r); r.bad {
		err = damaged(bInbound, key32(uint32(id)), "cannot be decoded")
	}
	return told, err == nil, err
}

// Each calls f for all reports, by id, until f returns false. f must not change them.
func (in *Inbound) Each(f func(id schema.ID, told schema.Inbound) (bool, error)) error {
	return in.each(nil, f)
}

// EachFrom is Each, starting at an id.
func (in *Inbound) EachFrom(from schema.ID, f func(id schema.ID, told schema.Inbound) (bool, error)) error {
	return in.each(key32(uint32(from)), f)
}

func (in *Inbound) each(from []byte, f func(id schema.ID, told schema.Inbound) (bool, error)) error {
	if in.tx.s.rule == nil {
		return nil
	}
	return in.tx.each(bInbound, from, func(key []byte, r *reader) (bool, error) {
		id := schema.ID(0)
		if len(key) == 4 {
			id = schema.ID(binary.BigEndian.Uint32(key))
		}
		if host := in.tx.s.HostOf(id); host == 0 || in.tx.s.Foreign(host) {
			return false, damaged(bInbound, key, "is no URL of this shard")
		}
		told := decodeInbound(r)
		if r.bad {
			return false, damaged(bInbound, key, "cannot be decoded")
		}
		return f(id, told)
	})
}

func (in *Inbound) rebuild() error {
	return in.Each(func(schema.ID, schema.Inbound) (bool, error) { in.tx.s.inbound++; return true, nil })
}

func (in *Inbound) check() error {
	return in.Each(func(schema.ID, schema.Inbound) (bool, error) { return true, nil })
}

func encodeInbound(w *writer, in schema.Inbound) {
	w.uint(in.Run)
	w.uint(in.Configuration)
	w.byte(in.Depth)
	w.byte(in.Hops)
	w.bool(in.Listed)
	w.bool(in.Own)
	w.seconds(in.Changed)
}

func decodeInbound(r *reader) schema.Inbound {
	return schema.Inbound{
		Run: r.uint(), Configuration: r.uint(), Depth: r.byte(), Hops: r.byte(), Listed: r.bool(), Own: r.bool(),
		Changed: r.seconds(),
	}
}
