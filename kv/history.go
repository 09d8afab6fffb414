package kv

import (
	"errors"
	"time"

	"github.com/sumi-ripple/ripple/schema"
)

const historyPrefix = "history/"

func historyKey(id schema.RunID) []byte {
	return append([]byte(historyPrefix), key32(uint32(id))...)
}

// History returns the progress of a run over time. It is empty if none was recorded.
func (rs *Runs) History(id schema.RunID) (h schema.History, err error) {
	key := historyKey(id)
	r, ok, err := rs.tx.find(bMeta, key)
	if !ok {
		return h, err
	}
	h.Every = time.Duration(r.narrow(1<<32-1)) * time.Second
	n := r.length(5)
	if n > schema.MaxPoints {
		r.fail()
	}
	at := int64(0)
	for ; n > 0 && !r.bad; n-- {
		at += r.int()
		h.Points = append(h.Points, schema.Point{At: time.UnixMilli(at).UTC(),
			Pages: r.number(), Requests: r.number(), Errors: r.number(), Waiting: r.number()})
	}
	if r.bad || len(r.b) > 0 {
		return schema.History{}, damaged(bMeta, key, "cannot be decoded")
	}
	return h, nil
}

// PutHistory replaces the history of a run.
func (rs *Runs) PutHistory(id schema.RunID, h schema.History) error {
	if len(h.Points) == 0 {
		return nil
	}
	w := rs.tx.fields()
	w.uint(uint64(h.Every / time.Second))
	w.uint(uint64(len(h.Points)))
	at := int64(0)
	for _, p := range h.Points {
		w.int(p.At.UnixMilli() - at)
		at = p.At.UnixMilli()
		w.uint(uint64(p.Pages))
		w.uint(uint64(p.Requests))
		w.uint(uint64(p.Errors))
		w.uint(uint64(p.Waiting))
	}
	return errors.Join(rs.tx.change(), rs.tx.put(bMeta, historyKey(id), w))
}
