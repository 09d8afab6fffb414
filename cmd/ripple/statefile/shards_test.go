package statefile

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/sumi-ripple/ripple/cmd/ripple/rippletest"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
)

// Ctrl-C ends a merge at any step, and leaves nothing behind.
func TestInterruptedWhileMerging(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"URLs", "depths", "queues", "compacting"} {
		t.Run(at, func(t *testing.T) {
			dir, from := t.TempDir(), Files{Voice: term.NewVoice(io.Discard)}
			rippletest.NewShards(t, dir)
			ctx, cancel := context.WithCancelCause(t.Context())
			var s Shards
			defer s.Close()
			if err := s.Open(ctx, from, []string{dir}); err != nil {
				t.Fatal(err)
			}
			err := s.Write(ctx, filepath.Join(dir, "new.bolt"), func() error { return nil }, func(step string, _, _ int) {
				if step == at {
					cancel(term.SignalError{Signal: syscall.SIGINT})
				}
			})
			if !errors.As(err, new(term.SignalError)) {
				t.Errorf("%v, want the signal", err)
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) != 2 {
				t.Errorf("in the folder: %v, %v", left, err)
			}
		})
	}
}
