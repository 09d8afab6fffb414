package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sumi-ripple/ripple/cmd/ripple/command"
	"github.com/sumi-ripple/ripple/cmd/ripple/rippletest"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl/crawltest"
)

// TestMergeDiskFull merges to a disk that has no room, or too little, for the new file: the error
// says so, the old file is unchanged, and nothing else is left.
func TestMergeDiskFull(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rippletest.NewShards(t, dir)
	disk := crawltest.SmallDisk(t, "8m")
	target, filler := filepath.Join(disk, "whole.bolt"), filepath.Join(disk, "filler")
	run := func() error {
		return command.New(io.Discard, io.Discard).Run(t.Context(), []string{"merge", dir, "--force", "-o", target})
	}
	if err := run(); err != nil {
		t.Fatalf("with room: %v", err)
	}
	before := contents(t, target)
	for _, room := range []int64{0, 16 << 10, 40 << 10} {
		t.Run(fmt.Sprint(room), func(t *testing.T) {
			crawltest.FillDisk(t, filler)
			info, err := os.Stat(filler)
			if err == nil {
				err = os.Truncate(filler, info.Size()-room)
			}
			if err != nil {
				t.Fatal(err)
			}
			err = run()
			if exitCode(err) != 1 || !strings.Contains(term.Complaint(err), "write "+target) || !isFull(term.Complaint(err)) {
				t.Errorf("%v", err)
			}
			if !bytes.Equal(before, contents(t, target)) {
				t.Error("the old output has changed")
			}
			if entries, err := os.ReadDir(disk); err != nil || len(entries) != 2 {
				t.Errorf("left on the disk: %v, %v", entries, err)
			}
		})
	}
}
