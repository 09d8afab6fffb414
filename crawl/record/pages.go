package record

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"fmt"

	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/crawl/warc"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/preference"
)

// metaPages is the name under which the state file keeps the committed position in its page store:
// the store's name, the last segment and its end.
const metaPages = "page store"

// warcSoftware is recorded in the page store.
const warcSoftware = "Ripple (+https://github.com/sumi-ripple/ripple)"

// A pageStore is the recorder's end of the page store. Pages are appended during a turn, and synced
// before the commit that records the new position.
type pageStore struct {
	writer *warc.Writer
	name   string
	stored bool // in this turn
}

// add appends a page to the store, before the commit that refers to it.
func (p *pageStore) add(in *runState, o *ring.Outcome, visit *schema.Visit) error {
	if o.Sealed == nil || visit.State != schema.Processed || visit.RedirectTo != 0 ||
		preference.Fleeting(visit.Preferences) {
		return nil
	}
	if err := p.open(in); err != nil {
		return err
	}
	var err error
	visit.StoredPath, err = p.writer.Append(o.Sealed)
	p.stored = true
	return err
}

// open opens the page store at the position of the last commit. It removes everything after that.
func (p *pageStore) open(in *runState) error {
	if p.writer != nil {
		return nil
	}
	text, err := in.tx.Meta.Value(metaPages)
	if err != nil {
		return err
	}
	var at warc.Position
	name, rest, _ := bytes.Cut(text, []byte(" "))
	if text != nil {
		if at, err = warc.ParsePosition(rest); err != nil {
			return fmt.Errorf("%w: %w", kv.ErrDamaged, err)
		}
		p.name = string(name)
	} else {
		var id [5]byte
		_, _ = rand.Read(id[:]) // never fails
		p.name = "ripple" + hex.EncodeToString(id[:])
	}
	p.writer, err = warc.Open(in.set.Config.Pages.Path, p.name, at, warcSoftware)
	return err
}

// cut removes, at a start, pages that were stored and not committed.
func (p *pageStore) cut(in *runState) error {
	text, err := in.tx.Meta.Value(metaPages)
	if err != nil || text == nil || !in.set.Config.Pages.Keep {
		return err
	}
	return p.open(in)
}

// sync makes the pages of a turn durable, and records the new position with its commit.
func (p *pageStore) sync(in *runState) error {
	if !p.stored {
		return nil
	}
	p.stored = false
	at, err := p.writer.Sync()
	if err != nil {
		return err
	}
	return in.tx.Meta.Put(metaPages, []byte(p.name+" "+at.String()))
}

// close ends the writing of the page store.
func (p *pageStore) close() error {
	if p.writer == nil {
		return nil
	}
	err := p.writer.Close()
	*p = pageStore{}
	return err
}

// LeavePages detaches the state from its page store: the next kept page starts a new store. It is for a copy of a state
// file, because the store belongs to the original, and holds only what the original has committed. Stored pages can
// still be read.
func LeavePages(store *kv.Store) error {
	return store.Update(func(tx *kv.Tx) error { return tx.Meta.Put(metaPages, nil) })
}
