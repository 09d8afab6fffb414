package desk

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/crawl/control"
	"github.com/sumi-ripple/ripple/schema/config"
)

const (
	maxConnections = 256              // further ones make others go
	maxHeader      = 256 << 10        // the longest URL that can be asked for, every byte of it escaped, and more
	silence        = 10 * time.Second // of a client that was to ask
	reading        = 30 * time.Second // of the body of a request
	idle           = 2 * time.Minute
	stall          = 10 * time.Second // in which a client takes nothing of an answer
	parting        = 3 * time.Second  // for what is being answered at the end
)

// Options are what a desk is made of.
type Options struct {
	config.Monitor
	Routes  []Route
	Live    Live // what goes on now, for streams
	Reader  *Reader
	Exports *Exports // nil: none can be ordered
	Version string
	Log     *slog.Logger // of warnings

	// Metrics is what a scrape of Prometheus is answered, in its text format.
	Metrics func(context.Context) ([]byte, error)
}

// A Desk is a server that listens.
type Desk struct {
	listener *connections
	server   *http.Server
	reader   *Reader
	monitor  config.Monitor
	token    string
	tickets  tickets
	events   *events
	exports  *Exports
	patience patience
	log      *slog.Logger
}

// Listen opens the address, so that it is known to be free, and makes or reads the
// token.
func Listen(o Options) (*Desk, error) {
	if err := o.CheckListen(); err != nil {
		return nil, err
	}
	token, err := Token(o.TokenFile)
	if err != nil {
		return nil, err
	}
	secure, err := secured(o)
	if err != nil {
		return nil, err
	}
	d := &Desk{reader: o.Reader, monitor: o.Monitor, token: token, events: newEvents(o.Live), exports: o.Exports,
		patience: patience{reading, stall}, log: cmp.Or(o.Log, slog.New(slog.DiscardHandler))}
	o.Routes = append(append(o.Routes, d.events.route()), o.Exports.routes(&d.tickets)...)
	api, err := NewAPI(o.Routes, o.Reader, o.Version)
	if err != nil {
		return nil, err
	}
	l, err := listen(o.Monitor.Listen)
	if err != nil {
		return nil, err
	}
	d.listener = newConnections(l, maxConnections)
	guard := &Guard{Token: token, Hosts: o.Hosts, Admits: d.tickets.admits}
	mux := http.NewServeMux()
	mux.Handle("/", site())
	mux.Handle("GET /help/", help())
	mux.Handle("POST /enter", guard.Page(http.HandlerFunc(d.enter)))
	mux.Handle("GET /download/{ticket}", notHead(d.download))
	mux.Handle(control.Root, guard.API(api))
	mux.Handle("GET /metrics", guard.API(metrics(o.Metrics)))
	d.server = &http.Server{
		Handler: patiently(guard.Site(mux), &d.patience), TLSConfig: secure, ErrorLog: quiet(),
		MaxHeaderBytes: maxHeader, ReadHeaderTimeout: silence, IdleTimeout: idle,
		ConnState: d.listener.changed, ConnContext: within,
	}
	return d, nil
}

// MayListen reports what Listen would refuse of an address and the files that go with it. It makes none.
func MayListen(m config.Monitor, log *slog.Logger) error {
	if err := m.CheckListen(); err != nil {
		return err
	}
	_, err := secured(Options{Monitor: m, Log: log})
	if _, missing := os.Stat(m.TokenFile); err == nil && missing == nil {
		_, err = readToken(m.TokenFile)
	}
	return err
}

func listen(address string) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("%s is in use, perhaps by another desk; "+
			"name another address with --listen or [monitor] listen", address)
	case err != nil:
		return nil, fmt.Errorf("listen at %s: %w", address, err)
	}
	return l, nil
}

// secured reads the certificate and its key; nil: TLS is not spoken.
func secured(o Options) (*tls.Config, error) {
	if o.CertFile == "" {
		return nil, nil
	}
	c, err := NewCertificate(o.CertFile, o.KeyFile, "[monitor] cert-file and key-file", o.Log)
	if err != nil {
		return nil, err
	}
	return &tls.Config{GetCertificate: c.Now}, nil
}

// Programs tells where programs find the API, and the header that they send. A token that is in a file is
// not shown.
func (d *Desk) Programs() string {
	token := d.token
	if d.monitor.TokenFile != "" {
		token = "and the token in " + d.monitor.TokenFile
	}
	return d.address().String() + strings.TrimPrefix(control.Root, "/") + " with Authorization: Bearer " + token
}

func (d *Desk) address() *url.URL {
	u := &url.URL{Scheme: "http", Host: d.listener.Addr().String(), Path: "/"}
	if d.monitor.CertFile != "" {
		u.Scheme = "https"
	}
	host, port, _ := net.SplitHostPort(u.Host)
	if net.ParseIP(host).IsUnspecified() { // which no browser can ask
		u.Host = net.JoinHostPort(append(d.monitor.Hosts, "localhost")[0], port)
	}
	return u
}

// Serve answers until ctx is done, and ends what it answers within eight seconds. It is
// called once.
func (d *Desk) Serve(ctx context.Context) error {
	var g errgroup.Group
	answering, leave := context.WithCancel(context.WithoutCancel(ctx))
	defer leave()
	d.server.BaseContext = func(net.Listener) context.Context { return answering }
	following, unfollow := context.WithCancel(context.Background())
	g.Go(func() error { d.events.follow(following); return nil })
	stop := context.AfterFunc(ctx, func() { _ = d.listener.Close() })
	err := d.accept()
	if !stop() {
		err = nil // asked to
	}
	unfollow() // ends the streams, when they were told what came last
	_ = g.Wait()
	leave()
	leaving, cancel := context.WithTimeout(context.Background(), parting)
	defer cancel()
	if d.server.Shutdown(leaving) != nil {
		_ = d.server.Close()
	}
	d.reader.Close()
	d.exports.Close()
	if err != nil {
		return fmt.Errorf("desk: %w", err)
	}
	return nil
}

func (d *Desk) accept() error {
	if d.server.TLSConfig != nil {
		return d.server.ServeTLS(d.listener, "", "")
	}
	return d.server.Serve(d.listener)
}
