package webhook

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

// ErrLater reports a [Box] that cannot be written at the moment.
var ErrLater = errors.New("nothing can be written now")

// A Box is the state file that holds the messages, see the methods of [kv.Store]. Update may fail with
// [ErrLater].
type Box interface {
	View(func(*kv.Tx) error) error
	Update(func(*kv.Tx) error) error
}

// lookEvery is how often a sender looks for messages.
const lookEvery = time.Second

// delays returns the times between the tries of a message.
func delays() []time.Duration {
	return []time.Duration{5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour,
		10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour}
}

// longestWait limits the delay that a receiver may request, or that results from a clock set back.
const longestWait = 24 * time.Hour

// A Sender sends the messages of one state file. Run, Flush and Close must not run concurrently; the other
// methods are safe for concurrent use.
type Sender struct {
	log    *slog.Logger
	target atomic.Pointer[target] // nil: nothing is sent
	told   chan Event
	owed   []outcome   // results not recorded yet
	looked atomic.Bool // whether the address had answered 410 Gone before

	post func(ctx context.Context, t *target, m *schema.Message) Answer
}

// An outcome is the result of a delivery, if it changes more than the message's tries.
type outcome struct {
	seq   uint64
	gone  string    // the address that answered 410
	again time.Time // earliest next try; zero: the message is finished
	tries int       // made so far, if there is a next one
}

// New returns a sender for a configuration, which may have no webhook. It returns an error for unusable
// secrets, proxy or CA file.
func New(cfg *config.Config, log *slog.Logger) (*Sender, error) {
	s := &Sender{log: log, told: make(chan Event, 4)}
	s.post = func(ctx context.Context, t *target, m *schema.Message) Answer { return t.post(ctx, m, false) }
	return s, s.Follow(cfg)
}

// Follow switches a sender to another configuration. If that is unusable, the sender keeps its own. A message
// that is being sent goes to the old address.
func (s *Sender) Follow(cfg *config.Config) error {
	t, err := newTarget(cfg, nil)
	if err != nil {
		return err
	}
	s.target.Store(t)
	return nil
}

// Tell sends an event once, without storing it in the state file. It does not block; an event that cannot be
// sent is lost.
func (s *Sender) Tell(kind string, data any) {
	select {
	case s.told <- Event{Kind: kind, Data: data}:
	default:
	}
}

// Test sends one event and returns the answer, with the beginning of its body.
func (s *Sender) Test(ctx context.Context) (Answer, error) {
	t := s.target.Load()
	m, err := newMessage(Test, SubjectOf(t.cfg, 0))
	if err != nil {
		return Answer{}, err
	}
	return t.post(ctx, m, true), nil
}

// Run sends due messages, one at a time, until ctx is done or the box fails with an error other than
// [ErrLater], which Run returns. A try that the end of ctx interrupts does not count; it is due again after 5 s.
// A 2xx answer finishes a message, and 410 Gone finishes all messages for that address. After anything else the
// message is retried after 5 s, 5 and 30 minutes, 2, 5, 10, 14, 20 and 24 hours, or when the receiver asks
// for it (Retry-After), but after at most a day.
func (s *Sender) Run(ctx context.Context, box Box) error {
	s.warnOfEnd(box)
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		if err := s.sendDue(ctx, box, false); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case e := <-s.told:
			s.sendOnce(ctx, e)
		case <-tick.C:
		}
	}
}

// warnOfEnd logs a warning if the address has answered 410 Gone before. A crawl may end before [Sender.Run] can look;
// then [Sender.Flush] does.
func (s *Sender) warnOfEnd(box Box) {
	t := s.target.Load()
	if t == nil || s.looked.Load() {
		return
	}
	var ended []byte
	err := box.View(func(tx *kv.Tx) (err error) { ended, err = tx.Meta.Value(metaEnded); return err })
	s.looked.Store(err == nil)
	if err == nil && string(ended) == t.cfg.Monitor.Webhook {
		s.log.Warn("the webhook has answered 410 Gone: nothing is sent there until [monitor] webhook is another "+
			"address",
			"host", t.host())
	}
}

// Flush sends waiting messages that have not been tried, and those that become due before ctx is done. It
// returns the number of messages left.
func (s *Sender) Flush(ctx context.Context, box Box) (left int, err error) {
	s.warnOfEnd(box)
	for {
		if err := s.sendDue(ctx, box, true); err != nil {
			return 0, err
		}
		next, left, err := s.upcoming(box)
		until, limited := ctx.Deadline()
		if err != nil || left == 0 || ctx.Err() != nil || s.target.Load() == nil || limited && next.After(until) {
			return left, err
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Until(next)):
		}
	}
}

// upcoming returns when the next message is due, and how many are waiting.
func (s *Sender) upcoming(box Box) (next time.Time, n int, err error) {
	err = box.View(func(tx *kv.Tx) error {
		return tx.Messages.Heads(func(m *schema.Message) bool {
			if n++; n == 1 || m.Next.Before(next) {
				next = m.Next
			}
			return true
		})
	})
	return next, n, err
}

