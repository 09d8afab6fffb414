package crawl

import (
	"context"
	"errors"

	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

// A changed is a configuration that waits for the end of a walk.
type changed struct {
	cfg    *config.Config
	number uint64        // of the configuration in the terrain; 0 in a crawl of a whole terrain
	done   chan struct{} // closed once the configuration has been applied or rejected; nil: no one is waiting
}

func (n *changed) end() {
	if n != nil && n.done != nil {
		close(n.done)
	}
}

// follow sets the configuration of the crawl, between two walks.
func (c *Crawl) follow(cfg *config.Config) {
	c.opts.Config = cfg
	if c.opts.Shard != nil {
		c.shared = cfg.SharedHash()
	}
}

// Admits returns why a configuration cannot be applied here, for example because there is no browser; nil: it can.
func (c *Crawl) Admits(ctx context.Context, cfg *config.Config) error {
	set, err := c.opts.settings(ctx, cfg)
	if err != nil {
		return err
	}
	return set.Close()
}

// Reload continues under another configuration: everything that waits is judged again. If it cannot be applied, that
// is logged and the crawl continues as before. See [Crawl.HasRoom]. The channel is closed once that is decided, or
// the crawl has ended.
func (c *Crawl) Reload(cfg *config.Config) (done <-chan struct{}) { return c.Reconfigure(cfg, 0) }

// Reconfigure is Reload for a shard. number is that of the configuration in the terrain; a configuration whose number
// is not above the last one is not applied.
func (c *Crawl) Reconfigure(cfg *config.Config, number uint64) (done <-chan struct{}) {
	next := &changed{cfg, number, make(chan struct{})}
	c.next.Swap(next).end()
	select {
	case c.reload <- struct{}{}:
	case <-c.done:
		c.next.Swap(nil).end()
	default: // already signalled
	}
	return next.done
}

// change applies another configuration to the run, between two walks.
func (c *Crawl) change(ctx context.Context, next changed) error {
	old, cfg := c.committer, next.cfg
	set, err := c.opts.settings(ctx, cfg)
	if err == nil && cfg.URLIdentity() != c.opts.Config.URLIdentity() {
		err = errors.Join(ErrIdentity, set.Close())
	}
	if why := c.member.counts(next); err == nil && why != nil {
		err = errors.Join(why, set.Close())
	}
	if err != nil {
		c.opts.Log.Warn("the changed configuration is not applied", "error", err)
		cfg, next.number = c.opts.Config, 0
		if set, err = c.opts.settings(ctx, cfg); err != nil {
			return err
		}
	}
	c.opts.Shared.limit(cfg.MaxOpen(), c.opts.Log)
	if err := old.set.Close(); err != nil {
		return err
	}
	c.follow(cfg)
	c.committer = c.newCommitter(set)
	c.committer.recorder.Inherit(old.recorder)
	if err := old.recorder.ClosePages(); err != nil {
		return err
	}
	if err := old.recorder.End(schema.End{Kind: schema.EndReload}); err != nil {
		return err
	}
	if err := c.member.advance(next.number); err != nil {
		return err
	}
	if _, err = c.committer.recorder.Begin(ctx); err != nil {
		return err
	}
	return continueAnswers(set, c.store.Path(), c.committer.recorder.Run())
}
