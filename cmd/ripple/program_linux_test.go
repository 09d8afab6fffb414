package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/sumi-ripple/ripple/cmd/ripple/rippletest"
)

// A program that is replaced or removed while it is running starts processes of its own release.
func TestReplacedProgram(t *testing.T) {
	t.Parallel()
	state := filepath.Join(filepath.Dir(rippletest.Crawled(t, 5)), "state.bolt")
	tests := []struct {
		name string
		with string // new content under its name; empty: it is removed
	}{
		{"removed", ""},
		{"replaced", "#!/bin/sh\nexit 3\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "ripple")
			if err := os.Link(os.Args[0], path); err != nil {
				t.Skip(err)
			}
			cmd := ripple("serve", "--state", state, "--listen", "127.0.0.1:0")
			cmd.Path = path
			address, _ := servedDesk(t, cmd)
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			if tt.with != "" {
				if err := os.WriteFile(path, []byte(tt.with), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			d := newTestDesk(t, address)
			d.json("suggest")
			if f := d.ordered(`{"format": "gexf"}`); f["status"] != "done" {
				t.Errorf("the file is %v", f)
			}
		})
	}
}
