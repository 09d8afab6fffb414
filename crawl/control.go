package crawl

import (
	"context"
	"errors"

	"github.com/sumi-ripple/ripple/crawl/webhook"
	"github.com/sumi-ripple/ripple/kv"
)

// ErrEnded reports a command to a crawl that is not running.
var ErrEnded = errors.New("the crawl is not running")

// Pause stops sending requests until [Crawl.Unpause].
func (c *Crawl) Pause() error {
	c.paused.Store(true) // first, because the walk that gets the command may be replaced right after
	_, err := c.command(commandPause)
	return err
}

// Unpause resumes sending requests.
func (c *Crawl) Unpause() error {
	c.paused.Store(false)
	_, err := c.command(commandUnpause)
	return err
}

// Status returns what is being fetched now, and what the rest waits for.
func (c *Crawl) Status() (Status, error) {
	st, err := c.command(commandStatus)
	st.NoRoom = c.noRoom.Load()
	return st, err
}

func (c *Crawl) command(do commandKind) (Status, error) {
	reply := make(chan Status, 1)
	select {
	case c.control <- command{do: do, reply: reply}:
	case <-c.done:
		return Status{}, ErrEnded
	}
	select {
	case st := <-reply:
		return st, nil
	case <-c.done:
		return Status{}, ErrEnded
	}
}

// Query reads the live store between two commits. The store is valid only until ask returns, which must take at most
// 100 ms.
func (c *Crawl) Query(ask func(*kv.Store) error) error { return c.query(context.Background(), ask) }

// query is Query with a ctx that limits the wait.
func (c *Crawl) query(ctx context.Context, ask func(*kv.Store) error) error {
	done := make(chan error, 1)
	select {
	case c.queries <- query{ask: ask, done: done}:
		return <-done
	case <-ctx.Done():
		return ctx.Err()
	case <-c.done:
		return ErrEnded
	}
}

// View lets f read the live store between two commits; see [Crawl.Query].
func (c *Crawl) View(f func(*kv.Tx) error) error {
	return c.Query(func(store *kv.Store) error { return store.View(f) })
}

// Update runs a small transaction of the caller's between two commits. It fails with
// [webhook.ErrLater] while the disk is full. An error of f ends the crawl.
func (c *Crawl) Update(f func(*kv.Tx) error) error { return c.Query(c.updating(f)) }

// updating turns a small transaction into a query.
func (c *Crawl) updating(f func(*kv.Tx) error) func(*kv.Store) error {
	return func(store *kv.Store) error {
		if err := c.member.mayWrite(); err != nil {
			return err
		}
		if !c.committer.hasRoom() {
			return webhook.ErrLater
		}
		return store.Update(f)
	}
}
