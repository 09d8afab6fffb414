package decide

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/sumi-ripple/ripple/cmd/ripple/output"
	"github.com/sumi-ripple/ripple/cmd/ripple/seeds"
	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema/config"
)

// A Replay extracts links and facts again from the page store of a state.
type Replay struct {
	States statefile.Files
	State  string         // the file
	Into   string         // the new file that is written; empty: State itself is changed
	Config *config.Config // nil: that of the last run
	Found  string         // the configuration by which State was found; empty: none
	Tell   func(crawl.Replayed, *config.Config) error
}

// Run replays the state. If no page of it is stored, Run tells so and returns [output.ErrNoPages].
func (r Replay) Run(ctx context.Context) error {
	if r.Into == "" {
		return r.run(r.State)
	}
	copied, err := r.copy(ctx)
	if err != nil {
		return err
	}
	defer os.Remove(copied)
	if err := r.run(copied); err != nil {
		return err
	}
	return kv.Rename(copied, r.Into)
}

// run replays a file that nobody else has open.
func (r Replay) run(state string) error {
	store, err := statefile.OpenLocked(state, kv.Options{})
	if err != nil {
		return err
	}
	defer store.Close()
	if r.Into != "" {
		if err := crawl.LeavePages(store); err != nil {
			return err
		}
	}
	cfg := r.Config
	if cfg == nil {
		cfg, err = r.movedConfig(store)
	} else {
		cfg, err = seeds.WithKept(store, cfg)
	}
	if err != nil {
		return err
	}
	done, err := crawl.Replay(store, cfg)
	if errors.Is(err, crawl.ErrArchives) {
		err = term.Hint(err, "import the archives again, with another [state] path")
	}
	if err != nil {
		return err
	}
	if err := r.Tell(done, cfg); err != nil {
		return err
	}
	if done.Pages+done.Missing == 0 {
		return output.ErrNoPages
	}
	return nil
}

// copy writes a compacted copy of the state next to the new file, which must not exist yet, and returns the name of the
// copy. The caller renames it.
func (r Replay) copy(ctx context.Context) (string, error) {
	f := output.Format{State: true, Check: func(path string, _ bool) error {
		if _, err := os.Lstat(path); err == nil {
			return fmt.Errorf("%s exists; name a new file", term.Shown(path))
		}
		return nil
	}}
	if err := f.RefuseNamed(r.Into, false); err != nil {
		return "", err
	}
	copied, remove, err := r.States.WorkingCopy(ctx, r.State)
	if err != nil {
		return "", err
	}
	defer remove()
	next := r.Into + ".compact"
	_ = os.Remove(next) // of one that was killed
	return next, kv.Compact(copied, next)
}

// movedConfig returns the configuration of the last run. If the one by which the state was found differs only in where
// its files are, that one is returned.
func (r Replay) movedConfig(store *kv.Store) (*config.Config, error) {
	last, err := statefile.LastConfig(store)
	if err != nil || r.Found == "" {
		return last, err
	}
	now, _, err := config.Load(r.Found)
	if err == nil {
		now, err = seeds.WithKept(store, now)
	}
	if err != nil || !now.SameElsewhere(last) {
		return last, nil // it need not be right
	}
	return now, nil
}
