package fetch

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"github.com/sumi-ripple/ripple/crawl/lenient"
)

const (
	maxHeaderBytes = lenient.MaxHead
	readBuffer     = 1 << 10          // of the transport, in addition to that of a lenient.Reader
	idleTimeout    = 90 * time.Second // a host requested once a minute keeps its connection
	idlePerHost    = 2
	leastIdle      = 64
	usualIdle      = 1024    // connections, for clients with fewer open requests
	connBuffer     = 1 << 30 // a waiting body fills only its own buffer, and does not block its connection
	headerTable    = 512     // bytes of the HPACK tables; their memory is five times as large
	accepted       = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.1"
	encodings      = "gzip, deflate, br, zstd" // in the order used by browsers
)

// limits are the limits that cannot be configured. Tests shorten them.
type limits struct {
	dns     time.Duration
	dnsTTL  time.Duration
	stagger time.Duration
	window  time.Duration // over which a body must keep rate
	rate    int64         // bytes per window
	body    time.Duration
	drain   time.Duration
}

func (l limits) orDefaults() limits {
	l.dns = orDefault(l.dns, 5*time.Second)
	l.dnsTTL = orDefault(l.dnsTTL, positiveTTL)
	l.stagger = orDefault(l.stagger, 300*time.Millisecond)
	l.window = orDefault(l.window, 10*time.Second)
	l.rate = orDefault(l.rate, 10<<10)
	l.body = orDefault(l.body, 5*time.Minute)
	l.drain = orDefault(l.drain, 500*time.Millisecond)
	return l
}

// A Client makes requests, over connections that it keeps. It is safe for concurrent use.
type Client struct {
	transport *http.Transport
	tls       *tls.Config // for all connections, except for the server name
	dialler   *dialler
	routes    *routes
	decoders  *decoders
	fallbacks fallbacks
	header    http.Header // of every request; its values are shared and must not be changed
	connect   time.Duration
	timeout   time.Duration
	maxBytes  int64
	budget    *Budget // nil: no limit
	free      int64   // part of the budget that each body may use without a claim
	limits    limits
	stop      context.CancelFunc
	leave     func() (last bool) // leaves the pool; nil: none
}

// New returns a client. It fails if a proxy, a connect-to entry or a CA file cannot be used; the error
// contains no password of the proxy.
func New(cfg Config) (*Client, error) {
	cfg.limits = cfg.limits.orDefaults()
	guard := newGuard(cfg.AllowPrivate)
	routes, err := newRoutes(&cfg, &guard)
	if err != nil {
		return nil, err
	}
	roots, err := trustAnchors(cfg.CAFile)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	d := newDialler(ctx, &cfg, &guard)
	c := &Client{
		tls:      newTLS(&cfg, roots),
		dialler:  d,
		routes:   routes,
		decoders: new(decoders),
		header:   fixedHeader(&cfg),
		connect:  orDefault(cfg.ConnectTimeout, 10*time.Second),
		timeout:  orDefault(cfg.Timeout, 30*time.Second),
		maxBytes: orDefault(cfg.MaxBytes, 10_000_000),
		budget:   cfg.Bodies,
		free:     cfg.Bodies.free(cfg.MaxOpen),
		limits:   cfg.limits,
		stop:     stop,
	}
	c.transport = newTransport(&cfg, c)
	return c, nil
}

func newDialler(ctx context.Context, cfg *Config, g *guard) *dialler {
	d := &dialler{
		ctx:      ctx,
		resolver: cfg.Resolver,
		dial:     cfg.dial,
		stagger:  cfg.limits.stagger,
		most:     max(cfg.MaxOpen, 1) + idleConns(cfg),
		open:     map[*conn]struct{}{},
		leased:   cfg.Leased,
	}
	switch {
	case cfg.lookup != nil:
		d.resolver = newResolver(cfg.lookup, cfg.limits)
	case d.resolver == nil:
		d.resolver = NewResolver(nil)
	}
	if d.dial == nil {
		d.dial = socketDialer(g)
	}
	return d
}

