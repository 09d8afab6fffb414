package lease

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A schedule is the history of three nodes that always want the same shard.
type schedule struct {
	*world
	goesBack bool // the bucket may return to an old state; then no node may skip the watch
	timing   Timing
	nodes    []*node
	mu       sync.Mutex
	holds    map[*node]*Lease
	taken    int
	faults   map[string]int
}

func newSchedule(seed uint64, timing Timing) *schedule {
	s := &schedule{
		world: newWorld(seed), goesBack: seed%3 == 0, timing: timing,
		holds: map[*node]*Lease{}, faults: map[string]int{},
	}
	s.trouble = true
	for i := range 3 {
		n := s.node(fmt.Sprint("n", i))
		n.rate = 0.95 + float64(s.below(100))/1000
		s.nodes = append(s.nodes, n)
	}
	return s
}

// live makes a node take the shard repeatedly until ctx is done.
func (s *schedule) live(ctx context.Context, n *node) {
	claim := n.claim(&paperFile{any: true}, n.name)
	claim.Timing, claim.Founded = s.timing, "1"
	if s.goesBack {
		claim.FileID = ""
	}
	for ctx.Err() == nil {
		l, err := Take(ctx, claim)
		if err != nil {
			_ = pause(ctx, time.Second)
			continue
		}
		s.mu.Lock()
		s.holds[n] = l
		s.taken++
		s.mu.Unlock()
		until, cancel := context.WithTimeout(ctx, time.Duration(s.below(int64(3*time.Minute))))
		err = l.Keep(until)
		cancel()
		if s.goesBack || s.chance(2) && !errors.Is(err, ErrLost) {
			l.end() // like a killed process
			continue
		}
		_ = l.Release(ctx)
	}
}

// holders returns the nodes that trust their lease now, or would if they checked.
func (s *schedule) holders() (names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for n, l := range s.holds {
		if !n.isHalted() && !l.ended.Load() && s.timing.trusts(*l.trust.Load(), n.reading()) {
			names = append(names, n.name)
		}
	}
	return names
}

// harm causes a fault in a node or in the bucket.
func (s *schedule) harm() {
	n := s.nodes[s.below(int64(len(s.nodes)))]
	long := time.Duration(s.below(int64(time.Minute)))
	kinds := []struct {
		name string
		do   func()
	}{
		{"reconnect", n.reconnect},
		{"away", func() { n.leave(long) }},
		{"freeze", func() { n.freeze(long) }},
		{"short freeze", func() { n.freeze(long / 4) }},
		{"halt", func() { n.halt(long) }},
		{"clock ahead", func() { n.set(time.Hour) }}, // hides no halt: one that shows no jump is not covered
		{"clock behind", func() { n.set(-time.Hour) }},
		{"wipe", s.lose},
	}
	kind := kinds[s.below(int64(len(kinds)))]
	if ends := strings.HasPrefix(kind.name, "clock") || kind.name == "wipe"; ends && !s.chance(3) {
		return // otherwise no lease would ever grow old
	}
	kind.do()
	s.faults[kind.name]++
}

// lose wipes the bucket, or restores an old state.
func (s *schedule) lose() {
	switch {
	case !s.goesBack:
		s.wipe()
	case s.chance(2):
		s.copy()
		return
	default:
		s.putBack()
	}
	for _, n := range s.nodes { // the server was away
		n.reconnect()
	}
}

// run runs for the given time, and returns an error with the first moment at which two nodes held the shard.
func (s *schedule) run(t *testing.T, length time.Duration) error {
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for _, n := range s.nodes {
		all.Go(func() { s.live(ctx, n) })
	}
	all.Go(func() {
		for ctx.Err() == nil {
			_ = pause(ctx, time.Duration(s.below(int64(20*time.Second))))
			s.harm()
		}
	})
	var found error
	for end := time.Now().Add(length); found == nil && time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if names := s.holders(); len(names) > 1 {
			found = fmt.Errorf("after %s %v hold the shard", time.Since(s.start), names)
		}
	}
	cancel()
	all.Wait()
	time.Sleep(time.Minute) // let pending messages end
	return found
}

// However messages, clocks, processes and the bucket fail, no two nodes hold the shard, and some node gets it
// now and then.
func TestHoldsNeverOverlap(t *testing.T) {
	count := 200
	if os.Getenv("RIPPLE_PROOF") == "full" {
		count = 1000
	}
	taken, faults := 0, map[string]int{}
	for seed := range count {
		synctest.Test(t, func(t *testing.T) {
			s := newSchedule(uint64(seed), Of(25*time.Second))
			if err := s.run(t, 10*time.Minute); err != nil {
				t.Errorf("schedule %d: %v", seed, err)
			}
			if s.taken == 0 {
				t.Errorf("schedule %d: nobody has ever got the shard", seed)
			}
			taken += s.taken
			for name, n := range s.faults {
				faults[name] += n
			}
		})
	}
	if len(faults) != 8 {
		t.Errorf("only %v went wrong", faults)
	}
	t.Logf("%d schedules: taken %d times, faults: %v", count, taken, faults)
}

// A watch that is too short is detected: the test above can see a violation.
func TestShortWatchIsFound(t *testing.T) {
	timing := Of(25 * time.Second)
	timing.Watch = timing.Trust - 10*time.Second
	for seed := range uint64(20) {
		var err error
		synctest.Test(t, func(t *testing.T) { err = newSchedule(seed, timing).run(t, 10*time.Minute) })
		if err != nil {
			return
		}
	}
	t.Error("nobody notices")
}
