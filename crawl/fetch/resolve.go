package fetch

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
)

// Go's resolver returns no TTL. Five minutes are common, and save most look-ups for a host that is
// requested once a minute. A failed connection removes the answer earlier. A missing name is cached
// for a minute. Other failures are not cached, since they are retried after seconds.
const (
	positiveTTL  = 5 * time.Minute
	negativeTTL  = time.Minute
	maxAddresses = 8
	maxNames     = 32 << 10 // per generation of the cache; a few hundred bytes each
)

// A home name server answers about 150 queries at a time. A look-up makes two, one per address
// family. A look-up that takes long is waiting for a remote name server, and makes room for the
// next.
const (
	maxLookups = 64
	longLookup = time.Second
)

type lookupFunc func(ctx context.Context, host string) ([]netip.Addr, error)

// A Resolver looks names up and caches answers. Concurrent calls for one name share one look-up, and clients
// may share a Resolver.
type Resolver struct {
	lookup  lookupFunc
	timeout time.Duration
	ttl     time.Duration
	asking  chan struct{} // semaphore for look-ups of new names
	hearing singleflight.Group

	mu    sync.Mutex
	known string // the last name found
	names map[string]*record
	old   map[string]*record // the previous generation, dropped when names is full
}

// A record is written by the goroutine that made it, until done is closed.
type record struct {
	done    chan struct{}
	again   bool // the name has been found before
	addrs   []netip.Addr
	err     *Error
	expires time.Time
}

// NewResolver returns a Resolver that uses r, or the system's resolver if r is nil.
func NewResolver(r *net.Resolver) *Resolver {
	if r == nil {
		r = new(net.Resolver)
	}
	return newResolver(systemLookup(watched(r)), limits{}.orDefaults())
}

func newResolver(lookup lookupFunc, l limits) *Resolver {
	return &Resolver{lookup: lookup, timeout: l.dns, ttl: l.dnsTTL, asking: make(chan struct{}, maxLookups)}
}

func systemLookup(r *net.Resolver) lookupFunc {
	return func(ctx context.Context, host string) ([]netip.Addr, error) {
		// The dot disables the search list of resolv.conf. A name of one label is not public, and /etc/hosts
		// knows it only without the dot.
		if strings.Contains(host, ".") && !strings.HasSuffix(host, ".") {
			host += "."
		}
		return lookupFamilies(ctx, func(network string) ([]netip.Addr, error) {
			return r.LookupNetIP(ctx, network, host)
		})
	}
}

// lookupFamilies looks up the addresses of both families. Their results arrive together, so a
// server that does not answer for IPv6 delays those of IPv4. After half of the time, IPv4 is
// therefore queried alone, and the first result wins.
func lookupFamilies(ctx context.Context, lookup func(network string) ([]netip.Addr, error)) ([]netip.Addr, error) {
	type found struct {
		addrs []netip.Addr
		err   error
	}
	both, ipv4 := make(chan found, 1), make(chan found, 1)
	ask := func(network string, answer chan<- found) {
		addrs, err := lookup(network)
		answer <- found{addrs, err}
	}
	go ask("ip", both)
	deadline, _ := ctx.Deadline()
	half := time.NewTimer(time.Until(deadline) / 2)
	defer half.Stop()
	select {
	case f := <-both:
		return f.addrs, f.err
	case <-half.C:
		go ask("ip4", ipv4)
	}
	select {
	case f := <-ipv4:
		if f.err == nil {
			return f.addrs, nil
		}
		f = <-both
		return f.addrs, f.err
	case f := <-both:
		return f.addrs, f.err
	}
}

// resolve returns up to 8 addresses, alternating between the families.
func (r *Resolver) resolve(ctx context.Context, host string) ([]netip.Addr, error) {
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
			continue // another caller's context ended, not ours
		}
		return nil, a.err
	}
}

