package crawl

import (
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/schema"
)

// Gaps are never too short and at most a millisecond too long, over 10,000 requests to 200 hosts,
// of which ten ask for a minute and twenty never answer.
func TestGaps(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var hosts []*politeHost
		for i := range 200 {
			h := &politeHost{left: 60, delay: time.Second, takes: time.Duration(5+i) * time.Millisecond,
				due: time.Now()}
			switch {
			case i < 10:
				h.left, h.delay = 10, time.Minute
			case i < 30:
				h.left, h.takes, h.silent = 8, 30*time.Second, true
			}
			h.from = time.Now().Add(2 * time.Second) // all are ready at the start, and slots are few
			hosts = append(hosts, h)
		}
		asked, settled := politeRing(t, 64, hosts)
		if want := 10*10 + 20*8 + 170*60; asked != want {
			t.Errorf("%d requests, want %d", asked, want)
		}
		for i, h := range hosts {
			if h.late > time.Millisecond {
				t.Errorf("host %d is asked %v late", i, h.late)
			}
		}
		if !time.Now().Equal(settled) {
			t.Errorf("the run ended %v after the last commit", time.Since(settled))
		}
	})
}

// Hosts that never answer get at most half of the slots: once their first requests have failed,
// they delay no other host.
func TestSilentHosts(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var hosts []*politeHost
		start := time.Now()
		for i := range 120 {
			h := &politeHost{left: 600, delay: time.Second, takes: 20 * time.Millisecond, due: start}
			if i < 20 {
				h.left, h.takes, h.silent = 4, 30*time.Second, true
				h.from = start.Add(time.Hour) // five slots for twenty hosts
			} else {
				h.from = start.Add(2 * time.Minute)
			}
			hosts = append(hosts, h)
		}
		politeRing(t, 10, hosts)
		for i, h := range hosts {
			if h.late > time.Millisecond {
				t.Errorf("host %d is asked %v late", i, h.late)
			}
		}
	})
}

// Three hundred hosts that accept connections and never answer, all met at once, delay no host that
// has answered, though none of them has failed before.
func TestSilentHostsMet(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var hosts []*politeHost
		start := time.Now()
		for range 10 {
			hosts = append(hosts, &politeHost{left: 300, delay: time.Second, takes: 20 * time.Millisecond, due: start,
				from: start})
		}
		for range 300 {
			met := start.Add(2 * time.Second)
			hosts = append(hosts, &politeHost{left: 1, delay: time.Second, takes: 30 * time.Second, silent: true,
				due: met, from: met.Add(time.Hour)})
		}
		politeRing(t, 10, hosts)
		for i, h := range hosts {
			if h.late > 100*time.Millisecond { // all ten are due together, and wait for each other once
				t.Errorf("host %d is asked %v late", i, h.late)
			}
		}
	})
}

// Hosts that are requested now and then keep few slots from thousands of new hosts: half of the
// slots only until it is known how many they use at once.
func TestManyHostsMet(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const many, known = 6000, 60
		var hosts []*politeHost
		start := time.Now()
		for range many {
			hosts = append(hosts, &politeHost{left: 1, delay: time.Second, takes: time.Second,
				due: start.Add(5 * time.Second), from: start.Add(time.Hour)})
		}
		for i := range known {
			due := start.Add(time.Duration(i) * time.Second / known)
			hosts = append(hosts, &politeHost{left: 100, delay: time.Second, takes: 20 * time.Millisecond, due: due,
				from: start})
		}
		politeRing(t, 100, hosts)
		for i, h := range hosts {
			if h.late > time.Millisecond {
				t.Errorf("host %d is asked %v late", i, h.late)
			}
		}
		var all time.Duration
		for _, h := range hosts[:many] {
			all = max(all, h.due.Add(-h.delay).Sub(start))
		}
		if all > 90*time.Second { // half of 100 slots for 25 s, then all but three
			t.Errorf("the others have answered after %v", all)
		}
	})
}

// With several requests open at a time, admissions are a full delay apart.
func TestParallel(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const (
			limit = 3
			delay = 100 * time.Millisecond
			takes = time.Second
			all   = 30
		)
		start := time.Now()
		first := ring.Effect{Host: 1, Ready: start, Delay: delay, Limit: limit}
		for i := range all {
			first.Steps = append(first.Steps, ring.Step{Kind: ring.Get, ID: schema.ID(i)})
		}
		r := &fakeRing{slots: 10}
		r.scheduler = knowing(schedulerConfig{Slots: 10, MaxUncommitted: 100}, []ring.Effect{first})
		r.linger = func() (collect, commit time.Duration) { return 0, 0 }
		var times []time.Duration
		r.asked = func(ring.Step) time.Duration {
			times = append(times, time.Since(start))
			return takes
		}
		r.plan = func(answers []fakeAnswer, _ []ring.Wake) (list []ring.Effect) {
			for _, a := range answers { // the recorder has not seen what was sent since
				list = append(list, ring.Effect{Host: 1, Ready: a.step.Sent.Add(delay), Delay: delay, Limit: limit,
					Closed: 1})
			}
			return list
		}
		if err := r.run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if len(times) != all {
			t.Fatalf("%d requests, want %d", len(times), all)
		}
		for i, got := range times {
			if want := time.Duration(i/limit)*takes + time.Duration(i%limit)*delay; got != want {
				t.Errorf("request %d at %v, want %v", i, got, want)
			}
		}
	})
}
