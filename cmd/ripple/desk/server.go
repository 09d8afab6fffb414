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
	maxConnections = 256              // further ones replace others
	maxHeader      = 256 << 10        // more than the longest URL in a request, with every byte of it escaped
	silence        = 10 * time.Second // of a client, before its request
	reading        = 30 * time.Second // time limit for the body of a request
	idle           = 2 * time.Minute
	stall          = 10 * time.Second // in which a client reads nothing of an answer
	parting        = 3 * time.Second  // for answers in progress at the end
)

// Options configure a desk.
type Options struct {
	config.Monitor
	Routes  []Route
	Live    Live // current activity, for streams
	Reader  *Reader
	Exports *Exports // nil: exports are not offered
	Version string
	Log     *slog.Logger // for warnings

	// Metrics returns the answer to a scrape of Prometheus, in its text format.
	Metrics func(context.Context) ([]byte, error)
}

// A Desk is a listening server.
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

// Listen opens the address, so that conflicts are known at once, and creates or reads the token.
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

// MayListen returns the error with which Listen would refuse an address and its files. It creates
// no files.
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

// secured reads the certificate and its key; nil: the desk does not use TLS.
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

// Programs says where programs find the API, and which header they send. A token that is in a file
// is not shown.
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
	if net.ParseIP(host).IsUnspecified() { // no browser can connect to that address
		u.Host = net.JoinHostPort(append(d.monitor.Hosts, "localhost")[0], port)
	}
	return u
}

// Serve answers requests until ctx is done, and finishes open answers within eight seconds. It must
// be called only once.
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
		err = nil // ended on request
	}
	unfollow() // ends the streams, after they were sent the last events
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
