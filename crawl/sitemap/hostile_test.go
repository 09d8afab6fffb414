package sitemap_test

import (
	"bytes"
	"compress/gzip"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl/sitemap"
	"github.com/sumi-ripple/ripple/schema/process"
)

const (
	hostileSize = 4 << 20
	hostileHeap = 8 << 20 // limit on what a file may add to the heap at any moment
)

type hostileFile struct {
	name string
	body []byte
	good bool // it begins with a good URL
}

// hostileFiles decompress to 4 MB or more, each in another shape, and are gzipped.
func hostileFiles() []hostileFile {
	head := "<urlset>" + loc("/good")
	shapes := []struct{ name, head, unit string }{
		{"nested tags", head, "<a>"},
		{"nested entries", head, "<url><loc>"},
		{"attributes", head + "<a ", "b "},
		{"long attribute", head + "<a b='", "b"},
		{"one tag name", head + "<", "a"},
		{"one comment", head + "<!--", "a"},
		{"one CDATA", head + "<url><loc><![CDATA[", "a"},
		{"one text", head + "<url><loc>", "a"},
		{"one instruction", head + "<?a ", "a"},
		{"directives", head, "<!a [<"},
		{"damage", head, "<<3"},
		{"entities", head + "<url><loc>", "&a;"},
		{"end tags", head, "</url>"},
		{"blanks", "", " "},
		{"one line", "https://example.com/good\nhttps://", "a"},
		{"no lines", "https://example.com/good\n", "\n"},
		{"bad lines", "https://example.com/good\n", "x\r"},
		{"warning, then entries", "x" + head, "<url>"},
	}
	var files []hostileFile
	for _, s := range shapes {
		files = append(files, hostileFile{s.name, bomb(s.head, s.unit), strings.Contains(s.head, "good")})
	}
	return files
}

// bomb gzips a head and a unit repeated beyond hostileSize.
func bomb(head, unit string) []byte {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	w.Write([]byte(head))
	block := []byte(strings.Repeat(unit, 1<<20/len(unit)))
	for range hostileSize>>20 + 1 {
		w.Write(block)
	}
	w.Close()
	return b.Bytes()
}

// TestHostile limits the processor time, and the memory at any moment.
func TestHostile(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(20))
	for _, h := range hostileFiles() {
		t.Run(h.name, func(t *testing.T) {
			runtime.GC()
			before, start := heap(), process.CPUTime()
			var f sitemap.File
			peak := watch(func() { f, _ = sitemap.Parse(h.body, base, "", sitemap.DefaultLimits()) })
			took := process.CPUTime() - start
			t.Logf("%v, %d KiB at most", took.Round(time.Millisecond), (peak-min(before, peak))>>10)
			if took > 20*time.Second || peak > before+hostileHeap {
				t.Errorf("took %v and %d bytes", took, peak-before)
			}
			if h.good && (len(f.Entries) == 0 || f.Entries[0] != entry("/good")) {
				t.Errorf("the good URL is lost: %d entries", len(f.Entries))
			}
		})
	}
}

// watch returns the peak heap size while f runs.
func watch(f func()) (peak uint64) {
	done, result := make(chan struct{}), make(chan uint64)
	go func() {
		tick := time.NewTicker(2 * time.Millisecond)
		defer tick.Stop()
		for peak := heap(); ; peak = max(peak, heap()) {
			select {
			case <-tick.C:
			case <-done:
				result <- peak
				return
			}
		}
	}()
	f()
	close(done)
	return <-result
}

// heap returns the size of the objects on the heap, including dead ones not yet swept.
func heap() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// A file may declare entities that grow a thousandfold at each step, or that refer to files. They are left as
// written.
func TestEntitiesAreInert(t *testing.T) {
	var b strings.Builder
	b.WriteString("<?xml version='1.0'?><!DOCTYPE urlset [<!ENTITY a SYSTEM 'file:///etc/passwd'><!ENTITY l0 'ha'>")
	for i := range byte(9) {
		unit := "&l" + string('0'+i) + ";"
		b.WriteString("<!ENTITY l" + string('1'+i) + " '" + strings.Repeat(unit, 10) + "'>")
	}
	b.WriteString("]>" + urlset(loc("&a;")+loc("&l9;")+loc("/x&l9;")))
	f, err := sitemap.Parse([]byte(b.String()), base, "", sitemap.DefaultLimits())
	if err != nil || len(f.Entries) != 1 || f.Entries[0] != entry("/x&l9;") {
		t.Errorf("%+v, %v", f, err)
	}
}
