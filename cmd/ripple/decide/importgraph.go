package decide

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/export/atomicfile"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/webgraph"
)

// inlinkCommit is the number of in-links in a commit.
const inlinkCommit = 1 << 14

// A GraphImport records who links to the origins of a state from outside, by a web graph.
type GraphImport struct {
	State string // the file
	Files *webgraph.Files
	See   export.Progress
}

// Run reads the graph and replaces the in-links that the state has. Until the whole graph has been read, those stay;
// one that is killed while they are written leaves none.
func (g GraphImport) Run(ctx context.Context) (done webgraph.Result, err error) {
	store, err := statefile.OpenLocked(g.State, kv.Options{})
	if err != nil {
		return done, err
	}
	defer store.Close()
	if store.Part() != (schema.Part{}) {
		return done, term.Hint(term.Usage("%s holds a part of a terrain", term.Shown(g.State)),
			"\"ripple merge\" makes a map of all shards, which can have a web graph")
	}
	cfg, err := statefile.LastConfig(store)
	if err != nil {
		return done, err
	}
	dir, remove, err := atomicfile.Scratch(filepath.Dir(store.Path()))
	if err != nil {
		return done, err
	}
	defer remove()
	w := &inlinkWriter{ctx: ctx, store: store}
	r := webgraph.Reader{Scope: cfg.Scope(), Dir: dir,
		Known: func(host string, domain bool) (known bool, err error) {
			err = store.View(func(tx *kv.Tx) (err error) { known, err = tx.Hosts.Knows(host, domain); return err })
			return known, err
		},
		See: func(pass string, read int64) { g.See.At(pass, int(read), int(g.Files.Bytes)) },
	}
	if done, err = r.Read(ctx, g.Files, w.put); err != nil {
		return done, err
	}
	done.Sources, done.ReadAt = 0, time.Now().UTC().Truncate(time.Millisecond)
	return done, w.flush(&done.Graph)
}

// An inlinkWriter replaces the in-links of a state.
type inlinkWriter struct {
	ctx   context.Context
	store *kv.Store
	begun bool
	batch []schema.Inlink
	count uint64 // hosts
}

func (w *inlinkWriter) put(l *schema.Inlink) error {
	w.batch = append(w.batch, *l)
	if len(w.batch) < inlinkCommit {
		return nil
	}
	return w.flush(nil)
}

// flush writes the batch and, if it is the last one, the graph.
func (w *inlinkWriter) flush(g *schema.Graph) error {
	if err := context.Cause(w.ctx); err != nil {
		return err
	}
	err := w.store.Update(func(tx *kv.Tx) error {
		if !w.begun {
			if err := tx.Inlinks.Clear(); err != nil {
				return err
			}
		}
		for i := range w.batch {
			added, err := tx.Inlinks.Put(&w.batch[i])
			if err != nil {
				return err
			}
			if added {
				w.count++
			}
		}
		if g == nil {
			return nil
		}
		g.Sources = w.count
		return tx.Inlinks.PutGraph(g)
	})
	if err != nil {
		return fmt.Errorf("write the in-links: %w", err)
	}
	w.begun, w.batch = true, w.batch[:0]
	return nil
}
