package term

import (
	"context"
	"errors"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// A second signal ends a command at once, unless it is the first one again, as a wrapper such as
// timeout(1) sends it. Without one the command ends after Grace.
func TestSecondSignal(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		at   []time.Duration // of the signals after the first one
		want time.Duration   // until the exit
	}{
		{"none", nil, Grace},
		{"of a wrapper", []time.Duration{0}, Grace},
		{"of several wrappers", []time.Duration{0, time.Millisecond, 50 * time.Millisecond}, Grace},
		{"of a person", []time.Duration{time.Second}, time.Second},
		{"of a wrapper and a person", []time.Duration{0, time.Second, time.Second}, time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				got, begun := make(chan os.Signal, len(tt.at)+1), time.Now()
				got <- syscall.SIGINT
				for _, at := range tt.at {
					time.AfterFunc(at, func() { got <- syscall.SIGINT })
				}
				obey(got, nil, cancel, func(code int) {
					if after := time.Since(begun); code != 130 || after != tt.want {
						t.Errorf("exit code %d after %v, want 130 after %v", code, after, tt.want)
					}
				})
				if got := context.Cause(ctx); !errors.Is(got, SignalError{syscall.SIGINT}) {
					t.Errorf("the command ends by %v, want SIGINT", got)
				}
			})
		})
	}
}
