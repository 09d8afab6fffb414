package warc

import (
	"fmt"
	"io"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/nlnwa/gowarc/v2"
)

// The reader of the National Library of Norway accepts every record when it is strict, and verifies their digests.
func TestStrictReader(t *testing.T) {
	dir := t.TempDir()
	w := open(t, dir, Position{})
	for i := range 4 {
		p := testPage(fmt.Sprintf("https://a.test/%d", i), fmt.Sprintf("<p>body %d", i%3))
		p.Protocols = []string{"h2", "tls/1.3"}
		if i == 1 {
			p.Rendered = &Rendered{DOM: []byte("<p>shown"), Navigations: []string{"https://a.test/next"}}
		}
		must(w.Append(must(new(Sealer).Seal(p))(t)))(t)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r := must(gowarc.NewWarcFileReader(filepath.Join(dir, "t-00001.warc.gz"), 0, gowarc.WithStrictValidation()))(t)
	defer r.Close()
	var got []string
	for {
		rec, _, problems, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil || !problems.Valid() {
			t.Fatalf("after %q: %v, %v", got, err, problems)
		}
		line := rec.Type().String()
		if block, ok := rec.Block().(gowarc.HttpResponseBlock); ok {
			body := must(io.ReadAll(must(block.PayloadBytes())(t)))(t)
			line += fmt.Sprintf(" %d %s", block.HttpStatusCode(), body)
		}
		got = append(got, line)
	}
	want := []string{"warcinfo", "request", "response 200 <p>body 0", "request", "response 200 <p>body 1", "conversion",
		"request", "response 200 <p>body 2", "request", "revisit"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("records (-want +got)\n%s", diff)
	}
}
