package fetch

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"sync"
	"time"
)

// The Go resolver tells no TTL. Five minutes are a common one, and spare a host
// that is asked once a minute most look-ups; a failed connect forgets the answer
// earlier. That a name does not exist is believed for a minute; other failures
// are not kept, since they are retried after seconds.
const (
	positiveTTL  = 5 * time.Minute
	negativeTTL  = time.Minute
	maxAddresses = 8
	maxNames     = 8192 // per generation of the cache
)

type lookupFunc func(ctx context.Context, host string) ([]netip.Addr, error)

// A resolver remembers answers. Callers who ask for one name at the same time
// share one look-up.
type resolver struct {
	lookup  lookupFunc
	timeout time.Duration
	ttl     time.Duration

	mu    sync.Mutex
	names map[string]*record
	old   map[string]*record // the generation before, dropped when names is full
}

// A record is written by the goroutine that made it, until done is closed.
type record struct {
	done    chan struct{}
	addrs   []netip.Addr
	err     *Error
	expires time.Time
}

func systemLookup(r *net.Resolver) lookupFunc {
	if r == nil {
		r = new(net.Resolver)
	}
	return func(ctx context.Context, host string) ([]netip.Addr, error) {
		// The dot keeps the search list of resolv.conf out. A name of one label
		// is no public one, and /etc/hosts knows it only without.
		if strings.Contains(host, ".") && !strings.HasSuffix(host, ".") {
			host += "."
		}
		return r.LookupNetIP(ctx, "ip", host)
	}
}

// resolve returns up to 8 addresses, families taking turns.
func (r *resolver) resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	if a, ok := literal(host); ok {
		return []netip.Addr{a}, nil
	}
	for {
		a, mine := r.record(host)
		if mine {
			r.fill(ctx, host, a)
		}
		select {
		case <-a.done:
		case <-ctx.Done():
			return nil, &Error{Cause: Cancelled, Op: "resolve", Err: context.Cause(ctx)}
		}
		switch {
		case a.err == nil:
			return a.addrs, nil
		case a.err.Cause == Cancelled && ctx.Err() == nil:
			continue // whoever asked went away, not we
		}
		return nil, a.err
	}
}

// record returns the entry of a host, and whether the caller has to fill it.
func (r *resolver) record(host string) (a *record, mine bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	a = r.names[host]
	if a == nil {
		a = r.old[host]
	}
	if a != nil {
		select {
		case <-a.done:
			if time.Now().Before(a.expires) {
				r.put(host, a)
				return a, false
			}
		default:
			return a, false
		}
	}
	a = &record{done: make(chan struct{})}
	r.put(host, a)
	return a, true
}

func (r *resolver) put(host string, a *record) {
	if len(r.names) >= maxNames || r.names == nil {
		r.old, r.names = r.names, make(map[string]*record)
	}
	r.names[host] = a
}

func (r *resolver) fill(ctx context.Context, host string, a *record) {
	defer close(a.done)
	inner, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	addrs, err := r.lookup(inner, host)
	if err == nil && len(addrs) == 0 {
		err = &net.DNSError{Err: "no addresses", Name: host, IsNotFound: true}
	}
	if err != nil {
		a.err = &Error{Cause: dnsCause(ctx, err), Op: "resolve", Err: err}
		if a.err.Cause == NXDomain {
			a.expires = time.Now().Add(min(negativeTTL, r.ttl))
		}
		return
	}
	a.addrs, a.expires = take(addrs, maxAddresses), time.Now().Add(r.ttl)
}

// forget drops what is known of a host.
func (r *resolver) forget(host string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, names := range []map[string]*record{r.names, r.old} {
		if a := names[host]; a != nil {
			select {
			case <-a.done:
				delete(names, host)
			default:
			}
		}
	}
}

func dnsCause(ctx context.Context, err error) Cause {
	var dns *net.DNSError
	switch {
	case ctx.Err() != nil:
		return Cancelled
	case errors.As(err, &dns) && dns.IsNotFound:
		return NXDomain
	}
	return DNSTemporary
}

// take returns at most n addresses, the families in turn, beginning with the
// family of the first: a name with eight dead IPv6 addresses keeps its IPv4.
func take(addrs []netip.Addr, n int) []netip.Addr {
	var lists [2][]netip.Addr
	for _, a := range addrs {
		a = a.Unmap()
		side := 0
		if a.Is4() != addrs[0].Unmap().Is4() {
			side = 1
		}
		if len(lists[side]) < n {
			lists[side] = append(lists[side], a)
		}
	}
	out := make([]netip.Addr, 0, n)
	for i := 0; i < n; i++ {
		for _, list := range lists {
			if i < len(list) && len(out) < n {
				out = append(out, list[i])
			}
		}
	}
	return out
}
