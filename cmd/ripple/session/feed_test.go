package session

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/cmd/ripple/serve"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl/census"
	"github.com/sumi-ripple/ripple/crawl/control"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
)

// A reader far behind a crawl that writes its outputs gets the visits that the crawl still holds,
// and the number of the others. Programs, which must miss none, must wait.
func TestFarBehindWrittenOutputs(t *testing.T) {
	const behind = 10
	world := surveytest.New(t, surveytest.Minimal)
	for i := range serve.KeptVisits + behind {
		world.Visit(fmt.Sprintf("a.test/%d", i), nil)
	}
	cfg := *world.Config
	cfg.State.Path = filepath.Join(t.TempDir(), "ripple.bolt")
	w := newWalk(term.NewVoice(io.Discard), "", &cfg)
	w.store = world.Store
	w.watcher = census.NewWatcher(nil, &w.cfg, world.Run)
	w.keepEnd()
	w.writing.Store(true)
	close(w.begun)
	ctx, cancel := context.WithCancel(t.Context())
	var g errgroup.Group
	w.listen(ctx, &g)
	live := &serve.LiveCrawl{Client: &control.Client{State: cfg.State.Path}}
	for since, want := range map[uint64][2]int{
		0: {serve.KeptVisits, behind}, behind: {serve.KeptVisits, 0}, behind + 1: {serve.KeptVisits - 1, 0},
	} {
		b, err := live.Feed(t.Context(), since)
		if err != nil {
			t.Errorf("after %d: %v", since, err)
			continue
		}
		if got := [2]int{len(b.Lines), int(b.Omitted)}; got != want || b.Next != serve.KeptVisits+behind {
			t.Errorf("after %d, until %d: %d visits, %d omitted; want %d", since, b.Next, got[0], got[1], want)
		}
	}
	err := live.Client.Get(t.Context(), serve.FeedQuery{Brief: true}.String(), nil)
	if err == nil || err.Error() != serve.ErrWriting.Text {
		t.Errorf("a program is told %v", err)
	}
	cancel()
	if err := g.Wait(); err != nil {
		t.Error(err)
	}
}
