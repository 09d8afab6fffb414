package crawl

import (
	"slices"
	"time"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// A turn is one transaction of the recorder: outcomes in, effects out. It is
// void once the transaction has ended.
type turn struct {
	*recorder
	tx      *kv.Tx
	now     time.Time
	touched []schema.HostID // in the order of the first touch
	marks   map[schema.HostID]*mark
	work    []schema.ID // pages whose depth has changed and must travel on
	names   map[string]schema.HostID
	hosts   map[schema.HostID]*schema.Host // brought up to date in this turn
	settled map[schema.ID]bool             // visits of this turn that no further form reopens

	lastName string // looked for in names
	lastHost schema.HostID
}

// A mark is what a turn notes of a host that it touches.
type mark struct {
	closed int
	revoke bool
	woken  bool
	listed bool // in touched, and not planned since
}

func (r *recorder) turn(tx *kv.Tx) (*turn, error) {
	work, err := tx.Pending()
	if err != nil {
		return nil, err
	}
	return &turn{
		recorder: r, tx: tx, now: time.Now(), work: work,
		marks: map[schema.HostID]*mark{}, names: map[string]schema.HostID{}, hosts: map[schema.HostID]*schema.Host{},
		settled: map[schema.ID]bool{},
	}, nil
}

// touch has the host planned at the end of the turn.
func (t *turn) touch(id schema.HostID) *mark {
	m := t.marks[id]
	if m == nil {
		m = &mark{}
		t.marks[id] = m
	}
	if !m.listed {
		m.listed = true
		t.touched = append(t.touched, id)
	}
	return m
}

// host returns the durable host with its counters of an earlier run, and its
// queues of an earlier generation, cleared. Whoever changes it calls PutHost.
func (t *turn) host(id schema.HostID) (*schema.Host, error) {
	if h := t.hosts[id]; h != nil {
		return h, nil
	}
	h, err := t.tx.Host(id)
	if err != nil {
		return nil, err
	}
	t.hosts[id] = h
	clampClocks(t.set.cfg, h, t.now)
	if h.Run != t.run.ID {
		h.Run = t.run.ID
		h.Admitted = false
		h.RunRequests, h.RunThrottles, h.RunVisited, h.SitemapFiles = 0, 0, 0, 0
		h.RunGivenUp, h.RunGivenUpAt, h.RunGivenUpWhy = schema.NotGivenUp, 0, ""
		h.RobotsTries, h.RobotsDue, h.RobotsCause = 0, time.Time{}, ""
		h.Failures, h.Retries = 0, nil
		t.tx.PutHost(h)
	}
	if h.Generation != t.store.Generation() {
		if err := t.tx.ResetQueues(h); err != nil {
			return nil, err
		}
		h.Retries = slices.DeleteFunc(slices.Clone(h.Retries), func(r schema.Retry) bool { return t.left(r.URL) }) // queued again if still wanted
		t.tx.PutHost(h)
	}
	return h, nil
}

// giveUp ends asking a host for this run; its waiting pages keep their place
// for the next one.
func (t *turn) giveUp(h *schema.Host, why schema.GiveUp, text string) {
	if h.RunGivenUp != schema.NotGivenUp {
		return
	}
	h.RunGivenUp, h.RunGivenUpAt, h.RunGivenUpWhy = why, h.RunRequests, text
	t.tx.PutHost(h)
	t.touch(h.ID).revoke = true
	t.log.Info("host given up", "host", h.Name, "reason", text, "request", h.RunGivenUpAt)
}

// findHost returns the id of a host; 0: it is new.
func (t *turn) findHost(name string) (schema.HostID, error) {
	if name == t.lastName { // most links of a page lead to one host
		return t.lastHost, nil
	}
	id, ok := t.names[name]
	if !ok {
		var err error
		if id, _, err = t.tx.HostByName(name); err != nil || id == 0 {
			return 0, err
		}
		t.names[name] = id
	}
	t.lastName, t.lastHost = name, id
	return id, nil
}

// hostID returns the id of a host, recorded now if it is new.
func (t *turn) hostID(name string) (schema.HostID, error) {
	id, err := t.findHost(name)
	if err != nil || id != 0 {
		return id, err
	}
	h, err := t.tx.AddHost(name)
	if err != nil {
		return 0, err
	}
	t.noticeHost(name)
	t.names[name] = h.ID
	return h.ID, nil
}

// intern returns the id of a target, recorded now if it is new. It is 0 where a
// limit keeps the target from being recorded.
func (t *turn) intern(to Target, kind schema.URLKind, referrer schema.ID) (schema.ID, error) {
	name, pathQuery := weburl.Split(to.Norm)
	host, err := t.findHost(name)
	if err == nil && host == 0 {
		if ok, err := t.siteHasRoom(name); err != nil || !ok {
			return 0, err
		}
		host, err = t.hostID(name)
	}
	if err == nil && !to.HTTP {
		err = t.seenHTTPS(host)
	}
	if err != nil {
		return 0, err
	}
	id, ok, err := t.tx.Lookup(to.Hash, host, kind, pathQuery)
	if err != nil {
		return 0, err
	}
	if !ok {
		id, err = t.addURL(to, kind, host, pathQuery, referrer)
		if err != nil || id == 0 {
			return 0, err
		}
	}
	added, err := t.tx.AddForm(id, to.Norm, to.Form)
	for _, form := range to.Forms {
		if err == nil {
			var more bool
			more, err = t.tx.AddForm(id, to.Norm, form)
			added = added || more
		}
	}
	if err == nil && added && ok && kind == schema.KindPage {
		err = t.reopen(id)
	}
	return id, err
}

// seenHTTPS notes that a host was named with https, once.
func (t *turn) seenHTTPS(id schema.HostID) error {
	if int(id) < len(t.classes) && t.classes[id].https {
		return nil
	}
	h, err := t.tx.Host(id)
	if err != nil {
		return err
	}
	if !h.HTTPS {
		h.HTTPS = true
		t.tx.PutHost(h)
	}
	t.hostFacts(id)
	t.classes[id].https = true
	return nil
}

func (t *turn) addURL(to Target, kind schema.URLKind, host schema.HostID, pathQuery string, referrer schema.ID) (schema.ID, error) {
	h, err := t.host(host)
	if err != nil {
		return 0, err
	}
	t.tx.PutHost(h)
	if limit := t.set.cfg.Traps.MaxURLsPerHost; limit > 0 && h.Known >= limit {
		h.Overflow++
		return 0, nil
	}
	h.Known++
	return t.tx.AddURL(schema.URL{
		Kind: kind, Host: host, PathQuery: pathQuery, Referrer: referrer,
		FirstSeen: t.now.Truncate(time.Second), FirstRun: t.run.ID,
	}, to.Hash)
}

// siteHasRoom holds [traps] max-hosts-per-site for a new host, unless it belongs
// to an origin.
func (t *turn) siteHasRoom(name string) (bool, error) {
	limit := t.set.cfg.Traps.MaxHostsPerSite
	if limit <= 0 || len(t.set.terrain.OriginsOf(name)) > 0 {
		return true, nil
	}
	site := weburl.Site(name)
	if site == name {
		return true, nil
	}
	n, err := t.tx.Caps(capSiteHosts, site)
	if err != nil {
		return false, err
	}
	if n >= limit {
		return false, t.tx.AddCap(capSiteOverflow, site, t.run.ID)
	}
	return true, t.tx.AddCap(capSiteHosts, site, t.run.ID)
}

// reopen queues a page once more that has not answered with 2xx, because a form
// of it was seen that was not asked yet (SPEC 3).
func (t *turn) reopen(id schema.ID) error {
	if !t.visited(id) {
		return nil
	}
	open, err := t.reopened(id)
	if err != nil || !open {
		return err
	}
	if depth, hops := t.store.Depth(id); t.within(depth, hops) {
		return t.push(id, t.priority(id, depth, false))
	}
	return nil
}

// visited reports whether a URL has a visit in this run.
func (t *turn) visited(id schema.ID) bool { return t.store.Latest(id) >= t.run.FirstVisit }

// reopened reports whether a visited page waits again for a form that was not
// known when it was visited.
func (t *turn) reopened(id schema.ID) (bool, error) {
	v, err := t.tx.Visit(t.store.Latest(id))
	if err != nil || !survey.Unanswered(v) {
		return false, err
	}
	forms, err := t.tx.Forms(id)
	return len(forms) > v.FormsKnown, err
}

// settledNow reports whether a waiting entry needs no visit any more.
func (t *turn) settledNow(id schema.ID) (bool, error) {
	if t.settled[id] {
		return true, nil
	}
	if !t.visited(id) {
		return false, nil
	}
	open, err := t.reopened(id)
	return !open, err
}

// inRetry reports whether a URL waits for another try.
func inRetry(h *schema.Host, id schema.ID) bool {
	return slices.ContainsFunc(h.Retries, func(r schema.Retry) bool { return r.URL == id })
}
