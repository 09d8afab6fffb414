package record

import (
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/schema"
)

// Hosts of which nothing is known but a clock that has passed are forgotten, no other.
func TestSweep(t *testing.T) {
	now, all := time.Now(), newLivings()
	for id := range schema.HostID(minSweep) {
		all.of(id + 100).ready = now.Add(-time.Second)
	}
	all.of(1).ready = now.Add(time.Second)
	all.of(2).goOn(ring.Step{})
	all.of(3).robots = true
	all.opened(all.of(4), 7)
	all.sweep(now)
	if len(all.byID) != 4 {
		t.Errorf("%d hosts are left, want 4", len(all.byID))
	}
	all.closed(all.of(4), 8)
	if all.out != 1 {
		t.Error("a step that was not out was taken back")
	}
	if all.closed(all.of(4), 7); all.out != 0 || !all.of(4).idle(now) {
		t.Error("a step that was out was not taken back")
	}
	kept := all.clocks(now)
	if len(kept.byID) != 1 || kept.byID[1] == nil {
		t.Errorf("the clocks of %d hosts are kept, want that of host 1", len(kept.byID))
	}
}
