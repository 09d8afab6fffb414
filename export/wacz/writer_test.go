package wacz

import (
	"archive/zip"
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// write writes an archive with n pages in the order of a permutation.
func write(t *testing.T, to io.Writer, n int, offset int64) {
	t.Helper()
	dir := t.TempDir()
	w := NewWriter(to, dir, time.Date(2026, 1, 15, 10, 30, 0, 0, time.UTC))
	defer w.Free()
	w.zip.SetOffset(offset)
	for file := range 2 {
		if err := w.Begin(fmt.Sprintf("t-%d.warc.gz", file)); err != nil {
			t.Fatal(err)
		}
		for i := file; i < n; i += 2 {
			k := i * 7919 % n
			at, err := w.Append(fmt.Appendf(nil, "record %d", k))
			if err == nil {
				err = w.Index(fmt.Appendf(nil, `test,a)/%05d 20260115103000 {"offset":"%d"}`+"\n", k, at))
			}
			if err == nil {
				err = w.List(uint64(k), Page{URL: fmt.Sprintf("https://a.test/%05d", k), At: time.Unix(int64(k), 0)})
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(About{Title: "Test", Software: "Test"}); err != nil {
		t.Fatal(err)
	}
	w.Free()
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// entries returns the names and contents of an archive.
func entries(t *testing.T, r io.ReaderAt, size int64) (names []string, texts map[string][]byte) {
	t.Helper()
	z, err := zip.NewReader(r, size)
	if err != nil {
		t.Fatal(err)
	}
	texts = map[string][]byte{}
	for _, f := range z.File {
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, f.Name)
		if texts[f.Name], err = io.ReadAll(in); err != nil {
			t.Fatal(err)
		}
	}
	return names, texts
}

// Pages and index are in order, and each part of the index is found by the key of its first line.
func TestWriter(t *testing.T) {
	const pages = 2*linesInPart + 1
	var b, again bytes.Buffer
	write(t, &b, pages, 0)
	write(t, &again, pages, 0)
	if !bytes.Equal(b.Bytes(), again.Bytes()) {
		t.Error("the same pages give other bytes")
	}
	names, texts := entries(t, bytes.NewReader(b.Bytes()), int64(b.Len()))
	want := []string{"archive/t-0.warc.gz", "archive/t-1.warc.gz", "indexes/index.cdx.gz", "indexes/index.idx",
		"pages/pages.jsonl", "datapackage.json", "datapackage-digest.json"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("entries (-want +got)\n%s", diff)
	}
	lines := strings.Split(strings.TrimSpace(string(texts["pages/pages.jsonl"])), "\n")
	if !slices.IsSorted(lines[1:]) && len(lines) != pages+1 ||
		lines[8] != `{"id":"7","url":"https://a.test/00007","ts":"1970-01-01T00:00:07Z"}` {
		t.Errorf("%d lines, the eighth page is %s", len(lines), lines[8])
	}

	var all []string
	parts := strings.Split(strings.TrimSpace(string(texts["indexes/index.idx"])), "\n")
	for _, part := range parts[1:] {
		key, object, _ := strings.Cut(part, " {")
		var place struct{ Offset, Length int }
		if err := json.Unmarshal([]byte("{"+object), &place); err != nil {
			t.Fatal(err)
		}
		z, err := gzip.NewReader(bytes.NewReader(texts["indexes/index.cdx.gz"][place.Offset:][:place.Length]))
		if err != nil {
			t.Fatal(err)
		}
		first := len(all)
		for in := bufio.NewScanner(z); in.Scan(); {
			all = append(all, in.Text())
		}
		if !strings.HasPrefix(all[first], key+" {") {
			t.Errorf("a part under %q begins with %s", key, all[first])
		}
	}
	if len(parts) != 4 || len(all) != pages || !slices.IsSorted(all) {
		t.Errorf("%d lines in %d parts", len(all), len(parts)-1)
	}
	for _, line := range all {
		var k, at int
		if _, err := fmt.Sscanf(line, `test,a)/%d 20260115103000 {"offset":"%d"}`, &k, &at); err != nil {
			t.Fatal(err)
		}
		record := fmt.Appendf(nil, "record %d", k)
		if !bytes.HasPrefix(texts["archive/t-0.warc.gz"][min(at, len(texts["archive/t-0.warc.gz"])):], record) &&
			!bytes.HasPrefix(texts["archive/t-1.warc.gz"][min(at, len(texts["archive/t-1.warc.gz"])):], record) {
			t.Errorf("%s is not there", line)
		}
	}
}

// behind is a file that begins with nothing, for a long way.
type behind struct {
	*bytes.Reader
	size int64
}

func (b behind) ReadAt(p []byte, at int64) (int, error) { return b.Reader.ReadAt(p, at-b.size) }

// What lies behind the first 4 GiB is found.
func TestLongArchive(t *testing.T) {
	const before = 5 << 30
	var b bytes.Buffer
	write(t, &b, 3, before)
	_, texts := entries(t, behind{bytes.NewReader(b.Bytes()), before}, before+int64(b.Len()))
	if got := string(texts["archive/t-0.warc.gz"]); got != "record 0record 2" && got != "record 0record 1" {
		t.Errorf("the first file holds %q", got)
	}
}
