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

// resolve looks an address up, so that hosts of one address share its clock. A
// failure is left to the request that follows, which meets it too.
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

// maxMoves is how often a step follows its server from one address to another: as
// often as it may have addresses.
const maxMoves = 8

// move gives a step back, to be sent under the clock of an address.
func move(step ring.Step, address string) ring.Outcome {
	return ring.Outcome{Step: step, Moved: true, Address: address, FirstByte: step.Sent, Done: step.Sent,
		RetryAfter: -1, Length: -1}
}

// clocked reports whether the addresses of the host that a step asks have clocks.
func clocked(step ring.Step) bool {
	s := step.Settings
	return s.Config.Politeness.MinimumTimePerAddress > 0 && !s.Exempt(weburl.Host(step.URL))
}

// mayAsk is what lets a request on to another address than that of its step: that
// one's clock, which starts with it. nil: it may go to any.
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

// inTurn waits until a step may be sent under the clocks of its host and its address, and reports whether it may.
// It was their turn when the step was handed over: a name server may have taken long since, and others
// come in between. It gives up after some of them, and where ctx is done.
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

// addressTurn is inTurn for the clock of the address, which began when the step was handed over.
func (v *visitors) addressTurn(ctx context.Context, step *ring.Step) bool {
	if step.Address == "" || !clocked(*step) {
		return true
	}
	gap := step.Settings.Config.Politeness.MinimumTimePerAddress
	return v.clocks.Restart(step.Address, gap, step.Sent, time.Now()) ||
		turn(ctx, func(now time.Time) (time.Time, bool) { return v.clocks.Ask(step.Address, gap, now) })
}

// maxTurns is how many others a step that was held up lets go first, while it takes a slot, before it
// is handed over anew.
const maxTurns = 5

// turn asks until it is told that it may, or maxTurns times, or until ctx is done.
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

// unheard reports whether nothing was heard at the address that was asked. Its host is asked at its next one then.
func unheard(o *ring.Outcome) bool {
	return o.Cause == fetch.TLSTimeout || o.Cause == fetch.Timeout || o.Cause == fetch.Reset && o.Status == 0 && !o.Stale
}

// deaf reports whether name servers are silent, as the server of an outcome is: then it
// is hardly that one's fault.
func deaf(ctx context.Context, o *ring.Outcome) bool {
	s := o.Step.Settings
	switch o.Cause {
	case fetch.ConnectTimeout, fetch.TLSTimeout, fetch.Timeout:
		return !s.Exempt(weburl.Host(o.Step.URL)) && s.Client.Deaf(ctx)
	}
	return false
}

// elsewhere returns the address that a step's server is at, if the step was sent
// under the clock of none of its addresses: a host may answer only as www., its name
// may not have been found before, or it may have moved. Else it returns the address behind that of the step, of those
// that have clocks. It waits for the name server outside of the time that the server has, also where addresses have no
// clocks.
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
