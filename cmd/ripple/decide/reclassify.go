package decide

import (
	"github.com/sumi-ripple/ripple/cmd/ripple/seeds"
	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

// Reclassify applies a configuration to a state file that no crawl is using, and calls tell with
// the change while the file is open.
func Reclassify(state string, cfg *config.Config, tell func(*kv.Store, *Change) error) error {
	store, err := statefile.OpenLocked(state, kv.Options{})
	if err != nil {
		return err
	}
	defer store.Close()
	change, err := reclassifyStore(store, cfg)
	if err != nil {
		return err
	}
	return tell(store, change)
}

// reclassifyStore applies a configuration to a store and compares before and after.
func reclassifyStore(store *kv.Store, cfg *config.Config) (*Change, error) {
	cfg, err := seeds.WithKept(store, cfg)
	if err != nil {
		return nil, err
	}
	before, err := readStandings(store)
	if err != nil {
		return nil, err
	}
	run, err := crawl.Reclassify(store, cfg)
	if err != nil {
		return nil, err
	}
	after, err := readStandings(store)
	if err != nil {
		return nil, err
	}
	r := compareStandings(before, after)
	r.Run, r.Status = int(run.ID), run.Status.String()
	return r, nil
}

// A standing is a page's class, state and depth.
type standing struct {
	page  bool
	class schema.Class
	state schema.State
	waits bool
	depth uint8
}

// readStandings returns the standings of all pages, by id.
func readStandings(store *kv.Store) ([]standing, error) {
	s, err := survey.New(store)
	if err != nil {
		return nil, err
	}
	s.Interrupt()
	all := make([]standing, store.URLs()+1)
	return all, s.EachPage(func(p *survey.Page) error {
		all[p.ID] = standing{true, p.Class, p.State, p.Waits(), p.Depth}
		return nil
	})
}
