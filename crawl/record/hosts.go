package record

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sumi-ripple/ripple/crawl/clock"
	"github.com/sumi-ripple/ripple/crawl/judge"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/crawl/webhook"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/scope"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// hosts owns the durable hosts, the live hosts, and the list of hosts that a turn must plan.
type hosts struct {
	in        *runState
	walk      start // under this configuration
	process   start
	recreated time.Time // when the file replaced a lost one; zero: it did not
	live      liveHosts
	listed    []hostFacts // by host id

	gone    []webhook.Host                 // given up in this turn
	walled  []webhook.Host                 // also in gone: given up for showing walls
	lost    []schema.HostID                // also in gone: out of reach, with sitemaps still to be replaced
	loaded  map[schema.HostID]*schema.Host // brought up to date in this turn
	marks   map[schema.HostID]*mark
	touched []schema.HostID // to be planned, in the order of the first touch
	names   map[string]schema.HostID

	lastName string // looked for in names
	lastHost schema.HostID
}

// A start is the time at which requests began, and the largest host id that was known then.
type start struct {
	at    time.Time
	known schema.HostID
}

// A mark holds what a turn notes about a host that it touches.
type mark struct {
	closed int  // requests that it settles
	revoke bool // take back the steps not yet sent
	woken  bool
	dirty  bool // in touched, and not planned since
}

// hostFacts holds what the lists say about a host, and how it was named.
type hostFacts struct {
	known bool
	class schema.Class
	own   bool // of an origin
	named naming
}

// A naming says whether the durable host has HTTPS set, as far as known. Only [hosts.seenHTTPS] sets it.
type naming uint8

const (
	namedUnknown naming = iota
	namedPlain
	namedHTTPS
)

func namingOf(h *schema.Host) naming {
	if h.HTTPS {
		return namedHTTPS
	}
	return namedPlain
}

// begin discards the state of the previous turn.
func (h *hosts) begin() {
	h.loaded, h.marks = map[schema.HostID]*schema.Host{}, map[schema.HostID]*mark{}
	h.names, h.lastName, h.lastHost = map[string]schema.HostID{}, "", 0
	h.touched, h.gone, h.walled, h.lost = h.touched[:0], nil, nil, nil
}

// touch marks a host to be planned before the turn ends.
func (h *hosts) touch(id schema.HostID) *mark {
	m := h.marks[id]
	if m == nil {
		m = &mark{}
		h.marks[id] = m
	}
	if !m.dirty {
		m.dirty = true
		h.touched = append(h.touched, id)
	}
	return m
}

// load returns the durable host. Counters of an earlier run and queues of an earlier generation are cleared. A caller
// that changes the host must call put.
func (h *hosts) load(id schema.HostID) (*schema.Host, error) {
	if host := h.loaded[id]; host != nil {
		return host, nil
	}
	host, err := h.in.tx.Hosts.At(id)
	if err != nil {
		return nil, err
	}
	h.loaded[id] = host
	clock.Clamp(h.in.set.Config, host, h.in.now)
	if host.BeginRun(h.in.run.ID) || clock.Revive(h.in.set.Config, host) {
		h.put(host)
	}
	if host.Generation != h.in.store.Generation() {
		if err := h.in.tx.Frontier.Reset(host); err != nil {
			return nil, err
		}
		refused := !h.facts(id).class.Visitable()
		host.Retries = slices.DeleteFunc(slices.Clone(host.Retries), func(r schema.Retry) bool {
			return refused || h.in.leftBefore(r.URL) // it is queued again if still wanted
		})
		h.put(host)
	}
	return host, nil
}

// put writes a host with the commit.
func (h *hosts) put(host *schema.Host) { h.in.tx.Hosts.Put(host) }

// change loads a host that is to be changed and planned.
func (h *hosts) change(id schema.HostID) (*schema.Host, error) {
	host, err := h.load(id)
	if err == nil {
		h.put(host)
		h.touch(id)
	}
	return host, err
}

// giveUp ends the requests to a host in this run. Its waiting pages keep their place for the next one.
func (h *hosts) giveUp(host *schema.Host, how schema.GiveUp, why schema.Reason) {
	if host.RunGivenUp != schema.NotGivenUp {
		return
	}
	host.RunGivenUp, host.RunGivenUpAt, host.RunGivenUpWhy = how, host.RunRequests, why
	h.put(host)
	h.touch(host.ID).revoke = true
	if how == schema.GaveUpConnection && host.SitemapFiles+host.SitemapOthers > 0 {
		h.lost = append(h.lost, host.ID)
	}
	told := webhook.Host{Domain: host.Name, Reason: why.String(), Requests: host.RunGivenUpAt}
	if h.gone = append(h.gone, told); how == schema.GaveUpWall {
		h.walled = append(h.walled, told)
	}
	if how == schema.GaveUpWall && h.facts(host.ID).own {
		h.in.log.Warn("an origin shows walls instead of pages", "host", host.Name, "reason", why.String(),
			"requests", host.RunGivenUpAt)
	}
	h.in.log.Debug("host given up", "host", host.Name, "reason", why.String(), "requests", host.RunGivenUpAt)
}

