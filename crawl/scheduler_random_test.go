package crawl

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/schema"
)

// A chance recorder plans hosts at random, and compares what the scheduler does with all its
// effects. A step's suspension number says under which effect it was sent.
type chance struct {
	*rand.Rand
	ring   *fakeRing
	gap    time.Duration
	random []*randomHost

	log  []admission
	errs []error
}

type randomHost struct {
	id      schema.HostID
	left    int // to be planned
	given   int // planned and not settled
	open    int
	asking  int           // of those: requests, not look-ups
	last    time.Time     // admission
	effects []ring.Effect // by suspension number
}

type admission struct {
	at      time.Time
	address string
}

func (c *chance) fail(format string, args ...any) {
	c.errs = append(c.errs, fmt.Errorf(format, args...))
}

func (c *chance) duration(most time.Duration) time.Duration {
	return time.Duration(c.Int64N(int64(most/time.Millisecond)+1)) * time.Millisecond
}

// effect plans a host. A host with work left is woken, unless an outcome will bring it back anyway.
func (c *chance) effect(h *randomHost, closed int) ring.Effect {
	e := ring.Effect{
		Host: h.id, Closed: closed,
		Ready:    time.Now().Add(c.duration(2*time.Second) - time.Second),
		Delay:    c.duration(time.Second),
		Priority: uint8(c.IntN(3)),
		Limit:    c.IntN(4),
		Failing:  c.IntN(3) == 0,
		Answered: c.IntN(2) == 0,
		Proved:   c.IntN(3) == 0,
		Revoke:   c.IntN(6) == 0,
		Address:  []string{"", "192.0.2.1", "192.0.2.2", fmt.Sprint(h.id)}[c.IntN(4)],

		Suspension: uint32(len(h.effects)),
	}
	if next := h.last.Add(e.Delay); h.asking == 0 && e.Ready.Before(next) {
		e.Ready = next // the host may have been forgotten since its last request was settled
	}
	for range min(h.left, c.IntN(4)) {
		kind := ring.Get
		if c.IntN(5) == 0 {
			kind = ring.Resolve
		}
		e.Steps = append(e.Steps, ring.Step{Kind: kind, Host: h.id})
		h.left--
		h.given++
	}
	e.Wake = h.left > 0 && (h.given == 0 || c.IntN(2) == 0)
	h.effects = append(h.effects, e)
	return e
}

func (c *chance) plan(answers []fakeAnswer, woken []ring.Wake) (list []ring.Effect) {
	for _, a := range answers {
		h := c.random[a.step.Host-1]
		h.given--
		h.open--
		if a.step.Kind != ring.Resolve {
			h.asking--
		}
		list = append(list, c.effect(h, 1))
	}
	for _, w := range woken {
		h := c.random[w.Host-1]
		h.given -= len(w.Unsent)
		h.left += len(w.Unsent)
		list = append(list, c.effect(h, 0))
	}
	if len(list) > 0 && c.IntN(4) == 0 { // a changed configuration plans many hosts again
		for _, h := range c.random {
			list = append(list, c.effect(h, 0))
		}
	}
	return list
}

func (c *chance) asked(step ring.Step) time.Duration {
	h := c.random[step.Host-1]
	e := h.effects[step.Suspension]
	now := time.Now()
	if now.Before(e.Ready) {
		c.fail("host %d is asked %v early", h.id, e.Ready.Sub(now))
	}
	if h.open++; h.open > max(1, e.Limit) {
		c.fail("host %d has %d requests open, %d are allowed", h.id, h.open, e.Limit)
	}
	if step.Kind != ring.Resolve {
		h.asking++
		if next := h.last.Add(e.Delay); e.Limit > 1 && now.Before(next) {
			c.fail("host %d is asked %v early after the last request", h.id, next.Sub(now))
		}
		h.last = now
		c.log = append(c.log, admission{now, e.Address})
	}
	return c.duration(3 * time.Second)
}

// checkAddresses finds requests to one address within the gap. Visitors of the same instant log in
// any order.
func (c *chance) checkAddresses() {
	last := map[string]time.Time{}
	for _, a := range c.log {
		if before, ok := last[a.address]; ok && a.address != "" && a.at.Sub(before) < c.gap {
			c.fail("address %s is asked again after %v", a.address, a.at.Sub(before))
		}
		last[a.address] = a.at
	}
}

