package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	maxReply = 16 << 20
	slow     = 2 * time.Second  // without an answer; then Slow is called
	tooLong  = 30 * time.Second // without a byte; then the request is abandoned
)

// A Client talks to the crawl of a state file, with a new connection for each request. Its methods return
// [ErrNobody] if no crawl is listening, [ErrSilent] if one has sent nothing for 30 s, and an [Error] if the
// crawl refuses.
type Client struct {
	State string
	// Slow is called when a request has had no answer for 2 s; the request continues. It returns before the
	// request does. nil: not called.
	Slow func()

	dial func(context.Context) (net.Conn, error) // nil: the socket of State
}

// Get requests a resource, such as "status", and decodes the reply.
func (c *Client) Get(ctx context.Context, what string, reply any) error {
	return c.Ask(ctx, http.MethodGet, what, reply)
}

// Post sends a command, such as "pause", and decodes the reply.
func (c *Client) Post(ctx context.Context, what string, reply any) error {
	return c.Ask(ctx, http.MethodPost, what, reply)
}

// Ask sends a request by a method, GET or POST, and decodes the reply.
func (c *Client) Ask(ctx context.Context, method, what string, reply any) error {
	text, err := c.text(ctx, method, what)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, reply); err != nil {
		return fmt.Errorf("control: reply to %s: %w", what, err)
	}
	return nil
}

// Metrics returns a crawl's answer to a Prometheus scrape, in the text format.
func (c *Client) Metrics(ctx context.Context) ([]byte, error) {
	return c.text(ctx, http.MethodGet, "metrics")
}

// text sends a request and returns the whole answer.
func (c *Client) text(ctx context.Context, method, what string) ([]byte, error) {
	r, err := c.do(ctx, method, what)
	if err != nil {
		return nil, err
	}
	defer r.Body.Close()
	text, err := body(r)
	if err != nil {
		return nil, silent(ctx, err)
	}
	return text, nil
}

// Snapshot writes a consistent copy of a state file that is being crawled. Before the first byte it calls fit
// with the approximate size in bytes; an error from fit ends the copy.
func (c *Client) Snapshot(ctx context.Context, w io.Writer, fit func(size int64) error) error {
	r, err := c.do(ctx, http.MethodGet, "snapshot")
	if err != nil {
		return err
	}
	defer r.Body.Close()
	size, err := strconv.ParseInt(r.Header.Get(sizeHeader), 10, 64)
	if err != nil {
		return fmt.Errorf("control: size of the copy: %w", err)
	}
	if err := fit(size); err != nil {
		return err
	}
	if _, err := io.Copy(w, r.Body); err != nil {
		return fmt.Errorf("copy the state: %w", silent(ctx, err))
	}
	return nil
}

// do sends a request and returns an answer that is not a refusal.
func (c *Client) do(ctx context.Context, method, what string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, "http://crawl"+Root+what, nil)
	if err != nil {
		return nil, fmt.Errorf("control: %w", err)
	}
	var last atomic.Pointer[listening]
	t := &http.Transport{
		DisableKeepAlives: true, DisableCompression: true, MaxResponseHeaderBytes: 64 << 10,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			conn, err := c.connect(ctx)
			if err != nil {
				return nil, err
			}
			last.Store(conn)
			return conn, nil
		},
	}
	unheard := func(err error) bool {
		conn := last.Load()
		return err != nil && ctx.Err() == nil && conn != nil && conn.cut.Load()
	}
	if c.Slow != nil {
		told := make(chan struct{})
		timer := time.AfterFunc(slow, func() {
			defer close(told)
			c.Slow()
		})
		defer func() {
			if !timer.Stop() {
				<-told
			}
		}()
	}
	answer, err := t.RoundTrip(r)
	if unheard(err) { // by a crawl that ends, or that took a busy machine's late request for silence
		answer, err = t.RoundTrip(r)
	}
	switch {
	case unheard(err):
		return nil, ErrNobody // the crawl has ended
	case err != nil:
		return nil, silent(ctx, err)
	}
	if answer.StatusCode != http.StatusOK {
		defer answer.Body.Close()
		return nil, refusal(answer)
	}
	return answer, nil
}

// refusal returns the error in a crawl's answer.
func refusal(r *http.Response) error {
	text, err := body(r)
	var f fault
	if err != nil || json.Unmarshal(text, &f) != nil || f.Error == "" {
		return &Error{r.StatusCode, "the crawl refuses: " + r.Status}
	}
	return &Error{r.StatusCode, f.Error}
}

func body(r *http.Response) ([]byte, error) {
	var b bytes.Buffer
	n, err := b.ReadFrom(io.LimitReader(r.Body, maxReply+1))
	if n > maxReply {
		err = errors.New("control: the reply is too long")
	}
	return b.Bytes(), err
}

// silent replaces a connection error by its cause: the end of the context, or the lack of an answer.
func silent(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return ErrSilent
	case errors.Is(err, ErrNobody):
		return ErrNobody
	}
	return err
}

func (c *Client) connect(ctx context.Context) (*listening, error) {
	dial := c.dial
	if dial == nil {
		dial = c.socket
	}
	conn, err := dial(ctx)
	if err != nil {
		return nil, err
	}
	return &listening{Conn: conn}, nil
}

// socket connects to the crawl, which must belong to this user, to root, or to the owner of the state file.
func (c *Client) socket(ctx context.Context) (net.Conn, error) {
	path, err := Path(c.State)
	if err != nil {
		return nil, err
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", path)
	for _, other := range elsewhere(c.State) {
		if err != nil && !errors.Is(err, fs.ErrPermission) {
			conn, err = d.DialContext(ctx, "unix", other)
		}
	}
	switch {
	case errors.Is(err, fs.ErrPermission):
		return nil, fmt.Errorf("control: the crawl belongs to another user: %w", err)
	case err != nil:
		return nil, ErrNobody
	}
	owner := os.Getuid()
	if info, err := os.Stat(c.State); err == nil {
		if uid, known := ownerOf(info); known {
			owner = uid
		}
	}
	if err := checkPeer(conn.(*net.UnixConn), os.Getuid(), owner); err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

// A listening connection fails if nothing arrives for a long time.
type listening struct {
	net.Conn
	heard bool        // used by Read alone
	cut   atomic.Bool // closed by the crawl before the first byte of an answer
}

func (l *listening) Read(b []byte) (int, error) {
	_ = l.SetReadDeadline(time.Now().Add(tooLong))
	n, err := l.Conn.Read(b)
	l.heard = l.heard || n > 0
	if !l.heard && (errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET)) {
		l.cut.Store(true)
	}
	return n, err
}

func (l *listening) Write(b []byte) (int, error) {
	n, err := l.Conn.Write(b)
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) {
		l.cut.Store(true)
	}
	return n, err
}
