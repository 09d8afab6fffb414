package exchange

import (
	"context"
	"fmt"
	"time"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// markMost is the number of URLs that one transaction looks at when marking again.
const markMost = 10_000

// A Sender sends the outbox entries for one other shard. It belongs to one goroutine.
type Sender struct {
	shard   Shard
	carrier Carrier
	peer    int
	checked schema.Opening // of the peer, in which answers count; zero: the peer must be asked first
	told    bool           // the last step sent everything
}

// NewSender returns the sender of a shard to another one.
func NewSender(s Shard, c Carrier, peer int) *Sender {
	return &Sender{shard: s, carrier: c, peer: peer}
}

// A Progress is the result of a step.
type Progress uint8

// The results of a step.
const (
	Idle  Progress = iota // nothing to send
	Went                  // there may be more
	Stuck                 // to be retried after a while
)

// A Pace says when a [Sender] writes again.
type Pace struct {
	Rest        time.Duration // after everything was sent: changes during this time share one letter
	First, Last time.Duration // retry delay while the peer does not answer: initial and maximum
}

// Run sends everything there is, until ctx is done or the file fails. It looks for more when it receives from
// changed, on which the owner sends after commits.
func (s *Sender) Run(ctx context.Context, changed <-chan struct{}, pace Pace) error {
	for wait := pace.First; ; {
		p, err := s.Step(ctx)
		if err != nil {
			return err
		}
		var again <-chan time.Time
		more := changed
		switch p {
		case Went:
			wait = pace.First
			if !s.told && ctx.Err() == nil {
				continue
			}
			again, more = time.After(pace.Rest), nil
		case Stuck:
			again, more = time.After(wait), nil
			wait = min(2*wait, pace.Last)
		}
		select {
		case <-again:
		case <-more:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Step does one thing: it asks what the peer's file contains, marks URLs that must be sent again, or sends a
// letter. Errors come from the shard's file.
func (s *Sender) Step(ctx context.Context) (Progress, error) {
	var peer schema.Peer
	var l letter
	var ids []schema.ID
	var commit uint64
	s.told = false
	err := s.shard.View(func(tx *kv.Tx) (err error) {
		if peer, err = tx.Peers.At(s.peer); err != nil || peer.Cursor != 0 {
			return err
		}
		l = s.begin(tx.Part.Of())
		if _, commit, err = tx.Openings.Now(); err == nil {
			ids, err = s.fill(tx, &l)
		}
		return err
	})
	switch {
	case err != nil:
		return Stuck, err
	case peer.Cursor != 0:
		return Went, s.mark(peer)
	case len(ids) == 0:
		return Idle, nil
	case s.checked == schema.Opening{}:
		answered, _, err := s.check(ctx, l, peer)
		if !answered {
			return Stuck, err
		}
		return Went, err
	}
	return s.send(ctx, l, ids, commit)
}

func (s *Sender) begin(part schema.Part) letter {
	return letter{
		Terrain: part.Terrain[:], From: part.Shard, To: s.peer, Opening: s.checked[:],
		Run: part.Run, Configuration: part.Configuration,
	}
}

// fill adds as many referrals to a letter as fit, and returns their URLs.
func (s *Sender) fill(tx *kv.Tx, l *letter) (ids []schema.ID, err error) {
	size := len(l.text())
	var packed []byte
	s.told = s.checked != schema.Opening{} // otherwise this letter only asks
	err = tx.Outbox.Each(s.peer, 0, func(id schema.ID, _ uint64) (bool, error) {
		ref, err := s.shard.Referral(tx, id)
		if err != nil {
			return false, err
		}
		packed = packReferral(packed[:0], &ref)
		if size += len(packed); size > MaxLetter && len(ids) > 0 {
			s.told = false
			return false, nil
		}
		l.Referrals, ids = append(l.Referrals, ref), append(ids, id)
		return true, nil
	})
	return ids, err
}

// mark marks more URLs to be sent again, unless that has restarted meanwhile.
func (s *Sender) mark(seen schema.Peer) error {
	return s.shard.Update(func(tx *kv.Tx) error {
		peer, err := tx.Peers.At(s.peer)
		if err != nil || peer.Cursor != seen.Cursor {
			return err
		}
		if peer.Cursor, err = s.shard.MarkAgain(tx, s.peer, peer.Cursor, markMost); err != nil {
			return err
		}
		return tx.Peers.Put(s.peer, peer)
	})
}

// Confirm asks whether the peer's file still contains its last answer, whether or not there is something to
// send. It returns false if the peer does not confirm that, and also if everything must now be sent again.
// Errors come from the shard's file.
func (s *Sender) Confirm(ctx context.Context) (bool, error) {
	var l letter
	var peer schema.Peer
	err := s.shard.View(func(tx *kv.Tx) (err error) {
		l = s.begin(tx.Part.Of())
		peer, err = tx.Peers.At(s.peer)
		return err
	})
	if err != nil {
		return false, err
	}
	_, contained, err := s.check(ctx, l, peer)
	return contained, err
}

// Opening returns the opening of the peer's file that answered the last question; zero: none.
func (s *Sender) Opening() schema.Opening { return s.checked }

// check asks whether the peer's file contains its last answer; if not, everything is sent again. If the peer
// has never answered, nothing has been removed from the outbox yet.
func (s *Sender) check(ctx context.Context, l letter, peer schema.Peer) (answered, contained bool, err error) {
	l.Opening, l.Commit, l.Referrals = peer.Opening[:], peer.Commit, nil
	a, ok := s.ask(ctx, l)
	if !ok || a.Verdict != contains && a.Verdict != lacks {
		return false, false, nil
	}
	s.checked = schema.Opening(a.Opening)
	if a.Verdict == contains || peer.Commit == 0 {
		return true, true, nil
	}
	return true, false, s.shard.Update(func(tx *kv.Tx) error { return tx.Peers.Put(s.peer, schema.Peer{Cursor: 1}) })
}

// send sends a letter made from a commit, and removes what is acknowledged from the outbox.
func (s *Sender) send(ctx context.Context, l letter, ids []schema.ID, commit uint64) (Progress, error) {
	a, ok := s.ask(ctx, l)
	switch {
	case !ok:
		s.checked = schema.Opening{} // a different file may answer next
		return Stuck, nil
	case a.Verdict == moved, a.Verdict == done && schema.Opening(a.Opening) != s.checked:
		s.checked = schema.Opening{}
		return Stuck, nil
	case a.Verdict != done:
		return Stuck, nil
	}
	return Went, s.shard.Update(func(tx *kv.Tx) error {
		peer, err := tx.Peers.At(s.peer)
		if err != nil {
			return err
		}
		if peer.Opening != s.checked || peer.Commit < a.Commit {
			peer.Opening, peer.Commit = s.checked, a.Commit
		}
		if err := tx.Outbox.Acknowledge(ids, commit); err != nil {
			return fmt.Errorf("acknowledge to shard %d: %w", s.peer, err)
		}
		return tx.Peers.Put(s.peer, peer)
	})
}

func (s *Sender) ask(ctx context.Context, l letter) (a answer, ok bool) {
	text, err := s.carrier.Ask(ctx, s.peer, l.text())
	if err == nil {
		a, err = decodeAnswer(text)
	}
	return a, err == nil
}