// idleConns returns the number of idle connections kept for all hosts. A polite crawl requests many
// hosts in turn, so the number is many times that of open requests, if the latter is small. Each
// connection costs 30 to 90 KB.
func idleConns(cfg *Config) int {
	idle := min(max(16*cfg.MaxOpen, leastIdle), max(cfg.MaxOpen, usualIdle))
	if cfg.MaxConns > 0 {
		idle = max(1, min(idle, cfg.MaxConns-cfg.MaxOpen))
	}
	return idle
}

// newTLS returns the settings common to all TLS connections.
func newTLS(cfg *Config, roots *x509.CertPool) *tls.Config {
	protocols := []string{"h2", "http/1.1"}
	if !cfg.HTTP2 {
		protocols = protocols[1:]
	}
	return &tls.Config{
		RootCAs:            roots,
		NextProtos:         protocols,
		CipherSuites:       suites(),
		CurvePreferences:   curves(),
		ClientSessionCache: newSessionCache(cfg),
	}
}

func newTransport(cfg *Config, c *Client) *http.Transport {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(cfg.HTTP2)
	return &http.Transport{
		Proxy:                  proxyOf,
		DialContext:            c.dialPlain,
		DialTLSContext:         c.dialTLS,
		ReadBufferSize:         readBuffer,
		DisableKeepAlives:      !cfg.KeepAlive,
		DisableCompression:     true,
		MaxIdleConns:           idleConns(cfg),
		MaxIdleConnsPerHost:    idlePerHost,
		IdleConnTimeout:        idleTimeout,
		MaxResponseHeaderBytes: maxHeaderBytes,
		Protocols:              protocols,
		HTTP2: &http.HTTP2Config{
			MaxReceiveBufferPerConnection: connBuffer,
			MaxReceiveBufferPerStream:     int(cfg.Bodies.free(cfg.MaxOpen)),
			MaxDecoderHeaderTableSize:     headerTable,
			MaxEncoderHeaderTableSize:     headerTable,
		},
	}
}

// curves returns the usual curves without post-quantum key exchange. A crawler's requests are
// public and contain no secret that must last for decades, and that exchange is two fifths of the
// cost of a handshake at both ends.
func curves() []tls.CurveID {
	return []tls.CurveID{tls.X25519, tls.CurveP256, tls.CurveP384, tls.CurveP521}
}

// suites returns the usual cipher suites of TLS 1.2, and those without forward secrecy that
// browsers still accept, because some servers have no others. TLS 1.3 has its own.
func suites() []uint16 {
	list := []uint16{
		tls.TLS_RSA_WITH_AES_128_GCM_SHA256, tls.TLS_RSA_WITH_AES_256_GCM_SHA384,
		tls.TLS_RSA_WITH_AES_128_CBC_SHA, tls.TLS_RSA_WITH_AES_256_CBC_SHA,
	}
	for _, suite := range tls.CipherSuites() {
		list = append(list, suite.ID)
	}
	return list
}

// trustAnchors returns the system's trust anchors together with those in the file; nil means only
// the system's.
func trustAnchors(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("ca-file: %w", err)
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	if !roots.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("ca-file: %s: no certificate in PEM form", file)
	}
	return roots, nil
}

func fixedHeader(cfg *Config) http.Header {
	h := http.Header{"User-Agent": {cfg.UserAgent}, "Accept": {accepted}}
	if cfg.AcceptLanguage != "" {
		h["Accept-Language"] = []string{cfg.AcceptLanguage}
	}
	if cfg.Compress {
		h["Accept-Encoding"] = []string{encodings}
	}
	return h
}

