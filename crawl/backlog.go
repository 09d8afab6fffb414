package crawl

import (
	"context"
	"sync"
	"time"

	"github.com/sumi-ripple/ripple/crawl/exchange"
	"github.com/sumi-ripple/ripple/kv"
)

// A Backlog is what a shard has not told another one yet.
type Backlog struct {
	Shard  int       `json:"shard"` // the other one
	URLs   int       `json:"urls"`
	More   bool      `json:"more"`         // all is told again, and these are those that are marked so far
	Silent time.Time `json:"silent_since"` // since when it has not answered; zero: it has
}

// Backlog returns what a shard has not told the others yet, and who of them is silent. It may
// be called from any goroutine.
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

// A listener is a carrier that knows since when which shards have not answered. It may be
// used by several goroutines.
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