// giveUpUnreached gives up a host that could not be reached three times in a row. last is the reason of the last
// failure.
func (h *hosts) giveUpUnreached(host *schema.Host, last schema.Reason) {
	if clock.OutOfReach(host) {
		h.giveUp(host, schema.GaveUpConnection, schema.Reason{Cause: schema.CauseConnections, Detail: last.String()})
	}
}

// throttle follows an answer that asks for a suspension, or ends one. An answer that merely lets a visit continue does
// not end it: the next answer that asks for a suspension counts as one in a row.
func (h *hosts) throttle(host *schema.Host, o *ring.Outcome) {
	switch {
	case judge.Throttled(o):
		if why := clock.Throttle(h.in.set.Config, host, o); why != (schema.Reason{}) {
			h.giveUp(host, schema.GaveUpRateLimit, why)
		}
	case !judge.Undecided(o):
		clock.Unthrottle(host, o)
	}
}

// recall reads when the file replaced a lost one. That time is at most the start of the process.
func (h *hosts) recall() error {
	text, err := h.in.tx.Meta.Value(kv.MetaRecreatedAt)
	if err != nil || text == nil {
		return err
	}
	if err := h.recreated.UnmarshalText(text); err != nil {
		return fmt.Errorf("when the file was recreated: %w", err)
	}
	if h.recreated.After(h.in.started) {
		h.recreated = h.in.started
	}
	return nil
}

// earliest returns when the delay of a host allows the next request. live is nil if nothing about the host is in
// memory. A host that may have had requests under a lost file gets the longest suspension that it may have asked for.
func (h *hosts) earliest(host *schema.Host, live *liveHost) time.Time {
	ready := h.rested(host, live)
	if h.recreated.IsZero() || !host.LastByte.IsZero() {
		return ready
	}
	rest := max(h.in.set.Config.Politeness.MaxSuspension, clock.Rest(h.in.set.Config, host))
	if rested := h.recreated.Add(rest); rested.After(ready) {
		return rested
	}
	return ready
}

// rested is earliest without regard to a lost file.
func (h *hosts) rested(host *schema.Host, live *liveHost) time.Time {
	var ready time.Time
	if live != nil {
		ready = live.ready
	}
	since := h.walk
	if host.LastByte.IsZero() { // it had no request in a walk that came to its end
		since = h.process
	}
	if host.ID > since.known {
		return ready
	}
	rested := since.at.Add(clock.Rest(h.in.set.Config, host))
	switch {
	case ready.IsZero(): // perhaps requested just before a kill
		return rested
	case live.inherited: // under a configuration that may have promised a shorter delay
		if promised := clock.Ready(h.in.set.Config, host); promised.Before(rested) {
			rested = promised
		}
		if rested.After(ready) {
			return rested
		}
	}
	return ready
}

// find returns the id of a host; 0: it is new.
func (h *hosts) find(name string) (schema.HostID, error) {
	if name == h.lastName { // most links of a page lead to the same host
		return h.lastHost, nil
	}
	id, ok := h.names[name]
	if !ok {
		var err error
		if id, _, err = h.in.tx.Hosts.Lookup(name); err != nil || id == 0 {
			return 0, err
		}
		h.names[name] = id
	}
	h.lastName, h.lastHost = name, id
	return id, nil
}

// identify returns the id of a host, and records it if it is new.
func (h *hosts) identify(name string) (schema.HostID, error) {
	id, err := h.find(name)
	if err != nil || id != 0 {
		return id, err
	}
	host, err := h.in.tx.Hosts.Add(name)
	if err != nil {
		return 0, err
	}
	h.tellUncovered(name)
	h.names[name] = host.ID
	return host.ID, nil
}

// foreignName reports whether a host belongs to another shard. The host need not be recorded.
func (h *hosts) foreignName(name string) (bool, error) {
	id, err := h.find(name)
	if err != nil || id == 0 {
		return h.in.store.ForeignName(name), err
	}
	return h.in.store.Foreign(id), nil
}

// visitable reports whether the lists allow a visit to a URL.
func (h *hosts) visitable(id schema.ID) (bool, error) {
	ok := h.facts(h.in.store.HostOf(id)).class.Visitable()
	if !ok || !h.in.set.Scope.HasURLRules() {
		return ok, nil
	}
	norm, err := h.in.tx.URLs.Norm(id)
	return err == nil && h.in.set.Scope.Classify(norm).Class.Visitable(), err
}

// mark queues a foreign URL to be reported to its shard, unless the lists refuse it.
func (h *hosts) mark(id schema.ID) error {
	ok, err := h.visitable(id)
	if ok {
		h.in.tx.Outbox.Mark(id)
	}
	return err
}

