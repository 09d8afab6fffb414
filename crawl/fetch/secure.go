package fetch

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"

	"golang.org/x/net/proxy"

	"github.com/sumi-ripple/ripple/crawl/lenient"
)

// dialPlain makes a connection without TLS for the transport.
func (c *Client) dialPlain(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := c.dialler.dialContext(ctx, network, addr)
	if p := exchangeOf(ctx).route.proxy; err != nil || p != nil && isSOCKS(p) {
		return conn, err // the transport itself speaks SOCKS
	}
	return newAnswers(conn), nil
}

// dialTLS makes a connection with TLS for the transport, through the proxy if there is one. Without
// HTTP/2, answers pass through a [lenient.Reader]. It cannot be inserted between the transport and
// the transport's own TLS, so the handshake is made here.
func (c *Client) dialTLS(ctx context.Context, network, addr string) (net.Conn, error) {
	x := exchangeOf(ctx)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(x.ctx, cancel)()
	var conn net.Conn
	var err error
	if p := x.route.proxy; p != nil && !x.plain {
		conn, err = c.tunnel(ctx, x, p, addr)
	} else {
		conn, err = c.dialler.dialContext(ctx, network, addr)
	}
	if err != nil {
		return nil, err
	}
	return c.secure(ctx, x, conn, addr)
}

// secure performs the handshake with the server at addr.
func (c *Client) secure(ctx context.Context, x *exchange, conn net.Conn, addr string) (net.Conn, error) {
	x.enterPhase(handshaking)
	name, _, _ := net.SplitHostPort(addr)
	cfg := c.tls.Clone()
	cfg.ServerName = name
	switch {
	case x.plain: // to a proxy
		cfg.NextProtos = nil
	case c.fallbacks.http1(addr):
		cfg.NextProtos = []string{"http/1.1"}
	}
	secured := tls.Client(conn, cfg)
	if err := secured.HandshakeContext(ctx); err != nil {
		sever(conn)
		return nil, &Error{Cause: tlsCause(err), Op: "tls handshake", Err: err}
	}
	if secured.ConnectionState().NegotiatedProtocol == "h2" {
		return secured, nil
	}
	return newAnswers(secured), nil
}

// tunnel connects to addr through a proxy.
func (c *Client) tunnel(ctx context.Context, x *exchange, p *url.URL, addr string) (net.Conn, error) {
	at := proxyAddress(p)
	conn, err := c.dialler.dialContext(ctx, "tcp", at)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { sever(conn) })
	defer stop()
	through, err := c.pass(ctx, x, conn, p, addr)
	if err != nil {
		sever(conn)
		return nil, &Error{Cause: Proxy, Op: "connect", Err: err}
	}
	x.tunnel()
	return through, nil
}

// pass requests a connection to addr from a proxy.
func (c *Client) pass(ctx context.Context, x *exchange, conn net.Conn, p *url.URL, addr string) (net.Conn, error) {
	if isSOCKS(p) {
		return conn, passSOCKS(ctx, conn, p, addr)
	}
	if p.Scheme == "https" {
		x.enterPhase(handshaking)
		cfg := c.tls.Clone()
		cfg.ServerName, cfg.NextProtos = p.Hostname(), nil
		secured := tls.Client(conn, cfg)
		if err := secured.HandshakeContext(ctx); err != nil {
			return nil, err
		}
		conn = secured
	}
	ask := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: addr}, Host: addr, Header: http.Header{}}
	if p.User != nil {
		password, _ := p.User.Password()
		ask.SetBasicAuth(p.User.Username(), password)
		ask.Header["Proxy-Authorization"] = ask.Header["Authorization"]
		delete(ask.Header, "Authorization")
	}
	if err := ask.Write(conn); err != nil {
		return nil, err
	}
	res, err := http.ReadResponse(bufio.NewReader(io.LimitReader(conn, maxHeaderBytes)), ask)
	if err != nil {
		return nil, err
	}
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the proxy answered %d", res.StatusCode)
	}
	return conn, nil
}

// passSOCKS requests a connection to addr from a SOCKS5 proxy.
func passSOCKS(ctx context.Context, conn net.Conn, p *url.URL, addr string) error {
	var auth *proxy.Auth
	if p.User != nil {
		password, _ := p.User.Password()
		auth = &proxy.Auth{User: p.User.Username(), Password: password}
	}
	d, err := proxy.SOCKS5("tcp", proxyAddress(p), auth, connected{conn})
	if err != nil {
		return err
	}
	_, err = d.(proxy.ContextDialer).DialContext(ctx, "tcp", addr)
	return err
}

// connected is a dialer that returns an existing connection.
type connected struct{ net.Conn }

func (c connected) Dial(string, string) (net.Conn, error) { return c.Conn, nil }
func (c connected) DialContext(context.Context, string, string) (net.Conn, error) {
	return c.Conn, nil
}

func isSOCKS(p *url.URL) bool { return p.Scheme == "socks5" || p.Scheme == "socks5h" }

// proxyAddress returns the address of a proxy.
func proxyAddress(p *url.URL) string {
	port := p.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443", "socks5": "1080", "socks5h": "1080"}[p.Scheme]
	}
	return net.JoinHostPort(p.Hostname(), port)
}

// answers is a connection whose answers are parsed as in browsers.
type answers struct {
	net.Conn
	reader *lenient.Reader
}

func newAnswers(c net.Conn) *answers { return &answers{c, lenient.NewReader(c)} }

func (a *answers) Read(p []byte) (int, error) { return a.reader.Read(p) }
