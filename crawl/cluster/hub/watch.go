package hub

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/sumi-ripple/ripple/crawl/cluster/lease"
)

const (
	// looks is how often a [Watch] looks for a write that it has heard of: the hub may not have stored it yet, and stores
	// none that comes too late.
	looks = 5
	// checks is how many rests pass before a Watch asks whether the bucket is another one.
	checks = 10
	// kvOperation is in the header of a message with which a record was deleted.
	kvOperation = "KV-Operation"
)

// A Watch reads the records of some keys that have changed. It hears of every write, and asks the hub only then, after
// every reconnection, and now and then, because it may not have heard. Its methods must be called from one goroutine.
type Watch struct {
	bucket *Bucket
	keys   string // subject of the records
	rest   time.Duration
	writes atomic.Int64 // heard of and not looked for yet

	stream      jetstream.Stream
	instance    string // of the bucket
	connections uint64 // [Bucket.Connections] when everything was last read
	revision    uint64 // of the latest record read
	unseen      int    // writes that it has heard of and not read
	left        int    // looks for them
	looked      time.Time
	checked     time.Time
}

// A Record is a record of a [Bucket] with its key.
type Record struct {
	Key string
	lease.Entry
}

// Watch returns a watch of keys, a subject with wildcards, which hears of writes until ctx is done. Once per rest it
// looks for those that it has not heard of.
func (b *Bucket) Watch(ctx context.Context, keys string, rest time.Duration) (*Watch, error) {
	w := &Watch{bucket: b, keys: kvSubject + b.own(keys), rest: rest}
	s, err := b.conn.nats.Subscribe(w.keys, func(*nats.Msg) { w.writes.Add(1) })
	if err == nil {
		context.AfterFunc(ctx, func() { _ = s.Unsubscribe() }) // fails only if the connection is closed
	}
	return w, err
}

// Again makes the next call of Changes return all records.
func (w *Watch) Again() { w.instance = "" }

// Changes returns the records that have changed since the last call. all: it returns all that there are, because others
// may have been lost or deleted, or this is the first call. After an error the next call returns everything.
func (w *Watch) Changes(ctx context.Context) (changed []Record, all bool, err error) {
	now, conn := time.Now(), w.bucket.conn
	if _, err := conn.session(); err != nil {
		w.Again()
		return nil, false, conn.heard(now, err)
	}
	if heard := int(w.writes.Swap(0)); heard > 0 {
		w.unseen, w.left = w.unseen+heard, looks
	}
	connections := w.bucket.Connections()
	switch {
	case w.instance == "", w.connections != connections, now.Sub(w.checked) >= checks*w.rest:
		all, err = w.check(ctx, connections)
		w.checked = now
	case w.left == 0 && now.Sub(w.looked) < w.rest:
		return nil, false, nil
	}
	if err == nil {
		changed, all, err = w.read(ctx, all)
	}
	if err != nil {
		w.Again()
		return nil, false, err
	}
	w.looked = now
	if w.unseen -= len(changed); w.unseen <= 0 || w.left <= 1 {
		w.unseen, w.left = 0, 0
	} else {
		w.left--
	}
	return changed, all, nil
}

// check reports whether everything must be read, because the connection or the bucket is another one, or the hub has
// lost what it had.
func (w *Watch) check(ctx context.Context, connections uint64) (all bool, err error) {
	var session string
	err = w.bucket.conn.ask(ctx, func(ctx context.Context) (err error) {
		session, w.stream, err = w.bucket.session(ctx)
		return err
	})
	if err != nil {
		return false, err
	}
	instance, last := lease.Instance(session), w.stream.CachedInfo().State.LastSeq
	if all = instance != w.instance || connections != w.connections || last < w.revision; all {
		w.revision = 0
	}
	w.instance, w.connections = instance, connections
	return all, nil
}

// read returns the records that were written after the last one that was read, and all of them if one was deleted. was:
// it reads all of them.
func (w *Watch) read(ctx context.Context, was bool) (changed []Record, all bool, err error) {
	for all = was; ; {
		var m *jetstream.RawStreamMsg
		err := w.bucket.conn.ask(ctx, func(ctx context.Context) (err error) {
			m, err = w.stream.GetMsg(ctx, w.revision+1, jetstream.WithGetMsgSubject(w.keys))
			return err
		})
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			return changed, all, nil
		}
		if err != nil {
			return nil, false, err
		}
		w.revision = m.Sequence
		if m.Header.Get(kvOperation) != "" {
			if !all {
				changed, all, w.revision = nil, true, 0
			}
			continue
		}
		key := strings.TrimPrefix(m.Subject, kvSubject+w.bucket.own(""))
		changed = append(changed, Record{key, lease.Entry{Value: m.Data, Revision: m.Sequence}})
	}
}