// seenHTTPS notes that a host was named with https, and reports whether that is new.
func (h *hosts) seenHTTPS(id schema.HostID) (bool, error) {
	if int(id) < len(h.listed) && h.listed[id].named == namedHTTPS {
		return false, nil
	}
	host, err := h.in.tx.Hosts.At(id)
	if err != nil {
		return false, err
	}
	again := host.HTTPS
	if !again {
		host.HTTPS = true
		h.put(host)
	}
	h.facts(id)
	h.listed[id].named = namedHTTPS
	return !again, nil
}

// namedHTTPS reports whether a host was ever named with https, as seen by a read-only transaction.
func (h *hosts) namedHTTPS(tx *kv.Tx, id schema.HostID) (bool, error) {
	for int(id) >= len(h.listed) {
		h.listed = append(h.listed, hostFacts{})
	}
	f := &h.listed[id]
	if f.named == namedUnknown {
		host, err := tx.Hosts.At(id)
		if err != nil {
			return false, err
		}
		f.named = namingOf(host)
	}
	return f.named == namedHTTPS, nil
}

// facts returns what the lists say about a host.
func (h *hosts) facts(id schema.HostID) hostFacts {
	for int(id) >= len(h.listed) {
		h.listed = append(h.listed, hostFacts{})
	}
	if f := h.listed[id]; f.known {
		return f
	}
	name, err := h.in.tx.Hosts.Name(id)
	if err != nil {
		return hostFacts{}
	}
	f := factsOf(h.in.set.Scope, name)
	f.named = h.listed[id].named
	h.listed[id] = f
	return f
}

// vouches reports whether a link of a page makes its target the target host's own. On the page's own host it does if
// the page itself is the host's own; on a host of no origin, if the page belongs to an origin.
func (h *hosts) vouches(page schema.ID, to schema.HostID) bool {
	from := h.in.store.HostOf(page)
	if from == to {
		return h.in.store.Own(page)
	}
	return h.facts(from).own && !h.facts(to).own
}

// vouch notes that a host is named by its own site or by an origin. It then gets a place of max-subdomains before
// hosts that only other sites name. It is planned again, because it may have waited for such a place.
func (h *hosts) vouch(id schema.HostID) error {
	if h.in.set.Config.Crawler.MaxSubdomains <= 0 || h.in.store.Foreign(id) {
		return nil
	}
	host, err := h.load(id)
	if err != nil || host.Vouched {
		return err
	}
	host.Vouched = true
	_, err = h.change(id)
	return err
}

// vouchFrom vouches for a host to which a page links, if the page belongs to an origin, or is the own page of a host
// of the same origin. An origin does not vouch for hosts of other origins.
func (h *hosts) vouchFrom(page schema.ID, to schema.HostID) error {
	from := h.in.store.HostOf(page)
	if from == to || !h.facts(from).own || h.in.set.Config.Crawler.MaxSubdomains <= 0 {
		return nil
	}
	if h.facts(to).own {
		if !h.in.store.Own(page) {
			return nil
		}
		shared, err := h.shareOrigin(from, to)
		if err != nil || !shared {
			return err
		}
	}
	return h.vouch(to)
}

// shareOrigin reports whether two hosts belong to the same origin.
func (h *hosts) shareOrigin(a, b schema.HostID) (bool, error) {
	first, err := h.in.tx.Hosts.Name(a)
	if err != nil {
		return false, err
	}
	second, err := h.in.tx.Hosts.Name(b)
	origins := h.in.set.Scope.OriginsOf(second)
	return slices.ContainsFunc(h.in.set.Scope.OriginsOf(first), func(n int) bool {
		return slices.Contains(origins, n)
	}), err
}

func factsOf(terr *scope.Scope, host string) hostFacts {
	return hostFacts{known: true, class: terr.HostClass(host).Class, own: len(terr.OriginsOf(host)) > 0}
}

// tellUncovered logs at once that a link leads to a subdomain of an origin that no entry covers.
func (h *hosts) tellUncovered(name string) {
	terr := h.in.set.Scope
	if len(terr.OriginsOf(name)) > 0 || !terr.HostClass(name).Class.Visitable() {
		return
	}
	for parent := name; ; {
		_, rest, ok := strings.Cut(parent, ".")
		if !ok || rest == weburl.Site(rest) && len(terr.OriginsOf(rest)) == 0 {
			return
		}
		if parent = rest; len(terr.OriginsOf(parent)) > 0 {
			h.in.log.Info("a subdomain of an origin is not covered", "host", name, "pattern", "*."+parent)
			return
		}
	}
}

// inRetry reports whether a URL waits for a retry.
func inRetry(h *schema.Host, id schema.ID) bool {
	return slices.ContainsFunc(h.Retries, func(r schema.Retry) bool { return r.URL == id })
}

// leaveRetry removes a URL from the retries of a host, and reports whether it was there.
func leaveRetry(h *schema.Host, id schema.ID) bool {
	waiting := len(h.Retries)
	h.Retries = slices.DeleteFunc(h.Retries, func(r schema.Retry) bool { return r.URL == id })
	return len(h.Retries) < waiting
}
