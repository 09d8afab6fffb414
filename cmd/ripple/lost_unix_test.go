//go:build !windows

package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A crawl whose state file is removed, exchanged or truncated ends at its next commit, here the one
// after a signal, and says so in one sentence.
func TestLostState(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		do   func(state string) error
		says string
	}{
		{"removed", os.Remove, "was removed or renamed while it was in use"},
		{"renamed", func(state string) error { return os.Rename(state, state+".old") },
			"was removed or renamed while it was in use"},
		{
			"replaced by a pipe",
			func(state string) error { return errors.Join(os.Remove(state), syscall.Mkfifo(state, 0o600)) },
			"was replaced by another file while it was in use",
		},
		{"cut to nothing", func(state string) error { return os.Truncate(state, 0) },
			"was changed by another program while it was in use"},
		{"cut to a page", func(state string) error { return os.Truncate(state, 4096) },
			"was changed by another program while it was in use"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := startCrawl(t)
			if err := tt.do(filepath.Join(c.dir, "ripple.bolt")); err != nil {
				t.Fatal(err)
			}
			if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			code, told := c.wait(), c.told()
			if code != 1 || strings.Count(told, "state file is lost: ") != 1 ||
				!strings.Contains(told, "ripple.bolt "+tt.says) ||
				!strings.Contains(told, "; put the file back") {
				t.Errorf("exit code %d, want 1 and: %s\n%s", code, tt.says, told)
			}
			if strings.Contains(told, "nil pointer") || strings.Contains(told, "goroutine ") {
				t.Errorf("said what nobody understands:\n%s", told)
			}
		})
	}
}
