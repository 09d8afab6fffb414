package hub

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Away returns since when the hub has not answered; zero: it answered the last question. It notices a hub that is
// away at the first question without an answer, so a node that asks every second knows it within a second or two.
func (c *Conn) Away() time.Time {
	if since := c.away.Load(); since != nil {
		return *since
	}
	return time.Time{}
}

// ask asks the hub something, for at most five seconds whatever the deadline of ctx: a hub that has gone without
// breaking the connection never answers. It records whether there was an answer, see [Conn.heard].
func (c *Conn) ask(ctx context.Context, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, connects)
	defer cancel()
	asked := time.Now()
	return c.heard(asked, f(ctx))
}

// heard records whether the hub has answered a question that was sent at asked, and returns err, or [ErrAway] with
// err for a question without an answer: what the client library says then is of no use to anybody.
func (c *Conn) heard(asked time.Time, err error) error {
	switch {
	case errors.Is(err, context.Canceled): // the caller did not wait
		return err
	case unheard(err):
		c.away.CompareAndSwap(nil, &asked)
		if !errors.Is(err, ErrAway) {
			err = &awayError{err}
		}
		return err
	case errors.Is(err, ErrRefused), errors.Is(err, ErrTrust): // there is no connection
		c.away.CompareAndSwap(nil, &asked)
		return err
	}
	c.away.Store(nil)
	return err
}

// unheard reports whether err means that a question had no answer.
func unheard(err error) bool {
	for _, one := range []error{
		ErrAway, context.DeadlineExceeded, nats.ErrTimeout, nats.ErrReconnectBufExceeded, nats.ErrDisconnected,
		nats.ErrConnectionClosed, nats.ErrNoResponders, jetstream.ErrNoStreamResponse,
	} {
		if errors.Is(err, one) {
			return true
		}
	}
	return false
}

// An awayError is an [ErrAway] with its cause.
type awayError struct{ cause error }

func (e *awayError) Error() string   { return ErrAway.Error() }
func (e *awayError) Unwrap() []error { return []error{ErrAway, e.cause} }
