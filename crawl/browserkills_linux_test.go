package crawl_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// killBrowsers kills processes of this process's browsers at random moments, once the crawl has
// begun: one that leads a browser, draws its pages or serves them. It stops after most kills, or
// when the returned function is called.
func killBrowsers(t *testing.T, most int, begun func() bool) func() {
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 1))
	kinds := []string{"", "renderer", "gpu-process", "utility"}
	killed := map[string]int{}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for n := 0; n < most; {
			select {
			case <-ctx.Done():
				return
			case <-time.After(time.Duration(random.IntN(700)) * time.Millisecond):
			}
			kind := kinds[random.IntN(len(kinds))]
			if all := browserProcesses(kind); begun() && len(all) > 0 {
				_ = syscall.Kill(all[random.IntN(len(all))], syscall.SIGKILL)
				killed["browser "+kind]++
				n++
			}
		}
	}()
	return func() {
		stop()
		<-done
		t.Logf("seed %d: killed %v", seed, killed)
	}
}

// browserProcesses returns the processes of one kind in the browsers that this process has started.
// The leading processes have the kind "".
func browserProcesses(kind string) []int {
	leads := map[string]bool{} // process groups
	for process, stat := range processes() {
		if stat.parent == strconv.Itoa(os.Getpid()) && bytes.Contains(command(process), []byte("ripple-render-")) {
			leads[process] = true
		}
	}
	var found []int
	for process, stat := range processes() {
		of := leads[process]
		if kind != "" {
			of = leads[stat.group] && bytes.Contains(command(process), []byte("--type="+kind))
		}
		if n, err := strconv.Atoi(process); err == nil && of {
			found = append(found, n)
		}
	}
	return found
}

type processStat struct{ parent, group string }

// processes returns the running processes, see proc_pid_stat(5).
func processes() map[string]processStat {
	all := map[string]processStat{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		text, _ := os.ReadFile(path) // empty: it has ended
		fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
		if len(fields) > 2 && string(fields[0]) != "Z" {
			all[filepath.Base(filepath.Dir(path))] = processStat{string(fields[1]), string(fields[2])}
		}
	}
	return all
}

func command(process string) []byte {
	text, _ := os.ReadFile("/proc/" + process + "/cmdline")
	return text
}