// build makes the HTTP request. It has no credentials and no Referer except those in req.
func (c *Client) build(ctx context.Context, target *url.URL, req *Request) *http.Request {
	header := make(http.Header, len(c.header)+2)
	for name, values := range c.header {
		header[name] = values
	}
	if isEntityTag(req.ETag) {
		header["If-None-Match"] = []string{req.ETag}
	}
	if req.LastModified != "" && httpguts.ValidHeaderFieldValue(req.LastModified) {
		header["If-Modified-Since"] = []string{req.LastModified}
	}
	maps.Copy(header, req.Header)
	hr := &http.Request{
		Method: orDefault(req.Method, http.MethodGet), URL: target, Host: target.Host, Header: header,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}
	if len(req.Body) > 0 {
		hr.ContentLength = int64(len(req.Body))
		hr.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(req.Body)), nil }
	}
	return hr.WithContext(ctx)
}

// isEntityTag reports an entity tag (RFC 9110 section 8.8.3). Anything else may have another meaning in
// If-None-Match: a star matches any version.
func isEntityTag(s string) bool {
	s = strings.TrimPrefix(s, "W/")
	if len(s) < 2 || s[0] != '"' || s[len(s)-1] != '"' {
		return false
	}
	for _, c := range []byte(s[1 : len(s)-1]) {
		if c <= ' ' || c == '"' || c == 0x7f {
			return false
		}
	}
	return true
}

// Resolve returns the addresses that a request to host (or "host:port", default 443) would dial. It
// uses the same cache as requests. For a host in connect-to these are the addresses of its target;
// behind a proxy there are none. The error is an [*Error].
func (c *Client) Resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	name, port := splitPort(host)
	authority := "https://" + bracketed(name) + ":" + orDefault(port, "443")
	u, err := url.Parse(authority)
	if err != nil {
		return nil, &Error{Cause: BadResponse, Op: "resolve", URL: host, Err: errors.New("not a host")}
	}
	way, err := c.routes.choose(u)
	if err != nil {
		return nil, c.fail(ctx, err, host)
	}
	if way.proxy != nil {
		return nil, nil
	}
	if way.dial != "" {
		name, _ = splitPort(way.dial)
	}
	addrs, err := c.dialler.resolver.resolve(ctx, name)
	if err != nil {
		return nil, c.fail(ctx, err, host)
	}
	return addrs, nil
}

// Deaf reports whether no name server answers any more, though one did before. It looks up the name
// found last, and its top-level domain, for at most 3.75 s.
func (c *Client) Deaf(ctx context.Context) bool {
	return c.dialler.resolver.fault(ctx, OwnNothing) == OwnResolver
}

func bracketed(host string) string {
	if strings.Contains(host, ":") {
		return "[" + host + "]"
	}
	return host
}

// Mapped reports whether connect-to names host (or "host:port").
func (c *Client) Mapped(host string) bool {
	name, port := splitPort(host)
	return c.routes.target(name, orDefault(port, "443")) != ""
}

// Proxied reports whether host (or "host:port") is requested through the proxy. NO_PROXY exempts
// some hosts.
func (c *Client) Proxied(host string) bool {
	if c.Proxy() == "" {
		return false
	}
	name, port := splitPort(host)
	proxy, err := c.routes.proxy(&url.URL{Scheme: "https", Host: bracketed(name) + ":" + orDefault(port, "443")})
	return err == nil && proxy != nil
}

// ProxyOf returns the proxy through which host (or "host:port") is requested, without its credentials, or "".
func (c *Client) ProxyOf(host string) string {
	if c.Mapped(host) || !c.Proxied(host) {
		return ""
	}
	return c.Proxy()
}

// Proxy returns the proxy in use, without its credentials, or "".
func (c *Client) Proxy() string { return c.routes.via }

// CloseIdle closes all unused connections.
func (c *Client) CloseIdle() { c.transport.CloseIdleConnections() }

// Close ends pending dials and closes every connection, idle or not. It must be called when no Do is running;
// a later Do fails. For a client shared through a [Pool], only the last Close takes effect.
func (c *Client) Close() {
	if c.leave != nil && !c.leave() {
		return
	}
	c.stop()
	c.dialler.close()
	c.transport.CloseIdleConnections()
}
