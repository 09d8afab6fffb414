package crawl

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/sumi-ripple/ripple/crawl/record"
	"github.com/sumi-ripple/ripple/crawl/webhook"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/split"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema/config"
	"github.com/sumi-ripple/ripple/schema/shard"
)

// Split writes the shards of a store that holds a whole terrain to new files, named by path. It sends no requests. If
// what a changed configuration has begun is not finished, it does that first; otherwise the store stays as it is. The
// files are synced when Split returns; after an error, some may be there. Split sets o.Ways and o.HostOf.
func Split(ctx context.Context, store *kv.Store, o split.Options, path func(n int) string) error {
	cfg, err := settle(store)
	if err != nil {
		return err
	}
	set, err := offline(cfg)
	if err != nil {
		return err
	}
	defer set.Client.Close()
	o.HostOf = webhook.HostOf
	o.Ways = func(rule *shard.Rule, from int, f func(split.Way) error) error {
		return record.New(store, set, silent(), nil).EachWay(ctx, rule, from, f)
	}
	s, err := split.New(ctx, store, o)
	if err != nil {
		return err
	}
	growing := func(n int) string { return path(n) + ".growing" }
	for n := range o.Shards {
		err := within(growing(n), func(dst *kv.Store) error { return errors.Join(dst.Like(store), s.Begin(n, dst)) })
		if err != nil {
			return err
		}
	}
	for n := range o.Shards {
		err := within(growing(n), func(dst *kv.Store) error {
			if err := s.Fill(n, dst); err != nil {
				return err
			}
			return LeavePages(dst)
		})
		if err == nil {
			err = kv.Compact(growing(n), path(n)) // it was written in many commits
		}
		if err == nil {
			err = os.Remove(growing(n))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// settle finishes what a changed configuration has begun, and returns the configuration of the last run.
func settle(store *kv.Store) (cfg *config.Config, err error) {
	reapply := false
	err = store.View(func(tx *kv.Tx) error {
		reapply = tx.Meta.Reapply()
		runs, err := tx.Runs.All()
		if err != nil {
			return err
		}
		if len(runs) == 0 {
			return survey.ErrNoRun
		}
		text, err := tx.Runs.Config(runs[len(runs)-1].Config)
		if err == nil {
			cfg, err = config.ParseEffective(text)
		}
		return err
	})
	if err == nil && reapply {
		_, err = Reclassify(store, cfg)
	}
	return cfg, err
}

// within calls f with an open file, which is created if necessary.
func within(path string, f func(*kv.Store) error) error {
	store, err := kv.Open(path, kv.Options{})
	if err != nil {
		return fmt.Errorf("split: %w", err)
	}
	return errors.Join(f(store), store.Close())
}
