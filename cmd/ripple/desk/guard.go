package desk

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/sumi-ripple/ripple/crawl/control"
)

// A Guard decides which requests are answered.
type Guard struct {
	Token string
	Hosts []string // further names of this machine, in addition to loopback and the address that was connected to

	Admits func(ticket string) bool // reports whether a ticket is as good as the token; nil: none is
}

// policy allows pages only to run and fetch what comes from this server.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Site answers any request for the right host.
func (g *Guard) Site(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, value := range map[string]string{
			"Content-Security-Policy":      policy,
			"X-Content-Type-Options":       "nosniff",
			"Referrer-Policy":              "no-referrer",
			"Cross-Origin-Opener-Policy":   "same-origin",
			"Cross-Origin-Resource-Policy": "same-origin",
			"Cache-Control":                "no-store",
		} {
			w.Header().Set(name, value)
		}
		if !g.known(r) {
			Refuse(w, &control.Error{Code: http.StatusMisdirectedRequest,
				Text: "this desk does not answer to that name; add it to [monitor] hosts"})
			return
		}
		h.ServeHTTP(w, r)
	})
}

// API answers requests that have the token and do not come from a page of another origin.
func (g *Guard) API(h http.Handler) http.Handler { return g.guarded(h, g.authorized) }

// Page answers requests that do not come from a page of another origin, without a token.
func (g *Guard) Page(h http.Handler) http.Handler {
	return g.guarded(h, func(*http.Request) bool { return true })
}

// guarded refuses requests from pages of other origins and requests that are not authorized. A
// request that changes something must send JSON, which no form of another page can send.
func (g *Guard) guarded(h http.Handler, authorized func(*http.Request) bool) http.Handler {
	same := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked := r.Clone(r.Context())
		asked.Method = http.MethodPost // only our own pages may send GET, too
		mediaType, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
		switch {
		case same.Check(asked) != nil:
			Refuse(w, &control.Error{Code: http.StatusForbidden, Text: "the request comes from a page of another origin"})
		case !authorized(r):
			w.Header().Set("WWW-Authenticate", "Bearer")
			Refuse(w, &control.Error{Code: http.StatusUnauthorized,
				Text: "the token is missing or wrong; it was printed when the desk started, or is in its token file"})
		case r.Method == http.MethodPost && (err != nil || mediaType != "application/json"):
			Refuse(w, &control.Error{Code: http.StatusUnsupportedMediaType,
				Text: "send JSON, as Content-Type: application/json"})
		default:
			if g.authorized(r) {
				prove(r.Context())
			}
			h.ServeHTTP(w, r)
		}
	})
}

// authorized compares the token in a time that does not depend on what was sent. An unused ticket
// for the entrance counts as well; it is as long and as random as the token.
func (g *Guard) authorized(r *http.Request) bool {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	got, want := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(g.Token))
	same := subtle.ConstantTimeCompare(got[:], want[:]) == 1
	return strings.EqualFold(scheme, "Bearer") && (same || g.Admits != nil && g.Admits(token))
}

// known reports whether a request is for this host. A name that someone else has made to resolve to
// this machine is not one of ours, whatever the port.
func (g *Guard) known(r *http.Request) bool {
	host := r.Host
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
	same := func(name string) bool { return strings.EqualFold(name, host) }
	if host == "localhost" || slices.ContainsFunc(g.Hosts, same) {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && (addr.IsLoopback() || addr == connectedTo(r.Context()))
}

// connectedTo returns the address of this machine that a request came to.
func connectedTo(ctx context.Context) netip.Addr {
	local, ok := ctx.Value(http.LocalAddrContextKey).(*net.TCPAddr)
	if !ok {
		return netip.Addr{}
	}
	addr, _ := netip.AddrFromSlice(local.IP)
	return addr.Unmap()
}
