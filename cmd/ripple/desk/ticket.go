package desk

import (
	"crypto/rand"
	"net/http"
	"sync"
	"time"

	"github.com/sumi-ripple/ripple/crawl/control"
)

const (
	validTicket = time.Minute
	maxTickets  = 1000
)

// Tickets let a browser go where it cannot send the token: each once, within a minute.
// Its methods may be called from any goroutine.
type tickets struct {
	mu   sync.Mutex
	sold map[string]ticket
}

type ticket struct {
	to    string
	until time.Time
}

// sell returns a ticket to something.
func (t *tickets) sell(to string) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	for id, old := range t.sold {
		if now.After(old.until) {
			delete(t.sold, id)
		}
	}
	if len(t.sold) >= maxTickets {
		return "", &control.Error{Code: http.StatusTooManyRequests, Text: "too many tickets wait to be used"}
	}
	if t.sold == nil {
		t.sold = map[string]ticket{}
	}
	id := rand.Text()
	t.sold[id] = ticket{to, now.Add(validTicket)}
	return id, nil
}

// take returns what a ticket is for, which is then used up.
func (t *tickets) take(id string) (to string, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	found, ok := t.sold[id]
	delete(t.sold, id)
	return found.to, ok && time.Now().Before(found.until)
}

// enter leads whoever has a ticket to the application, with the token: so that the token
// does not stand in the arguments of a program, where other users see it.
func (d *Desk) enter(w http.ResponseWriter, r *http.Request) {
	to, ok := d.tickets.take(r.PathValue("ticket"))
	if !ok || to != entrance {
		http.NotFound(w, r)
		return
	}
	http.Redirect(w, r, "/#token="+d.token, http.StatusSeeOther)
}

const entrance = "/"

// Entrance is an address that leads to the application once, within a minute.
func (d *Desk) Entrance() (string, error) {
	id, err := d.tickets.sell(entrance)
	u := d.address()
	u.Path = "/enter/" + id
	return u.String(), err
}
