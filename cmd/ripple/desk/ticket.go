package desk

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/sumi-ripple/ripple/crawl/control"
)

const (
	validTicket = time.Minute
	usedTicket  = time.Hour // in which a second use is told
	maxTickets  = 1000      // valid, and remembered
)

// Tickets let a browser go where it cannot send the token, each once: to a download within a minute, and into
// the application at any time.
// Its methods may be called from any goroutine.
type tickets struct {
	mu   sync.Mutex
	sold map[string]ticket
	used map[string]time.Time // until when it is remembered that a ticket was used
}

type ticket struct {
	to    string
	until time.Time
}

func (t ticket) expired(now time.Time) bool { return t.to != entrance && now.After(t.until) }

// sell returns a ticket to something. One to the entrance stays valid until it is used.
func (t *tickets) sell(to string) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	for id, old := range t.sold {
		if old.expired(now) {
			delete(t.sold, id)
		}
	}
	if len(t.sold) >= maxTickets {
		return "", &control.Error{Code: http.StatusTooManyRequests, Text: "too many tickets wait to be used"}
	}
	if t.sold == nil {
		t.sold, t.used = map[string]ticket{}, map[string]time.Time{}
	}
	id := rand.Text()
	t.sold[id] = ticket{to, now.Add(validTicket)}
	return id, nil
}

// take returns what a ticket is for, which is then used up. again reports a ticket that was used before.
func (t *tickets) take(id string) (to string, ok, again bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	found, ok := t.sold[id]
	_, again = t.used[id]
	if !ok {
		return "", false, again
	}
	delete(t.sold, id)
	for old, until := range t.used {
		if now.After(until) {
			delete(t.used, old)
		}
	}
	if len(t.used) < maxTickets {
		t.used[id] = now.Add(usedTicket)
	}
	return found.to, !found.expired(now), false
}

// redeem takes a ticket, and tells of one that was used before: somebody has read the address.
func (d *Desk) redeem(w http.ResponseWriter, r *http.Request) (to string, ok bool) {
	to, ok, again := d.tickets.take(r.PathValue("ticket"))
	if again {
		d.log.Warn("a ticket to the desk was used a second time: if it was not you, somebody else has read the address; " +
			"then end the desk and start it again")
		http.Error(w, "This address has been used before, and is good for one use. "+
			"If that was not you, end the desk and start it again.", http.StatusForbidden)
	} else if !ok {
		http.NotFound(w, r)
	}
	return to, ok
}

// notHead keeps what looks at an address, without wanting what is there, from using up its ticket.
func notHead(h http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead {
			w.Header().Set("Allow", http.MethodGet)
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		h(w, r)
	})
}

// enter gives the token to the holder of a ticket, in a page whose script keeps it for the tab and opens the
// application. An address with the token in it would stay in the history of the browser.
func (d *Desk) enter(w http.ResponseWriter, r *http.Request) {
	to, ok := d.redeem(w, r)
	switch {
	case !ok:
	case to != entrance:
		http.NotFound(w, r)
	default:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Ripple</title>"+
			"<meta name=\"token\" content=\"%s\"><script defer src=\"/app/enter.js\"></script></head>"+
			"<body><noscript>The desk is drawn by scripts of its own.</noscript></body></html>\n", d.token)
	}
}

const entrance = "/"

// Entrance is an address that leads a browser into the application once.
func (d *Desk) Entrance() (string, error) {
	id, err := d.tickets.sell(entrance)
	u := d.address()
	u.Path = "/enter/" + id
	return u.String(), err
}
