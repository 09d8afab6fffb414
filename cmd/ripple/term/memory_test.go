package term

import (
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/KimMachineGun/automemlimit/memlimit"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema/config"
)

func TestMemoryLimit(t *testing.T) {
	const gb = 1_000_000_000
	tests := []struct {
		name  string
		limit config.MemoryLimit
		here  uint64
		bytes int64
		says  string
		urls  int64
	}{
		{"of the machine", config.MemoryAuto, 4 * gb, 3 * gb, `3.0 GB ([network] memory-limit = "auto")`, 3*gb - memoryBase},
		{"of nobody knows what", config.MemoryAuto, 0, math.MaxInt64, "none", 0},
		{"of a machine beyond numbers", config.MemoryAuto, math.MaxUint64, math.MaxInt64 / 4 * 3,
			`6.9 EB ([network] memory-limit = "auto")`, math.MaxInt64/4*3 - memoryBase},
		{"of a cgroup too small for anything", config.MemoryAuto, 1 << 20, 3 << 18,
			`786 kB ([network] memory-limit = "auto")`, 1},
		{"off", config.MemoryOff, 4 * gb, math.MaxInt64, "none", 0},
		{"said", 2 * gb, 4 * gb, 2 * gb, `2.0 GB ([network] memory-limit = "2GB")`, 2*gb - memoryBase},
		{"more than there is", 8 * gb, 4 * gb, 8 * gb, `8.0 GB ([network] memory-limit = "8GB")`, 8*gb - memoryBase},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("GOMEMLIMIT", "")
			m := NewMemory(tt.limit, tt.here)
			if m.Bytes != tt.bytes || m.String() != tt.says || m.ForURLs() != tt.urls {
				t.Errorf("%d bytes, %s, %d for URLs; want %d, %s, %d",
					m.Bytes, m, m.ForURLs(), tt.bytes, tt.says, tt.urls)
			}
		})
	}
}

// Memory for browsers is not available to the crawl; a limit that they use up leaves nothing for
// URLs.
func TestMemoryBesideBrowsers(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(5_000_000_000))
	auto := config.Render{Mode: config.RenderAuto, MaxBrowsers: 2}
	tests := []struct {
		name   string
		env    string
		limit  config.MemoryLimit
		render config.Render
		bytes  int64
		says   string
	}{
		{"two browsers", "", 2_000_000_000, auto, 2_000_000_000 - 2*400<<20,
			`1.2 GB ([network] memory-limit = "2GB" less 839 MB for [render] max-browsers = 2)`},
		{"no browser", "", 2_000_000_000, config.Render{Mode: config.RenderOff, MaxBrowsers: 2}, 2_000_000_000,
			`2.0 GB ([network] memory-limit = "2GB")`},
		{"no limit", "", config.MemoryOff, auto, math.MaxInt64, "none"},
		{"the environment's", "5000000000", 2_000_000_000, auto, 5_000_000_000, "5.0 GB (GOMEMLIMIT)"},
		{"no room for both", "", 800_000_000, auto, 1,
			`1 B ([network] memory-limit = "800MB" less 839 MB for [render] max-browsers = 2)`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("GOMEMLIMIT", tt.env)
			m := NewMemory(tt.limit, 0).LessBrowsers(&tt.render)
			if m.Bytes != tt.bytes || m.String() != tt.says {
				t.Errorf("%d bytes, %s; want %d, %s", m.Bytes, m, tt.bytes, tt.says)
			}
			if tt.bytes == 1 && m.ForURLs() != 1 {
				t.Errorf("%d bytes are left to URLs", m.ForURLs())
			}
		})
	}
}

// The environment of the process takes precedence.
func TestMemoryOfEnvironment(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(5_000_000_000))
	t.Setenv("GOMEMLIMIT", "5000000000")
	if m := NewMemory(2_000_000_000, 4_000_000_000); m.String() != "5.0 GB (GOMEMLIMIT)" {
		t.Errorf("the limit is %s", m)
	}
}

func TestMemoryTooSmall(t *testing.T) {
	t.Setenv("GOMEMLIMIT", "")
	m := NewMemory(200_000_000, 0)
	err := m.Explain(fmt.Errorf("open x: %w", kv.ErrMemory))
	if !IsUserError(err) || !strings.Contains(Complaint(err), `[network] memory-limit = "200MB"`) {
		t.Errorf("a state too large: %s", Complaint(err))
	}
	if most := NewMemory(40_000_000, 0).OfShard(8); most <= 0 {
		t.Errorf("a shard may have %d bytes, which stands for any number", most)
	}
	other := errors.New("other")
	if m.Explain(other) != other || m.Explain(nil) != nil {
		t.Error("an error of something else is not taken as it is")
	}
	if err := m.Allows(179_000_000); err != nil {
		t.Errorf("with room left: %v", err)
	}
	want := `200 MB ([network] memory-limit = "200MB") is too little: the crawl holds 190 MB`
	if err := m.Allows(190_000_000); err == nil || err.Error() != want {
		t.Errorf("without room: %v; want %s", err, want)
	}
	if err := NewMemory(config.MemoryOff, 0).Allows(1 << 50); err != nil {
		t.Errorf("without a limit: %v", err)
	}
}

// Limits that are unknown or absent are ignored.
func TestMemoryHere(t *testing.T) {
	fails := func() (uint64, error) { return 1, memlimit.ErrCgroupsNotSupported }
	free := func() (uint64, error) { return 0, memlimit.ErrNoLimit }
	tests := []struct {
		name string
		all  []memlimit.Provider
		want uint64
	}{
		{"a cgroup of a machine", []memlimit.Provider{memlimit.Limit(256 << 20), memlimit.Limit(8 << 30)}, 256 << 20},
		{"a cgroup larger than its machine", []memlimit.Provider{memlimit.Limit(64 << 30), memlimit.Limit(8 << 30)}, 8 << 30},
		{"no cgroup", []memlimit.Provider{fails, memlimit.Limit(8 << 30), free}, 8 << 30},
		{"a machine that says nothing", []memlimit.Provider{fails, memlimit.Limit(0), free}, 0},
	}
	for _, tt := range tests {
		if got := leastOf(tt.all...); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
	if n := MemoryHere(); n < 1<<26 {
		t.Errorf("this machine has %d bytes", n)
	}
}
