package proof

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/webtest"
	"github.com/sumi-ripple/ripple/kv"
)

const (
	soakSize = 200_000   // number of URLs at which memory is first measured
	soakRoom = 150 << 20 // bytes resident at that size
	soakOpen = 1100      // descriptors: as many as connections are kept, and files are open
	soakBusy = 1200      // goroutines: one for each of those, and those of the crawl
)

const soakConfig = `
[crawler]
max-depth = 9
max-concurrent-pages-open = 64
max-domain-requests = 1000000
max-run-time = "%s"
[traps]
max-urls-per-host = 0
[[quality]]
domain = "h0.gen.test"
seeds = ["https://h0.gen.test/"]
`

// A soakSample is one measurement of a crawl without end.
type soakSample struct {
	urls, visits, goroutines, files int
	resident, own, heap, size       int64 // own: resident and not part of the mapped file
}

// sayGrowth prints how large the crawl is by now.
func sayGrowth(s *kv.Store) error {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	files, _ := os.ReadDir("/proc/self/fd")
	var resident, own int64 // KiB
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		name, value, _ := strings.Cut(line, ":")
		switch name {
		case "VmRSS":
			_, _ = fmt.Sscan(value, &resident)
		case "RssAnon":
			_, _ = fmt.Sscan(value, &own)
		}
	}
	_, err := fmt.Println("soak", s.URLs(), s.LastSeq(), runtime.NumGoroutine(), len(files), resident<<10, own<<10,
		m.HeapAlloc, s.Size())
	return err
}

// TestSoak crawls an endless web under a memory limit: memory grows only by a few bytes per URL,
// and nothing else grows.
func TestSoak(t *testing.T) {
	t.Parallel()
	switch {
	case runtime.GOOS != "linux":
		t.Skip("reads /proc")
	case !crawltest.Full():
		t.Skip("computes for minutes: set RIPPLE_PROOF=full, as .ci/run soak does")
	}
	const length = 5 * time.Minute
	s := crawltest.Serve(t, webtest.WithoutLog())
	s.Generate(1, webtest.GenConfig{Hosts: 1 << 30, Pages: 50, Links: 41, Hrefs: 60, Size: 6000, Leave: 0.1,
		Endless: true})
	cfg, _ := crawltest.Files(t, s, fmt.Sprintf(soakConfig, length))
	samples := soak(t, cfg)
	if len(samples) < 10 {
		t.Fatalf("%d samples", len(samples))
	}
	middle, last := samples[len(samples)/2], samples[len(samples)-1]
	t.Logf("%d URLs, %d visits in %v: %d MB resident, %d MB of it not the file, heap %d MB, %d goroutines, "+
		"%d descriptors, %d bytes of file a URL",
		last.urls, last.visits, length, last.resident>>20, last.own>>20, last.heap>>20, last.goroutines, last.files,
		last.size/int64(last.urls))
	for _, m := range samples {
		if m.urls <= soakSize && m.resident > soakRoom {
			t.Errorf("%d MB resident with %d URLs", m.resident>>20, m.urls)
		}
		if m.goroutines > soakBusy || m.files > soakOpen {
			t.Errorf("%d goroutines and %d descriptors after %d visits", m.goroutines, m.files, m.visits)
		}
	}
	if grown, urls := last.own-middle.own, int64(last.urls-middle.urls); grown > 40<<20+80*urls {
		t.Errorf("memory grew by %d MB with %d URLs", grown>>20, urls)
	}
	if was, is := middle.size/int64(middle.urls), last.size/int64(last.urls); is > was*5/4+50 {
		t.Errorf("bytes of file a URL grew from %d to %d", was, is)
	}
}

func soak(t *testing.T, cfg string) (samples []soakSample) {
	t.Helper()
	cmd := child(cfg, envWatch+"=growth", "GOMEMLIMIT=100MiB")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		var m soakSample
		if _, err := fmt.Sscanf(lines.Text(), "soak %d %d %d %d %d %d %d %d", &m.urls, &m.visits, &m.goroutines,
			&m.files, &m.resident, &m.own, &m.heap, &m.size); err == nil && m.urls > 1000 {
			samples = append(samples, m)
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	return samples
}
