package desk

import (
	"crypto/rand"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"github.com/sumi-ripple/ripple/crawl/control"
)

const (
	validTicket = time.Minute
	usedTicket  = time.Hour // in which a second use is reported
	maxTickets  = 1000      // valid or remembered
)

// tickets let a browser go where it cannot send the token, each once: to a download within a
// minute, or into the application at any time. Its methods may be called from any goroutine.
type tickets struct {
	mu   sync.Mutex
	sold map[string]ticket
	used map[string]time.Time // used tickets, and until when they are remembered
}

type ticket struct {
	to    string
	until time.Time
}

func (t ticket) expired(now time.Time) bool { return t.to != entrance && now.After(t.until) }

// sell returns a ticket for something. A ticket for the entrance stays valid until it is used.
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

// take returns what a ticket is for, and uses it up. again reports a ticket that was used before.
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

// admits reports whether a ticket for the entrance is still valid. It does not use the ticket up.
func (t *tickets) admits(id string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.sold[id].to == entrance
}

// redeem takes a ticket. It reports a ticket that was used before, because someone else may have
// read the address.
func (d *Desk) redeem(id string) (to string, err error) {
	to, ok, again := d.tickets.take(id)
	switch {
	case again:
		d.log.Warn("a ticket to the desk was used a second time: if that was not you, someone else has read the address; " +
			"then stop the desk and start it again")
		return "", &control.Error{Code: http.StatusForbidden, Text: "this address has been used before, and is good for " +
			"one use; if that was not you, stop the desk and start it again"}
	case !ok:
		return "", &control.Error{Code: http.StatusNotFound, Text: "there is no such ticket"}
	}
	return to, nil
}

// notHead keeps a HEAD request, such as that of a link preview, from using up a ticket.
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

// An entering is the request of the application to be let in, and an entered its answer.
type (
	entering struct {
		Ticket string `json:"ticket"`
	}
	entered struct {
		Token string `json:"token"`
	}
)

// enter exchanges a ticket for the token. An address that contained the token itself would stay in
// the browser's history.
func (d *Desk) enter(w http.ResponseWriter, r *http.Request) {
	var shown entering
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<10)).Decode(&shown); err != nil {
		Refuse(w, &control.Error{Code: http.StatusBadRequest, Text: "send {\"ticket\": TICKET}"})
		return
	}
	to, err := d.redeem(shown.Ticket)
	if err == nil && to != entrance {
		err = &control.Error{Code: http.StatusNotFound, Text: "that ticket is for something else"}
	}
	if err != nil {
		Refuse(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(entered{d.token})
}

const entrance = "/"

// Entrance returns an address that lets one browser in, once. Until then, a program may send its
// ticket in place of the token.
func (d *Desk) Entrance() (string, error) {
	id, err := d.tickets.sell(entrance)
	u := d.address()
	u.Fragment = "token=" + id
	return u.String(), err
}
