package crawl

import (
	"fmt"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/schema"
)

// BenchmarkSchedule offers the next of many hosts, sends its step and applies the effect that
// returns it, without the channels. The number of waiting steps must not matter.
func BenchmarkSchedule(b *testing.B) {
	for _, bm := range []struct{ hosts, waiting int }{{100_000, 1}, {100_000, 4}, {10_000, 1}, {10_000, 40}} {
		b.Run(fmt.Sprintf("hosts=%d/waiting=%d", bm.hosts, bm.waiting), func(b *testing.B) {
			start := time.Now()
			var effects []ring.Effect
			for i := range bm.hosts {
				e := ring.Effect{
					Host: schema.HostID(i + 1), Address: fmt.Sprint(i / 10), Priority: uint8(i % 5), Limit: 1,
					Ready: start.Add(time.Duration(i) * time.Second / time.Duration(bm.hosts)),
				}
				for range bm.waiting {
					e.Steps = append(e.Steps, ring.Step{Kind: ring.Get, Host: e.Host})
				}
				effects = append(effects, e)
			}
			s := knowing(schedulerConfig{Slots: 64, AddressGap: time.Microsecond, MaxUncommitted: 1024}, effects)
			for i := range effects {
				effects[i].Steps, effects[i].Closed = effects[i].Steps[:1:1], 1
			}
			steps, now := make(chan ring.Step), start
			b.ReportAllocs()
			for b.Loop() {
				step, to := s.nextStep(now, steps)
				for to == nil {
					now, _ = s.pacer.NextTime()
					step, to = s.nextStep(now, steps)
				}
				s.handedOver(&step, now)
				s.share.Give(step.Standing)
				e := &effects[step.Host-1]
				e.Ready = now.Add(time.Second)
				if err := s.receive(ring.Effects{List: effects[step.Host-1 : step.Host], Settled: 1}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkRing sends steps through the channels: it measures the cost of a request in the ring,
// without making it.
func BenchmarkRing(b *testing.B) {
	steps, effects, wakes := make(chan ring.Step), make(chan ring.Effects), make(chan ring.Wake)
	var initial []ring.Effect
	for i := range 1000 {
		initial = append(initial, ring.Effect{Host: schema.HostID(i + 1), Limit: 1,
			Steps: []ring.Step{{Kind: ring.Get}}})
	}
	s := knowing(schedulerConfig{Slots: 64, MaxUncommitted: 1024}, initial)
	ended := make(chan error, 1)
	go func() { ended <- s.run(b.Context(), steps, effects, wakes, nil) }()
	b.ReportAllocs()
	for b.Loop() {
		step := <-steps
		s.share.Give(step.Standing)
		effects <- ring.Effects{List: []ring.Effect{{Host: step.Host, Limit: 1, Closed: 1, Steps: []ring.Step{step}}},
			Settled: 1}
	}
	close(effects)
	if err := <-ended; err != nil {
		b.Fatal(err)
	}
}
