package hub

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/sumi-ripple/ripple/crawl/cluster/exchange"
	"github.com/sumi-ripple/ripple/schema"
)

const (
	patience  = 15 * time.Second       // for an answer, which follows a commit
	connects  = 5 * time.Second        // within which a hub has to answer
	tries     = 3                      // of that, before the hub counts as away
	reconnect = 250 * time.Millisecond // between two tries
	pings     = 10 * time.Second       // while the connection is idle
	overhead  = 4 << 10                // of a message, in addition to the letter, in bytes
)

// Reasons why a node has no hub.
var (
	ErrAway    = errors.New("no hub answers")
	ErrRefused = errors.New("the hub refuses")
	ErrFile    = errors.New("the credentials file cannot be used")
	ErrTrust   = errors.New("the hub's certificate is not trusted")
	ErrUnfit   = errors.New("the NATS server cannot be a hub")
)

// A Dial says how to reach a hub.
type Dial struct {
	URL         string // nats:// or tls://, several separated by commas
	Credentials string // file: an NKey seed, NATS credentials, or a token; mode 0600; empty: none
	CAFile      string // trust anchors; empty: the system's
	Node        string // name for the hub's logs
	Log         *slog.Logger
}

// A Conn is a connection to the hub, which is re-established when it breaks. Nothing is sent or queued while
// it is broken. It is safe for concurrent use.
type Conn struct {
	dial *Dial
	nats *nats.Conn
	js   jetstream.JetStream
	away atomic.Pointer[time.Time] // see [Conn.Away]; nil: it is not
}

// Traffic returns the messages to and from the hub so far, and their bytes without subjects.
func (c *Conn) Traffic() (messages, bytes uint64) {
	all := c.nats.Stats()
	return all.InMsgs + all.OutMsgs, all.InBytes + all.OutBytes
}

// Connect connects to the hub within five seconds, or three times that if a busy machine does not respond in
// time. A connection that breaks later is re-established, however long that takes.
func Connect(ctx context.Context, d Dial) (c *Conn, err error) {
	for range tries {
		if c, err = d.connect(ctx); !slow(err) || ctx.Err() != nil {
			break
		}
	}
	return c, err
}

// Another makes another connection to the same hub, so that what it carries does not delay what c carries.
func (c *Conn) Another(ctx context.Context) (*Conn, error) { return Connect(ctx, *c.dial) }

// slow reports an error of a hub that may exist but has not answered in time.
func slow(err error) bool {
	var late net.Error
	return errors.Is(err, nats.ErrTimeout) || errors.Is(err, context.DeadlineExceeded) ||
		errors.As(err, &late) && late.Timeout()
}

func (d *Dial) connect(ctx context.Context) (*Conn, error) {
	t := teller{log: d.Log}
	options := []nats.Option{
		nats.Name(d.Node), nats.Timeout(connects), nats.MaxReconnects(-1), nats.ReconnectWait(reconnect),
		nats.ReconnectBufSize(-1), nats.IgnoreAuthErrorAbort(), nats.PingInterval(pings), nats.MaxPingsOutstanding(2),
		nats.SyncQueueLen(maxWaiting),
		nats.ErrorHandler(t.complain), nats.DisconnectErrHandler(t.broken),
		nats.ReconnectHandler(t.mended),
	}
	if d.Credentials != "" {
		more, err := credentials(d.Credentials)
		if err != nil {
			return nil, err
		}
		options = append(options, more...)
	}
	if d.CAFile != "" {
		options = append(options, nats.RootCAs(d.CAFile))
	}
	nc, err := nats.Connect(d.URL, options...)
	if err != nil {
		return nil, d.explained(err)
	}
	c := &Conn{dial: d, nats: nc}
	if c.js, err = jetstream.New(nc); err == nil {
		err = c.fit(ctx)
	}
	if err != nil {
		c.Close()
		return nil, fmt.Errorf("%s: %w", d.URL, err)
	}
	return c, nil
}

// fit checks that the server meets the requirements.
func (c *Conn) fit(ctx context.Context) error {
	if most := c.nats.MaxPayload(); most < exchange.MaxLetter+overhead {
		return fmt.Errorf("%w: it takes messages of at most %d bytes (max_payload), and letters have up to %d",
			ErrUnfit, most, exchange.MaxLetter+overhead)
	}
	ctx, cancel := context.WithTimeout(ctx, connects)
	defer cancel()
	_, err := c.js.Stream(ctx, streamName) // it may not exist; only the answer matters
	if errors.Is(err, jetstream.ErrJetStreamNotEnabled) || errors.Is(err, nats.ErrNoResponders) ||
		errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount) {
		return fmt.Errorf("%w: it has no JetStream", ErrUnfit)
	}
	if unheard(err) { // it is busy or shutting down
		return fmt.Errorf("%w in time: %w", ErrAway, err)
	}
	if err != nil && !errors.Is(err, jetstream.ErrStreamNotFound) {
		return fmt.Errorf("%w: %w", ErrUnfit, err)
	}
	return nil
}

// explained returns the reason for a failed connection, in terms that the user can act on.
func (d *Dial) explained(err error) error {
	var unverified *tls.CertificateVerificationError
	switch {
	case errors.As(err, &unverified):
		return fmt.Errorf("%s: %w: %w", d.URL, ErrTrust, unverified.Err)
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired),
		errors.Is(err, nats.ErrNkeysNotSupported):
		if d.Credentials == "" {
			return fmt.Errorf("%s: %w a client without a token or key", d.URL, ErrRefused)
		}
		return fmt.Errorf("%s: %w the token or key in %s", d.URL, ErrRefused, d.Credentials)
	case errors.Is(err, nats.ErrNoServers):
		return fmt.Errorf("%w at %s", ErrAway, d.URL)
	}
	return fmt.Errorf("%w at %s: %w", ErrAway, d.URL, err)
}

// A teller logs what happens to a connection, without repetition: a hub that refuses the credentials does so
// at every try. Its methods are called sequentially.
type teller struct {
	log  *slog.Logger
	last string // last error since the connection was made
}

func (t *teller) complain(_ *nats.Conn, _ *nats.Subscription, err error) {
	text := schema.Clean(err.Error(), maxLine)
	if text == t.last || unheard(err) || errors.Is(err, nats.ErrSlowConsumer) { // logged by the shard whose lane is full
		return
	}
	t.last = text
	t.log.Warn("hub", "error", text)
}

func (t *teller) broken(_ *nats.Conn, err error) {
	if err != nil {
		t.log.Warn("the connection to the hub is broken", "error", schema.Clean(err.Error(), maxLine))
	}
}

func (t *teller) mended(*nats.Conn) {
	t.last = ""
	t.log.Info("the hub is connected again")
}

// Address returns the address of this machine as the hub sees it; empty: unknown.
func (c *Conn) Address() string {
	ip, err := c.nats.GetClientIP()
	if err != nil {
		return ""
	}
	return ip.String()
}

// Close ends the connection.
func (c *Conn) Close() { c.nats.Close() }

// session identifies the current connection.
func (c *Conn) session() (string, error) {
	if !c.nats.IsConnected() {
		why := c.dial.explained(c.nats.LastError())
		if errors.Is(why, ErrRefused) || errors.Is(why, ErrTrust) { // for example, an expired certificate
			return "", why
		}
		return "", ErrAway
	}
	return fmt.Sprint(c.nats.ConnectedServerId(), "#", c.nats.Stats().Reconnects), nil
}