// sendDue sends all due messages; with all, also those never tried.
func (s *Sender) sendDue(ctx context.Context, box Box, all bool) error {
	for {
		t := s.target.Load()
		m, err := s.claim(box, all, t != nil && ctx.Err() == nil)
		if errors.Is(err, ErrLater) || m == nil && err == nil {
			return nil
		}
		if err != nil {
			return err
		}
		s.deliver(ctx, t, m)
	}
}

// claim records owed results, and records the next try of the due message before it is made: a later process
// then knows that the message may have been sent. nil: none is due.
func (s *Sender) claim(box Box, all, may bool) (due *schema.Message, err error) {
	now := time.Now()
	find := func(tx *kv.Tx) (err error) {
		if due = nil; may {
			due, err = dueOf(tx, now, all)
		}
		return err
	}
	if len(s.owed) == 0 {
		if err := box.View(find); err != nil || due == nil {
			return nil, err
		}
	}
	err = box.Update(func(tx *kv.Tx) error {
		if err := errors.Join(s.settle(tx), find(tx)); err != nil || due == nil {
			return err
		}
		due.Next = now.Add(delays()[min(due.Tries, len(delays())-1)])
		due.Tries++
		return tx.Messages.Put(due)
	})
	if err != nil {
		return nil, err
	}
	s.owed = nil
	return due, nil
}

// dueOf returns the oldest message that is due.
func dueOf(tx *kv.Tx, now time.Time, all bool) (due *schema.Message, err error) {
	err = tx.Messages.Heads(func(m *schema.Message) bool {
		wait := m.Next.Sub(now)
		if wait <= 0 || wait > longestWait || all && m.Tries == 0 {
			due = m
		}
		return due == nil
	})
	if err != nil || due == nil {
		return nil, err
	}
	return tx.Messages.At(due.Seq)
}

// settle records the results of deliveries.
func (s *Sender) settle(tx *kv.Tx) error {
	for _, o := range s.owed {
		var err error
		switch {
		case o.gone != "":
			err = endAll(tx, o.gone)
		case o.again.IsZero():
			err = tx.Messages.Delete(o.seq)
		default:
			err = putOff(tx, o)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// endAll removes every message, and records the address that wants no more.
func endAll(tx *kv.Tx, address string) error {
	var seqs []uint64
	err := tx.Messages.Heads(func(m *schema.Message) bool {
		seqs = append(seqs, m.Seq)
		return true
	})
	for _, seq := range seqs {
		err = errors.Join(err, tx.Messages.Delete(seq))
	}
	return errors.Join(err, tx.Meta.Put(metaEnded, []byte(address)))
}

func putOff(tx *kv.Tx, o outcome) error {
	m, err := tx.Messages.At(o.seq)
	if errors.Is(err, kv.ErrNotFound) { // finished with all others
		return nil
	}
	if err != nil {
		return err
	}
	m.Next, m.Tries = o.again, o.tries
	return tx.Messages.Put(m)
}

// deliver sends a claimed message and keeps the result.
func (s *Sender) deliver(ctx context.Context, t *target, m *schema.Message) {
	a := s.post(ctx, t, m)
	last := m.Tries > len(delays())
	switch {
	case a.Delivered():
		s.log.Debug("webhook delivered", "host", a.Host, "event", m.Kind, "id", m.ID, "tries", m.Tries)
		s.owed = append(s.owed, outcome{seq: m.Seq})
	case a.Status == http.StatusGone:
		s.log.Warn("the webhook answers 410 Gone: nothing more is sent there", "host", a.Host)
		s.owed = append(s.owed, outcome{seq: m.Seq, gone: t.cfg.Monitor.Webhook})
	case ctx.Err() != nil && a.Status == 0: // unknown, and not the receiver's fault: no try of its ten
		s.owed = append(s.owed, outcome{seq: m.Seq, again: time.Now().Add(delays()[0]), tries: m.Tries - 1})
	case last:
		s.warn("the webhook takes no message: it is given up", a, m)
		s.owed = append(s.owed, outcome{seq: m.Seq})
	default:
		if asked := time.Now().Add(min(a.RetryAfter, longestWait)); asked.After(m.Next) {
			m.Next = asked
			s.owed = append(s.owed, outcome{seq: m.Seq, again: asked, tries: m.Tries})
		}
		s.warn("the webhook took no message", a, m, "again", m.Next.UTC().Format(time.RFC3339))
	}
}

func (s *Sender) warn(text string, a Answer, m *schema.Message, more ...any) {
	why := []any{"status_code", a.Status}
	if a.Status == 0 {
		why = []any{"error", a.Reason.String()}
	}
	s.log.Warn(text, slices.Concat([]any{"host", a.Host, "event", m.Kind, "tries", m.Tries}, why, more)...)
}

// sendOnce sends an event that is not stored.
func (s *Sender) sendOnce(ctx context.Context, e Event) {
	t := s.target.Load()
	m, err := newMessage(e.Kind, e.Data)
	if t == nil || err != nil {
		return
	}
	m.Tries = 1
	if a := s.post(ctx, t, m); !a.Delivered() {
		s.warn("the webhook took no message: it is given up", a, m)
	}
}
