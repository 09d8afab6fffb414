package crawl

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/crawl/ring"
)

// Who has been asked and says nothing is named, until the outcome is committed.
func TestSilent(t *testing.T) {
	bubble(t, func(t *testing.T) {
		begun := time.Now()
		asked := []ring.Effect{asking(1, begun, 1), asking(2, begun.Add(time.Second), 2)}
		b := newRig(t, schedulerConfig{Slots: 9}, asked...)
		b.want("at once", 1)
		if got := b.command(commandStatus).Silent; got != nil {
			t.Errorf("silent at once: %v", got)
		}
		time.Sleep(time.Second)
		b.want("a second later", 2)
		time.Sleep(4 * time.Second)
		want := []Silence{{1, begun}, {2, begun.Add(time.Second)}}
		if diff := cmp.Diff(want, b.command(commandStatus).Silent); diff != "" {
			t.Error(diff)
		}
		b.effects <- ring.Effects{List: []ring.Effect{{Host: 1, Closed: 1}}, Settled: 1}
		if diff := cmp.Diff(want[1:], b.command(commandStatus).Silent); diff != "" {
			t.Error(diff)
		}
		b.command(commandStop)
		b.effects <- ring.Effects{Settled: 1}
		b.wantEnd(nil)
	})
}
