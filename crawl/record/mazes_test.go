package record

import (
	"fmt"
	"testing"

	"github.com/sumi-ripple/ripple/crawl/maze"
	"github.com/sumi-ripple/ripple/schema"
)

func newMazes(run schema.RunID) *mazes {
	return &mazes{in: &runState{run: schema.Run{ID: run}}, seen: map[schema.HostID]*trails{}}
}

// The trails in memory are bounded, whatever hosts add to them. Those of the latest visited hosts are kept.
func TestTrailsAreBounded(t *testing.T) {
	t.Parallel()
	m := newMazes(1)
	for id := range schema.HostID(200) {
		m.of(id) // all hosts are known before their prefixes
	}
	for id := range schema.HostID(200) {
		for i := range mostTrails {
			m.trail(m.of(id), fmt.Sprintf("/%d", i))
		}
		m.of(0)
	}
	total := 0
	for _, of := range m.seen {
		total += 1 + len(of.byPrefix)
	}
	if total > allTrails || total != m.count || m.order.Len() != len(m.seen) {
		t.Errorf("%d trails, %d counted, %d hosts in order of %d", total, m.count, m.order.Len(), len(m.seen))
	}
	for _, id := range []schema.HostID{0, 199, 190} {
		if m.seen[id] == nil {
			t.Errorf("host %d was forgotten", id)
		}
	}
	if m.seen[1] != nil {
		t.Error("the host that was visited least recently is kept")
	}
}

// A later run forgets the trails of the earlier one.
func TestTrailsOfLaterRun(t *testing.T) {
	t.Parallel()
	m := newMazes(1)
	for range 3 {
		of := m.of(7)
		m.trail(of, "/a")
		if m.count != 2 || len(m.seen) != 1 || m.order.Len() != 1 {
			t.Errorf("run %d: %d trails of %d hosts", m.in.run.ID, m.count, len(m.seen))
		}
		m.in.run.ID++
	}
}

// A host with many prefixes gets trails for later ones. Trails that can be judged are kept.
func TestTrailMakesRoom(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		pages int
		want  bool
	}{
		{"few pages", 3, true},
		{"too few for a judgement", maze.Window - 1, true},
		{"enough for a judgement", maze.Window, false},
	} {
		m := newMazes(1)
		of := m.of(1)
		for i := range mostTrails {
			of.whole.Pages++
			m.trail(of, fmt.Sprintf("/%d", i)).Pages = tt.pages
		}
		of.whole.Pages++
		m.trail(of, "/0")
		if got := m.trail(of, "/late") != nil; got != tt.want {
			t.Errorf("%s: followed is %v", tt.name, got)
		}
		if tt.want && (of.byPrefix["/1"] != nil || of.byPrefix["/0"] == nil) {
			t.Errorf("%s: the prefix least recently seen is not the one that made room", tt.name)
		}
		if len(of.byPrefix) != mostTrails || m.count != 1+mostTrails {
			t.Errorf("%s: %d trails, %d counted", tt.name, len(of.byPrefix), m.count)
		}
	}
}

// A host cannot have its log read for ever: after some suspicions no further one is checked.
func TestSuspicionsAreBounded(t *testing.T) {
	t.Parallel()
	m := newMazes(1)
	of := m.of(1)
	of.checks = mostChecks
	one := m.trail(of, "/a")
	for range maze.Window {
		one.Add(&maze.Page{SimHash: 1, Words: []uint32{1}, Below: 20, New: 4})
	}
	if one.Suspicion() == maze.None {
		t.Fatal("no suspicion")
	}
	h := &schema.Host{}
	if found, err := m.judge(h, of, "/a", &one.Trail); found || err != nil || len(h.Mazes) > 0 { // without a log to read
		t.Errorf("found %v, error %v", found, err)
	}
}
