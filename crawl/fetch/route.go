package fetch

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpproxy"

	"github.com/sumi-ripple/ripple/schema/weburl"
)

// routes decides where the connection for a URL is made: at the URL's own authority, at a connect-to target,
// or at the proxy. A host named by connect-to does not use the proxy.
type routes struct {
	exact map[string]string // "host" or "host:port" -> "addr:port"
	below map[string]string // the same, for "*." patterns
	proxy func(*url.URL) (*url.URL, error)
	via   string // the proxy without credentials, empty if none
	guard *guard
}

// A route is where a request connects.
type route struct {
	dial  string   // "addr:port" of connect-to, else empty
	proxy *url.URL // else nil
}

// trusted reports whether the user configured the address to be dialled.
func (r route) trusted() bool { return r.dial != "" || r.proxy != nil }

func newRoutes(cfg *Config, g *guard) (*routes, error) {
	r := &routes{exact: map[string]string{}, below: map[string]string{}, guard: g}
	if err := r.addTargets(cfg.ConnectTo); err != nil {
		return nil, err
	}
	return r, r.setProxy(cfg.Proxy)
}

func (r *routes) addTargets(targets map[string]string) error {
	for key, target := range targets {
		if err := checkTarget(target); err != nil {
			return fmt.Errorf("connect-to %q: %w", key, err)
		}
		pattern, wild := strings.CutPrefix(strings.ToLower(key), "*.")
		host, port := splitPort(pattern)
		if host == "" || strings.ContainsAny(pattern, "*/ ") {
			return fmt.Errorf("connect-to %q: want host, host:port, *.suffix or *.suffix:port", key)
		}
		if wild {
			r.below[joinPort(host, port)] = target
		} else {
			r.exact[joinPort(host, port)] = target
		}
	}
	return nil
}

func checkTarget(target string) error {
	host, port, err := net.SplitHostPort(target)
	n, convErr := strconv.ParseUint(port, 10, 16)
	if err != nil || convErr != nil || host == "" || n == 0 {
		return fmt.Errorf("target %q: want addr:port", target)
	}
	return nil
}

// setProxy uses the configured proxy, or else that of the environment.
func (r *routes) setProxy(text string) (err error) {
	env := environment(text)
	r.via, err = shownProxy(env.HTTPSProxy)
	r.proxy = env.ProxyFunc()
	return err
}

// environment returns the proxy settings; text takes precedence if it is not empty.
func environment(text string) *httpproxy.Config {
	env := httpproxy.FromEnvironment()
	if text != "" {
		env.HTTPProxy, env.HTTPSProxy = text, text
	}
	return env
}

// ProxyOf returns the proxy, without credentials, that a client with text as the Proxy of its
// [Config] uses. If text is empty, it is that of the environment. It returns "" if there is none.
func ProxyOf(text string) (string, error) { return shownProxy(environment(text).HTTPSProxy) }

// shownProxy returns a proxy without its credentials. Its text never appears in an error, because it may
// contain a password.
func shownProxy(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	if !strings.Contains(text, "://") { // "host:port", as is common in the environment
		text = "http://" + text
	}
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || !slices.Contains([]string{"http", "https", "socks5", "socks5h"}, u.Scheme) {
		return "", errors.New("proxy: not the URL of a proxy; want http://user:password@host:port")
	}
	return u.Scheme + "://" + u.Host, nil
}

// choose returns the route of a URL. Behind a proxy only a literal address can be checked; this is
// done before the proxy sees it. Ports of other services are refused if this machine would make the
// connection itself.
func (r *routes) choose(u *url.URL) (route, error) {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	if target := r.target(u.Hostname(), port); target != "" {
		return route{dial: target}, nil
	}
	proxy, err := r.proxy(u)
	if err != nil {
		return route{}, &Error{Cause: Proxy, Op: "proxy", Err: errors.New("not the URL of a proxy")}
	}
	if a, ok := literal(u.Hostname()); ok && proxy != nil && r.guard.refuses(a) {
		return route{}, refusal(a)
	}
	if proxy == nil && weburl.BadPort(port) {
		return route{}, &Error{Cause: RefusedPort, Op: "connect",
			Err: fmt.Errorf("port %s is that of another service", port)}
	}
	return route{proxy: proxy}, nil
}

// target returns the connect-to target of an authority. The most specific pattern wins: the name, the name
// without "www.", then each suffix; with the port before without.
func (r *routes) target(host, port string) string {
	if len(r.exact)+len(r.below) == 0 {
		return ""
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	for _, name := range []string{host, strings.TrimPrefix(host, "www.")} {
		if t := pick(r.exact, name, port); t != "" {
			return t
		}
	}
	for name := host; name != ""; {
		if t := pick(r.below, name, port); t != "" {
			return t
		}
		_, name, _ = strings.Cut(name, ".")
	}
	return ""
}

func pick(targets map[string]string, host, port string) string {
	if t := targets[joinPort(host, port)]; t != "" {
		return t
	}
	return targets[joinPort(host, "")]
}

// splitPort splits "host", "host:port", "[v6]" and "[v6]:port"; a bare IPv6
// address has no port.
func splitPort(s string) (host, port string) {
	if h, p, err := net.SplitHostPort(s); err == nil {
		return h, p
	}
	return strings.TrimSuffix(strings.TrimPrefix(s, "["), "]"), ""
}

func joinPort(host, port string) string { return host + " " + port }
