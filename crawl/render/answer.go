package render

import (
	"errors"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

const reasonNavigation = "navigation"

// answer answers a request. If it has no answer, it records the request as missing and keeps it
// waiting.
func (v *visit) answer(e *fetch.EventRequestPaused) error {
	if e.ResourceType == network.ResourceTypeDocument && e.FrameID == v.frame && !v.started {
		v.started = true
		return v.fulfill(e, v.page.Status, headers(e, v.page.Header), v.page.Body)
	}
	if unseen(e) {
		return v.fail(e, network.ErrorReasonBlockedByClient)
	}
	if preflight(e) {
		return v.fulfill(e, http.StatusNoContent, headers(e, nil), nil)
	}
	a, known := v.ask(e)
	if !known {
		v.held = append(v.held, e)
		return nil
	}
	if a.Refused == "" {
		return v.fulfill(e, a.Status, headers(e, a.Header), a.Body)
	}
	// Some refused requests get an empty answer instead, because many pages break without one: a bundle waits
	// for its styles, and a frame for its load.
	switch e.ResourceType {
	case network.ResourceTypeStylesheet:
		return v.fulfill(e, 200, headers(e, http.Header{"Content-Type": {"text/css"}}), nil)
	case network.ResourceTypeDocument:
		if e.FrameID != v.frame {
			return v.fulfill(e, 200, headers(e, http.Header{"Content-Type": {"text/html"}}), nil)
		}
		return v.fail(e, network.ErrorReasonAborted)
	}
	return v.fail(e, network.ErrorReasonBlockedByClient)
}

// unseen reports whether a request is the browser's own, such as for an icon, so that no script sees its answer.
// The browser gives fetches that a <link> announces and JSON modules the same type as its own requests.
func unseen(e *fetch.EventRequestPaused) bool {
	accept, _ := e.Request.Headers["Accept"].(string)
	return e.ResourceType == network.ResourceTypeOther && accept != "*/*" &&
		!strings.HasPrefix(accept, "application/json,")
}

// preflight reports whether a request is a CORS preflight (Fetch, section 4.9). A preflight always
// succeeds, because an answer may exist for any request of the page.
func preflight(e *fetch.EventRequestPaused) bool {
	return e.Request.Method == http.MethodOptions && e.Request.Headers["Access-Control-Request-Method"] != nil
}

// ask looks up the answer to a request and records the result. It returns false if the answer is
// missing.
func (v *visit) ask(e *fetch.EventRequestPaused) (Answer, bool) {
	r := requestOf(e)
	if v.leads(e) {
		v.navigation(r.URL + e.Request.URLFragment)
		return Answer{Refused: reasonNavigation}, true
	}
	a, known := Answer{Refused: v.forbids(e)}, true
	if a.Refused == "" {
		if a, known = v.answers.Answer(r); known {
			v.given = append(v.given, given{r, a.sum()})
		}
	}
	switch {
	case !known:
		v.result.Missing = once(v.result.Missing, r)
	case a.Refused != "":
		v.refused(r, a.Refused)
	default:
		v.result.Used = once(v.result.Used, r)
		if ownHeader(e.Request) {
			v.refused(r, OwnHeader)
		}
	}
	return a, known
}

func requestOf(e *fetch.EventRequestPaused) Request {
	return Request{e.Request.Method, Resource{e.Request.URL, accept(e)}}
}

// leads reports whether a request is for another page in place of this one.
func (v *visit) leads(e *fetch.EventRequestPaused) bool {
	return e.ResourceType == network.ResourceTypeDocument && e.FrameID == v.frame
}

// accept returns the value of Accept that is sent for a request; empty: */*. Only scripts choose one.
func accept(e *fetch.EventRequestPaused) string {
	if e.ResourceType != network.ResourceTypeFetch && e.ResourceType != network.ResourceTypeXHR {
		return ""
	}
	for name, value := range e.Request.Headers {
		text, _ := value.(string)
		if strings.EqualFold(name, "Accept") && text != "*/*" && Acceptable(text) {
			return text
		}
	}
	return ""
}

// ownHeader reports whether a page gave a request headers of its own choosing that are not sent, such as
// Authorization. Content-Type says nothing without a body, and X-Requested-With only that a script asks.
func ownHeader(r *network.Request) bool {
	for name, value := range r.Headers {
		switch name = strings.ToLower(name); name {
		case "accept":
			if text, _ := value.(string); !Acceptable(text) {
				return true
			}
		case "accept-language", "cache-control", "content-type", "origin", "pragma", "referer",
			"upgrade-insecure-requests", "user-agent", "x-requested-with":
		default:
			if !strings.HasPrefix(name, "sec-") {
				return true
			}
		}
	}
	return false
}

func once(all []Request, r Request) []Request {
	if slices.Contains(all, r) {
		return all
	}
	return append(all, r)
}

// forbids returns why a request must not be made, independently of its answer. It is empty if the
// request may be made.
func (v *visit) forbids(e *fetch.EventRequestPaused) string {
	switch e.ResourceType {
	case network.ResourceTypeScript, network.ResourceTypeXHR, network.ResourceTypeFetch,
		network.ResourceTypeOther: // see unseen
	case network.ResourceTypeDocument:
		return "frame"
	default:
		return strings.ToLower(string(e.ResourceType))
	}
	switch {
	case v.prefetch(e.Request):
		return "prefetch"
	case !strings.HasPrefix(e.Request.URL, "http://") && !strings.HasPrefix(e.Request.URL, "https://"):
		return "not http or https"
	case e.Request.Method != http.MethodGet && e.Request.Method != http.MethodHead:
		return Sends
	case v.requests > maxRequests:
		return TooMany
	}
	return ""
}

// prefetch reports whether a request is for a page that the reader may open next. The page shows nothing of its
// answer. Browsers and Next mark such requests in a header. Nuxt does not, but fetches the payload of the page
// under that page's path.
func (v *visit) prefetch(r *network.Request) bool {
	for name := range r.Headers {
		switch strings.ToLower(name) {
		case "purpose", "sec-purpose", "x-purpose", "x-moz", "x-middleware-prefetch",
			"next-router-prefetch", "next-router-segment-prefetch":
			return true
		}
	}
	to, err := url.Parse(r.URL)
	if err != nil {
		return false
	}
	dir, file := path.Split(to.Path)
	if file != "_payload.json" && file != "_payload.js" {
		return false
	}
	own, err := url.Parse(v.page.URL)
	return err == nil && strings.TrimSuffix(dir, "/") != strings.TrimSuffix(own.Path, "/")
}

// fulfill gives an answer. No other answer is given until the page has read it.
func (v *visit) fulfill(e *fetch.EventRequestPaused, status int, header []*fetch.HeaderEntry, body []byte) error {
	v.reading = e.NetworkID
	_, err := chromedp.Call(v.ctx, fetch.FulfillRequest, fetch.FulfillRequestParams{
		RequestID: e.RequestID, ResponseCode: int64(status), ResponseHeaders: header, Body: body})
	return v.unlessGone(err)
}

func (v *visit) fail(e *fetch.EventRequestPaused, reason network.ErrorReason) error {
	v.reading = e.NetworkID
	return v.unlessGone(tell(v.ctx, fetch.FailRequest,
		fetch.FailRequestParams{RequestID: e.RequestID, ErrorReason: reason}))
}

// unlessGone drops the error of a request that was withdrawn meanwhile, for example because its
// frame was removed.
func (v *visit) unlessGone(err error) error {
	const invalidParams = -32602 // JSON-RPC 2.0, section 5.1
	var said *cdproto.Error
	if errors.As(err, &said) && said.Code == invalidParams &&
		strings.HasPrefix(said.Message, "Invalid InterceptionId") {
		v.reading = ""
		return nil
	}
	return err
}

// headers returns the header of an answer without fields that concern the transfer, keep state, send reports
// or move the page to another process. Every origin may read it.
func headers(e *fetch.EventRequestPaused, from http.Header) []*fetch.HeaderEntry {
	var all []*fetch.HeaderEntry
	add := func(name, value string) {
		all = append(all, &fetch.HeaderEntry{Name: name, Value: strings.ToValidUTF8(value, "")})
	}
	var names []string
	for name, values := range from {
		name = http.CanonicalHeaderKey(name)
		if withheld(name) {
			continue
		}
		names = append(names, name)
		for _, value := range values {
			add(name, value)
		}
	}
	slices.SortFunc(all, func(a, b *fetch.HeaderEntry) int { return strings.Compare(a.Name, b.Name) })
	slices.Sort(names)
	origin, _ := e.Request.Headers["Origin"].(string)
	if origin == "" {
		origin = "*"
	} else {
		add("Access-Control-Allow-Credentials", "true")
	}
	add("Access-Control-Allow-Origin", origin)
	add("Access-Control-Expose-Headers", strings.Join(names, ", "))
	if wanted, _ := e.Request.Headers["Access-Control-Request-Headers"].(string); wanted != "" {
		add("Access-Control-Allow-Headers", wanted)
		add("Access-Control-Allow-Methods", "GET, HEAD")
	}
	return all
}

func withheld(name string) bool {
	switch name {
	case "Connection", "Keep-Alive", "Transfer-Encoding", "Content-Encoding", "Content-Length", "Content-Disposition",
		"Trailer", "Set-Cookie", "Set-Cookie2", "Clear-Site-Data", "Strict-Transport-Security", "Alt-Svc", "Refresh",
		"Nel", "Report-To", "Reporting-Endpoints", "Accept-Ch", "Critical-Ch", "Speculation-Rules",
		"Supports-Loading-Mode",
		"Cross-Origin-Opener-Policy", "Cross-Origin-Embedder-Policy", "Cross-Origin-Resource-Policy",
		"Origin-Agent-Cluster", "Document-Isolation-Policy", "Service-Worker-Allowed":
		return true
	}
	return strings.HasPrefix(name, "Access-Control-")
}
