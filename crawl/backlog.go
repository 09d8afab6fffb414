package crawl

import (
	"context"
	"sync"
	"time"

	"github.com/sumi-ripple/ripple/crawl/cluster/exchange"
	"github.com/sumi-ripple/ripple/kv"
)

// A Backlog is what a shard has not yet sent to another one.
type Backlog struct {
	Shard  int       `json:"shard"` // the receiver
	URLs   int       `json:"urls"`
	More   bool      `json:"more"`         // everything is sent again; URLs counts those marked so far
	Silent time.Time `json:"silent_since"` // since when the receiver has not answered; zero: it answers
}

// Backlog returns what this shard has not yet sent to the others, and which of them do not answer.
// It may be called from any goroutine.
func (c *Crawl) Backlog(ctx context.Context) (all []Backlog, err error) {
	if c.member == nil {
		return nil, ErrPart
	}
	err = c.query(ctx, func(store *kv.Store) error {
		for peer := range c.member.Part.Shards {
			b := Backlog{Shard: peer, Silent: c.member.heard.since(peer)}
			b.URLs, b.More = store.Marked(peer)
			if b.URLs > 0 || b.More || !b.Silent.IsZero() {
				all = append(all, b)
			}
		}
		return nil
	})
	return all, err
}

// A listener is a carrier that records since when each shard has not answered. It may be used by
// several goroutines.
type listener struct {
	exchange.Carrier

	mu     sync.Mutex
	silent map[int]time.Time
}

// Ask implements [exchange.Carrier].
func (l *listener) Ask(ctx context.Context, shard int, letter []byte) ([]byte, error) {
	answer, err := l.Carrier.Ask(ctx, shard, letter)
	l.mu.Lock()
	defer l.mu.Unlock()
	_, known := l.silent[shard]
	switch {
	case err == nil:
		delete(l.silent, shard)
	case !known && ctx.Err() == nil:
		if l.silent == nil {
			l.silent = map[int]time.Time{}
		}
		l.silent[shard] = time.Now()
	}
	return answer, err
}

func (l *listener) since(shard int) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.silent[shard]
}