// record returns the entry of a host, and whether the caller must fill it.
func (r *Resolver) record(host string) (a *record, mine bool) {
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
	a = &record{done: make(chan struct{}), again: a != nil && a.err == nil}
	r.put(host, a)
	return a, true
}

func (r *Resolver) put(host string, a *record) {
	if len(r.names) >= maxNames || r.names == nil {
		r.old, r.names = r.names, make(map[string]*record)
	}
	r.names[host] = a
}

func (r *Resolver) fill(ctx context.Context, host string, a *record) {
	defer close(a.done)
	leave, err := r.enter(ctx, a.again)
	if err != nil {
		a.err = &Error{Cause: Cancelled, Op: "resolve", Err: err}
		return
	}
	defer leave()
	var f fault
	addrs, err := r.look(ctx, host, r.timeout, &f)
	if err != nil {
		a.err = &Error{Cause: dnsCause(ctx, err), Op: "resolve", Err: err, Own: f.noted()}
		if a.err.Cause == NXDomain {
			a.expires = time.Now().Add(min(negativeTTL, r.ttl))
		} else if a.err.Cause == DNSTemporary && a.err.Own != OwnMeans {
			a.err.Own = r.fault(ctx, a.err.Own)
		}
		return
	}
	a.addrs, a.expires = interleave(addrs, maxAddresses), time.Now().Add(r.ttl)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.known = host
}

// enter waits for a turn to query a name server. A name that was found before need not wait. leave
// must be called after the answer.
func (r *Resolver) enter(ctx context.Context, again bool) (leave func(), err error) {
	if again {
		return func() {}, nil
	}
	select {
	case r.asking <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	once := sync.OnceFunc(func() { <-r.asking })
	late := time.AfterFunc(longLookup, once)
	return func() { late.Stop(); once() }, nil
}

func (r *Resolver) look(ctx context.Context, host string, timeout time.Duration, f *fault) ([]netip.Addr, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	addrs, err := r.lookup(context.WithValue(ctx, faultKey{}, f), host)
	if err == nil && len(addrs) == 0 {
		err = &net.DNSError{Err: "no addresses", Name: host, IsNotFound: true}
	}
	return addrs, err
}

// fault returns why a name could not be looked up. It looks up the name found last, and its
// top-level domain, which every recursive name server has cached. If neither gets an answer, this
// machine's name servers are silent, not those of the name.
func (r *Resolver) fault(ctx context.Context, own Own) Own {
	r.mu.Lock()
	known := r.known
	r.mu.Unlock()
	if known == "" {
		if own == OwnNetwork {
			own = OwnNoResolver
		}
		return own
	}
	// Thousands of look-ups may need this at once, more than a name server can answer.
	heard, _, _ := r.hearing.Do(known, func() (any, error) { return r.hears(ctx, known), nil })
	if heard.(bool) || ctx.Err() != nil {
		return OwnNothing
	}
	return OwnResolver
}

// hears reports whether a name server gives any answer for a name found before, or for its top-level domain.
// If ctx ends, it returns true.
func (r *Resolver) hears(ctx context.Context, known string) bool {
	var f fault
	top := known[strings.LastIndexByte(known, '.')+1:] + "."
	return r.answers(ctx, known, r.timeout/2, &f) || r.answers(ctx, top, r.timeout/4, &f) || ctx.Err() != nil
}

// answers reports whether a name server gives any answer for a name.
func (r *Resolver) answers(ctx context.Context, name string, timeout time.Duration, f *fault) bool {
	_, err := r.look(ctx, name, timeout, f)
	return err == nil || f.reachedAny() || dnsCause(ctx, err) == NXDomain
}

// forget drops the entry of a host.
func (r *Resolver) forget(host string) {
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

// Forget drops all entries. This is necessary after a change of network.
func (r *Resolver) Forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.names, r.old = nil, nil
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

// interleave returns at most n addresses, alternating between families and starting with that of
// the first. So a name with eight dead IPv6 addresses keeps its IPv4 ones.
func interleave(addrs []netip.Addr, n int) []netip.Addr {
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