// checkWork finds a host that could be requested while a visitor is free. It is called when
// everything waits.
func (c *chance) checkWork() {
	s, r := c.ring.scheduler, c.ring
	r.mu.Lock()
	defer r.mu.Unlock()
	if s.unsettled > s.cfg.MaxUncommitted {
		c.fail("%d steps are not settled", s.unsettled)
	}
	if s.asleep.Counts().Ready > 0 && !r.recording {
		c.fail("a host is not woken")
	}
	used := s.share.Used()
	if r.busy == r.slots || s.unsettled == s.cfg.MaxUncommitted {
		return
	}
	if used.Sum() != r.busy {
		c.fail("%d slots are used by %d visitors", used.Sum(), r.busy)
	}
	due := s.asleep.Due()
	for _, l := range s.lines {
		if l.open > 0 || !l.next().After(time.Now().Add(s.cfg.Soon)) {
			due[l.standing]++
		}
	}
	for id, l := range s.lines {
		better, worse := 0, used.Sum()
		free := worse < r.slots
		for bound := range l.standing {
			better, worse = better+due[bound], worse-used[bound]
			free = free && worse < r.slots-min(better, r.slots/2)
		}
		if len(l.steps) > 0 && l.open < l.limit && c.ready(l) && free {
			c.fail("host %d is not asked, %d of %d visitors are busy", id, r.busy, r.slots)
		}
	}
}

// ready reports whether the clocks of a line have passed.
func (c *chance) ready(l *line) bool {
	now := time.Now()
	if now.Before(l.ready) || l.limit > 1 && now.Before(l.asked.Add(l.delay)) {
		return false
	}
	for _, a := range c.log {
		if l.address != "" && a.address == l.address && now.Sub(a.at) < c.gap {
			return false
		}
	}
	return true
}

// A world is the input of a random test.
type world struct {
	seed                            uint64
	hosts, slots, uncommitted, each int
	gap, collect, commit, soon      time.Duration
}

// walk runs a world to its end.
func (w world) walk(t *testing.T) error {
	c := &chance{Rand: rand.New(rand.NewPCG(w.seed, 1)), gap: w.gap}
	cfg := schedulerConfig{Slots: w.slots, AddressGap: w.gap, Soon: w.soon, MaxUncommitted: w.uncommitted}
	var initial []ring.Effect
	all := 0
	for i := range w.hosts {
		h := &randomHost{id: schema.HostID(i + 1), left: c.IntN(w.each + 1)}
		all += h.left
		c.random = append(c.random, h)
		initial = append(initial, c.effect(h, 0))
	}
	control := make(chan command)
	c.ring = &fakeRing{scheduler: knowing(cfg, initial), slots: w.slots, asked: c.asked, plan: c.plan, control: control}
	pause := func(stream uint64) func(most time.Duration) time.Duration {
		own := rand.New(rand.NewPCG(w.seed, stream))
		return func(most time.Duration) time.Duration { return time.Duration(own.Int64N(int64(most) + 1)) }
	}
	recorder, checker := pause(2), pause(3)
	c.ring.linger = func() (collect, commit time.Duration) { return recorder(w.collect), recorder(w.commit) }
	ended := make(chan error, 1)
	go func() { ended <- c.ring.run(t.Context()) }()
	for start := time.Now(); time.Since(start) < 24*time.Hour; {
		time.Sleep(checker(300 * time.Millisecond))
		synctest.Wait()
		var err error
		select {
		case err = <-ended:
		default:
			c.checkWork()
			select {
			case control <- command{}: // the read above happens before the write below
				continue
			case err = <-ended:
			}
		}
		if asked := int(c.ring.scheduler.sent); asked != all {
			c.fail("%d steps were sent, want %d", asked, all)
		}
		c.checkAddresses()
		return errors.Join(append(c.errs, err)...)
	}
	panic(fmt.Sprintf("%+v does not end: %+v", w, c.ring.scheduler.status()))
}

// Whatever the recorder plans, and however slow it is: no request is early, no slot is idle while a
// host is ready, and the run ends when everything is requested.
func TestSchedulerRandom(t *testing.T) {
	ignored := goleak.IgnoreCurrent()
	rapid.Check(t, func(rt *rapid.T) {
		ms := func(most int, name string) time.Duration {
			return time.Duration(rapid.IntRange(0, most).Draw(rt, name)) * time.Millisecond
		}
		w := world{
			seed:        rapid.Uint64().Draw(rt, "seed"),
			hosts:       rapid.IntRange(1, 12).Draw(rt, "hosts"),
			slots:       rapid.IntRange(1, 6).Draw(rt, "slots"),
			uncommitted: rapid.IntRange(1, 20).Draw(rt, "uncommitted"),
			each:        rapid.IntRange(0, 30).Draw(rt, "each"),
			gap:         ms(500, "gap"), collect: ms(100, "collect"), commit: ms(1000, "commit"),
			soon: ms(3000, "soon"),
		}
		var err error
		synctest.Test(t, func(t *testing.T) { err = w.walk(t) })
		if err != nil {
			rt.Fatalf("%+v: %v", w, err)
		}
	})
	goleak.VerifyNone(t, ignored)
}
