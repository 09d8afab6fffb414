package exchange

import (
	"testing"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// Under new numbers everything is sent again, without needing marks; under the same numbers nothing is.
func TestEnter(t *testing.T) {
	tests := []struct {
		name   string
		change func(*schema.Part)
		cursor schema.ID
	}{
		{"the same", func(*schema.Part) {}, 0},
		{"the next run", func(p *schema.Part) { p.Run++ }, 1},
		{"another configuration", func(p *schema.Part) { p.Configuration++ }, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newShard(t, "/1")
			answered := schema.Peer{Opening: schema.Opening(here()), Commit: 7}
			s.update(func(tx *kv.Tx) error { return tx.Peers.Put(1, answered) })
			want := answered
			want.Cursor = tt.cursor
			for range 2 {
				part := s.store.Part()
				tt.change(&part)
				s.update(func(tx *kv.Tx) error { return Enter(tx, part) })
				if s.peer() != want || s.store.Part() != part {
					t.Errorf("the peer is %+v, want %+v; at %+v", s.peer(), want, s.store.Part())
				}
			}
		})
	}
}
