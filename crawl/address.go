package crawl

import (
	"context"
	"net/netip"
	"strconv"
	"time"

	"github.com/sumi-ripple/ripple/crawl/fetch"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// resolve looks up the address of a step's host, so that hosts at one address share its clock. A
// failed look-up is not reported here: the request that follows fails in the same way.
func (v *visitors) resolve(ctx context.Context, step ring.Step) ring.Outcome {
	o := ring.Outcome{Step: step, RetryAfter: -1, Length: -1}
	addresses, err := step.Settings.Client.Resolve(ctx, weburl.Host(step.URL))
	switch {
	case err != nil:
		fail(&o, err)
	case len(addresses) > 0:
		o.Address = addresses[0].String()
	}
	o.FirstByte = time.Now()
	o.Done = o.FirstByte
	return o
}

// maxMoves is how often a step may follow its server from one address to another. A host may have
// as many addresses.
const maxMoves = 8

// move returns a step to the scheduler, to be sent under the clock of an address.
func move(step ring.Step, address string) ring.Outcome {
	return ring.Outcome{Step: step, Moved: true, Address: address, FirstByte: step.Sent, Done: step.Sent,
		RetryAfter: -1, Length: -1}
}

// clocked reports whether the addresses of a step's host have clocks.
func clocked(step ring.Step) bool {
	s := step.Settings
	return s.Config.Politeness.MinimumTimePerAddress > 0 && !s.Exempt(weburl.Host(step.URL))
}

// mayAsk returns a function that reports whether a request may move to another address than that of
// its step. If it may, the clock of that address starts. nil: the request may move to any address.
func (v *visitors) mayAsk(step ring.Step) func(netip.Addr) bool {
	if !clocked(step) || v.clocks == nil {
		return nil
	}
	gap := step.Settings.Config.Politeness.MinimumTimePerAddress
	return func(a netip.Addr) bool {
		_, free := v.clocks.Ask(a.String(), gap, time.Now())
		return free
	}
}

// inTurn waits until a step may be sent under the clocks of its host and its address, and reports
// whether it may. Both clocks had run out when the step was handed over, but the name server may
// have been slow, and other requests may have come in between. inTurn gives up after maxTurns
// waits, or when ctx is done.
func (v *visitors) inTurn(ctx context.Context, step *ring.Step) bool {
	if v.clocks == nil {
		return true
	}
	if step.Gap == 0 {
		return v.addressTurn(ctx, step)
	}
	host := strconv.FormatUint(uint64(step.Host), 10)
	if !turn(ctx, func(now time.Time) (time.Time, bool) { return v.hosts.Reserve(host, step.Gap, now) }) {
		return false
	}
	if !v.addressTurn(ctx, step) {
		v.hosts.Cancel(host)
		return false
	}
	v.hosts.Start(host, step.Gap, time.Now())
	return true
}

// addressTurn is inTurn for the clock of the address, which started when the step was handed over.
func (v *visitors) addressTurn(ctx context.Context, step *ring.Step) bool {
	if step.Address == "" || !clocked(*step) {
		return true
	}
	gap := step.Settings.Config.Politeness.MinimumTimePerAddress
	return v.clocks.Restart(step.Address, gap, step.Sent, time.Now()) ||
		turn(ctx, func(now time.Time) (time.Time, bool) { return v.clocks.Ask(step.Address, gap, now) })
}

// maxTurns is how many other requests may overtake a delayed step, which occupies a slot all the while. After that the
// step goes back to the scheduler.
const maxTurns = 5

// turn calls ask until it permits the request, at most maxTurns times, or until ctx is done.
func turn(ctx context.Context, ask func(now time.Time) (again time.Time, may bool)) bool {
	for range maxTurns {
		again, may := ask(time.Now())
		if may {
			return true
		}
		select {
		case <-time.After(time.Until(again)):
		case <-ctx.Done():
			return false
		}
	}
	return false
}

// unheard reports whether the address that was tried sent nothing. The next request to the host
// then uses its next address.
func unheard(o *ring.Outcome) bool {
	return o.Cause == fetch.TLSTimeout || o.Cause == fetch.Timeout || o.Cause == fetch.Reset && o.Status == 0 && !o.Stale
}

// deaf reports whether the name servers are as silent as the server of an outcome. The server is
// then hardly to blame.
func deaf(ctx context.Context, o *ring.Outcome) bool {
	s := o.Step.Settings
	switch o.Cause {
	case fetch.ConnectTimeout, fetch.TLSTimeout, fetch.Timeout:
		return !s.Exempt(weburl.Host(o.Step.URL)) && s.Client.Deaf(ctx)
	}
	return false
}

// elsewhere returns where a step should be sent instead. If the step was sent under the clock of
// none of its server's addresses, it returns the first of them and moved: a host may answer only as
// www., its name may not have been found before, or it may have moved. Otherwise it returns the
// address after that of the step. Addresses without clocks are not returned, but their look-up is
// waited for too, so that the name server does not use up the server's time.
func elsewhere(ctx context.Context, step ring.Step) (address string, moved bool, err error) {
	host := weburl.Host(step.URL)
	if step.Moves >= maxMoves || step.Settings.Exempt(host) {
		return "", false, nil
	}
	addresses, err := step.Settings.Client.Resolve(ctx, host)
	if err != nil || len(addresses) == 0 || !clocked(step) {
		return "", false, err
	}
	for i, a := range addresses {
		if a.String() == step.Address {
			return addresses[(i+1)%len(addresses)].String(), false, nil
		}
	}
	return addresses[0].String(), true, nil
}
