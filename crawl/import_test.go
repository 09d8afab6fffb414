package crawl_test

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha1"
	"encoding/base32"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/record"
	"github.com/sumi-ripple/ripple/crawl/webtest"
	"github.com/sumi-ripple/ripple/crawl/webtest/prose"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

// importInto imports archives and verifies the state file.
func importInto(t *testing.T, store *kv.Store, cfg *config.Config, from crawl.Archives) crawl.Imported {
	t.Helper()
	done, err := crawl.Import(t.Context(), store, cfg, from)
	if err != nil {
		t.Fatal(err)
	}
	checkMeaning(t, store)
	return done
}

func checkMeaning(t *testing.T, store *kv.Store) {
	t.Helper()
	err := survey.Check(crawltest.Survey(t, store), func(problem string) { t.Error(problem) })
	if err != nil {
		t.Fatal(err)
	}
}

func segments(t *testing.T, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.warc.gz"))
	if err != nil || len(names) == 0 {
		t.Fatal(err, "no segment")
	}
	return names
}

// The page store of a crawl has the map of that crawl, also if its import is interrupted again and again.
func TestImportOfPageStore(t *testing.T) {
	t.Parallel()
	s := crawltest.Serve(t)
	s.Generate(7, webtest.GenConfig{Domain: "test", Hosts: 16, Pages: 25, Links: 8, Size: 2000, Leave: 0.4})
	dir := filepath.Join(t.TempDir(), "pages")
	text := crawltest.Config(t, s, crawltest.SeedsOfSites)
	cfg := crawltest.Parse(t, text)
	live := crawltest.Open(t, stateFile(t))
	walk(t, live, crawltest.Parse(t, text+fmt.Sprintf("[pages]\nkeep = true\npath = %q\n", dir)))
	want := must(survey.Digest(crawltest.Survey(t, live)))(t)
	from := crawl.Archives{WARC: segments(t, dir)}

	once := crawltest.Open(t, stateFile(t))
	done := importInto(t, once, cfg, from)
	if got := must(survey.Digest(crawltest.Survey(t, once)))(t); got != want || done.Damaged != 0 {
		t.Errorf("imported %+v with digest %s, want %s", done, got, want)
	}

	stopped := crawltest.Open(t, stateFile(t))
	ends := 0
	for wait := 10 * time.Millisecond; ; wait += wait / 4 {
		ctx, cancel := context.WithTimeout(t.Context(), wait)
		_, err := crawl.Import(ctx, stopped, cfg, from)
		cancel()
		if err == nil {
			break
		}
		ends++
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
	}
	checkMeaning(t, stopped)
	if got := must(survey.Digest(crawltest.Survey(t, stopped)))(t); got != want || ends == 0 {
		t.Errorf("after %d ends the digest is %s, want %s", ends, got, want)
	}
}

// A warcFile is an archive that is being written.
type warcFile struct{ bytes.Buffer }

// add adds a record in a gzip member of its own.
func (w *warcFile) add(kind, url, at string, fields map[string]string, block string) {
	z := gzip.NewWriter(&w.Buffer)
	fmt.Fprintf(z, "WARC/1.0\r\nWARC-Type: %s\r\nWARC-Target-URI: %s\r\nWARC-Date: %s\r\n", kind, url, at)
	for name, value := range fields {
		fmt.Fprintf(z, "%s: %s\r\n", name, value)
	}
	fmt.Fprintf(z, "Content-Length: %d\r\n\r\n%s\r\n\r\n", len(block), block)
	z.Close()
}

// page adds an HTML page as a response.
func (w *warcFile) page(url, at, html string) { w.answer(url, at, "200 OK", html) }

func (w *warcFile) answer(url, at, status, html string, fields ...string) {
	head := append([]string{"HTTP/1.1 " + status, "Content-Type: text/html"}, fields...)
	w.add("response", url, at, map[string]string{"Content-Type": "application/http; msgtype=response",
		"WARC-Payload-Digest": fmt.Sprintf("sha1:%x", sha1.Sum([]byte(html)))}, strings.Join(head, "\r\n")+"\r\n\r\n"+html)
}

func (w *warcFile) write(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "old.warc.gz")
	if err := os.WriteFile(path, w.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const importConfig = `[crawler]
max-depth = 1
[[quality]]
domain = "a.test"
seeds = ["https://a.test/"]
[[blacklist]]
domain = "bad.test"
`

func found(t *testing.T, store *kv.Store) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := crawltest.Survey(t, store).EachPage(func(p *survey.Page) error {
		all[strings.TrimPrefix(p.URL, "https://")] = p.State.String()
		if p.Visit != nil {
			all[strings.TrimPrefix(p.URL, "https://")] += fmt.Sprintf(" %d %s %s", p.Visit.Status, p.Visit.Title,
				p.Visit.At.UTC().Format("2006-01"))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// What counts of an archive: pages of origins however they were found, others by links, the newest until a date, and
// nothing that a list keeps out.
func TestImport(t *testing.T) {
	t.Parallel()
	var w warcFile
	w.page("http://far.test/", "2015-03-01T00:00:00Z", "<title>Too far</title>")
	w.page("http://b.test/", "2015-03-01T00:00:00Z", "<title>Near</title>"+crawltest.Anchors("https://far.test/"))
	w.page("http://other.test/", "2015-03-01T00:00:00Z", "<title>Not linked</title>")
	w.page("http://a.test/", "2015-02-01T00:00:00Z", "<title>New</title>"+
		crawltest.Anchors("/gone", "https://b.test/", "https://bad.test/", "/never", "/moved"))
	w.page("http://a.test/", "2014-02-01T00:00:00Z", "<title>Old</title>"+crawltest.Anchors("https://other.test/"))
	w.page("http://a.test/", "2016-02-01T00:00:00Z", "<title>Too new</title>")
	w.page("http://a.test/orphan", "2015-02-01T00:00:00Z", "<title>Orphan</title>")
	w.page("http://bad.test/", "2015-02-01T00:00:00Z", "<title>Bad</title>")
	w.answer("http://a.test/gone", "2015-02-01T00:00:00Z", "404 Not Found", "none")
	w.answer("http://a.test/moved", "2015-02-01T00:00:00Z", "301 Moved", "", "Location: https://a.test/orphan")
	w.answer("http://a.test/moved", "2015-01-01T00:00:00Z", "301 Moved", "", "Location: https://a.test/moved")
	w.answer("http://a.test/style", "2015-02-01T00:00:00Z", "404 Not Found", "nobody links to it")
	store := crawltest.Open(t, stateFile(t))
	cfg := crawltest.Parse(t, crawltest.Paper(importConfig))
	from := crawl.Archives{WARC: []string{w.write(t)}, At: time.Date(2015, 12, 31, 0, 0, 0, 0, time.UTC)}
	done := importInto(t, store, cfg, from)
	want := map[string]string{
		"a.test/": "processed 200 New 2015-02", "a.test/orphan": "processed 200 Orphan 2015-02",
		"a.test/gone": "dead_link 404  2015-02", "a.test/moved": "processed 301  2015-02", "a.test/never": "discovered",
		"b.test/": "processed 200 Near 2015-03", "bad.test/": "blacklisted", "far.test/": "depth_exceeded",
	}
	if diff := cmp.Diff(want, found(t, store)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	run := done.Run
	if run.Kind != schema.RunImport || run.Status != schema.RunCompleted || run.Requests != 0 || run.Pages != 5 ||
		run.Oldest.Year() != 2015 || run.Newest.Month() != 3 || done.Records != 12 || done.Refused != 1 {
		t.Errorf("%+v", done)
	}
	if done.Damaged != 0 {
		t.Errorf("damaged: %q", done.Damages)
	}
}

// A crawl after an import is a run of its own: it asks without validators for everything within reach, and the link rot
// between both is that of the links of old.
func TestCrawlAfterImport(t *testing.T) {
	t.Parallel()
	c := newChanging(t, 500, "off", "1000h")
	c.page("a.test", "/", "<title>Now</title>"+crawltest.Anchors("/kept"))
	c.page("a.test", "/kept", "<title>Kept</title>")
	var w warcFile
	now := time.Now().UTC().Add(-time.Hour).Format(time.RFC3339) // younger than min-age
	w.answer("http://a.test/", now, "200 OK", "<title>Then</title>"+crawltest.Anchors("/kept", "/lost", "/unseen"),
		`ETag: "x"`, "Cache-Control: max-age=600000")
	w.answer("http://a.test/kept", now, "200 OK", "<title>Kept</title>", `ETag: "y"`)
	w.answer("http://a.test/lost", now, "200 OK", "<title>Lost</title>")
	cfg := crawltest.Parse(t, c.text)
	importInto(t, c.store, cfg, crawl.Archives{WARC: []string{w.write(t)}})
	got := c.run()
	want := []string{"a.test/ 200", "a.test/kept 200", "a.test/lost 404", "a.test/robots.txt 404", "a.test/unseen 404"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("requests (-want +got)\n%s", diff)
	}
	for _, e := range c.Log() {
		if e.Header.Get("If-None-Match") != "" {
			t.Errorf("%s was asked with a validator of the archive", e.Path)
		}
	}
	d := must(survey.Compare(c.survey(), 1, 2))(t)
	sum := must(d.Sum())(t)
	if len(sum.Rot) != 1 || sum.Rot[0].Links != 3 || sum.Rot[0].Dead != 2 || sum.Rot[0].New != 2 {
		t.Errorf("link rot: %+v", sum.Rot)
	}
	if run := c.survey().Run(); run.ID != 2 || run.Kind != schema.RunCrawl {
		t.Errorf("%+v", run)
	}
}

// Revisits stand for the body that they refer to, at their own time; resources and conversions are documents.
func TestImportOfRecordTypes(t *testing.T) {
	t.Parallel()
	const httpResponse = "application/http; msgtype=response"
	const then, later = "2015-01-01T00:00:00Z", "2015-02-01T00:00:00Z"
	revisit := func(profile, digest string) map[string]string {
		fields := map[string]string{"Content-Type": httpResponse,
			"WARC-Profile": "http://netpreserve.org/warc/1.1/revisit/" + profile}
		if digest != "" {
			fields["WARC-Payload-Digest"] = digest
		}
		return fields
	}
	sum := sha1.Sum([]byte("<title>Same</title>"))
	hex, base32 := fmt.Sprintf("sha1:%x", sum), "sha1:"+base32.StdEncoding.EncodeToString(sum[:])
	a, b := "<title>Same</title>", "<title>Not modified</title>"
	var w warcFile
	w.add("warcinfo", "", then, nil, "software: test")
	w.add("revisit", "http://a.test/same", later, revisit("identical-payload-digest", hex), "HTTP/1.1 200 OK\r\n\r\n")
	w.add("revisit", "http://a.test/other", later, revisit("identical-payload-digest", base32), "")
	w.add("revisit", "http://a.test/nothing", later, revisit("identical-payload-digest", "sha1:unknown"), "")
	w.page("http://a.test/same", then, a)
	w.page("http://a.test/kept", then, b)
	w.add("revisit", "http://a.test/kept", later, revisit("server-not-modified", ""), "HTTP/1.1 304 Not Modified\r\n\r\n")
	w.answer("http://a.test/kept", "2015-03-01T00:00:00Z", "304 Not Modified", "")
	w.add("resource", "http://a.test/file", then, map[string]string{"Content-Type": "text/html"}, "<title>File</title>")
	w.add("conversion", "http://a.test/shown", then, map[string]string{"Content-Type": "text/html"}, "<title>Shown</title>")
	w.add("conversion", "http://a.test/same", then, map[string]string{"Content-Type": "text/html"}, "<title>No</title>")
	w.add("metadata", "http://a.test/meta", then, map[string]string{"Content-Type": "text/html"}, "<title>No</title>")
	w.add("response", "dns:a.test", then, map[string]string{"Content-Type": "text/dns"}, "a.test. 1 IN A 192.0.2.1")
	store := crawltest.Open(t, stateFile(t))
	cfg := crawltest.Parse(t, crawltest.Paper(importConfig))
	done := importInto(t, store, cfg, crawl.Archives{WARC: []string{w.write(t)}})
	want := map[string]string{
		"a.test/": "discovered", "a.test/same": "processed 200 Same 2015-02", "a.test/other": "processed 200 Same 2015-02",
		"a.test/kept": "processed 200 Not modified 2015-03", "a.test/file": "processed 200 File 2015-01",
		"a.test/shown": "processed 200 Shown 2015-01",
	}
	if diff := cmp.Diff(want, found(t, store)); diff != "" || done.Damaged != 0 {
		t.Errorf("%+v (-want +got)\n%s", done, diff)
	}

	var newer warcFile
	newer.page("http://a.test/", "2016-01-01T00:00:00Z", "<title>Newer</title>")
	_, err := crawl.Import(t.Context(), store, cfg, crawl.Archives{WARC: []string{newer.write(t)}})
	if !errors.Is(err, record.ErrRuns) {
		t.Errorf("other archives in the same file: %v", err)
	}
}

// Archives are known again under another name and order, and with other settings of requests; not with a byte changed, with
// another date, or with another terrain.
func TestArchivesKnownAgain(t *testing.T) {
	t.Parallel()
	var first, second warcFile
	first.page("http://a.test/", "2015-03-01T00:00:00Z", "<title>Front</title>"+crawltest.Anchors("https://b.test/"))
	noise := make([]byte, 2<<20)
	rand.NewChaCha8([32]byte{}).Read(noise)
	second.page("http://b.test/", "2015-03-01T00:00:00Z", fmt.Sprintf("<title>Near</title>%x", noise))
	from := crawl.Archives{WARC: []string{second.write(t), first.write(t)}}
	store, text := crawltest.Open(t, stateFile(t)), crawltest.Paper(importConfig)
	importInto(t, store, crawltest.Parse(t, text), from)

	b := must(os.ReadFile(from.WARC[0]))(t)
	renamed, changed := filepath.Join(t.TempDir(), "renamed.warc.gz"), filepath.Join(t.TempDir(), "old.warc.gz")
	err := os.WriteFile(renamed, b, 0o600)
	b[len(b)/2]++
	if err := errors.Join(err, os.WriteFile(changed, b, 0o600)); err != nil {
		t.Fatal(err)
	}
	same := crawl.Archives{WARC: []string{from.WARC[1], renamed}}
	other := crawl.Archives{WARC: []string{changed, from.WARC[1]}}
	older := crawl.Archives{WARC: from.WARC, At: time.Date(2015, 12, 31, 0, 0, 0, 0, time.UTC)}
	origin := text + "[[quality]]\ndomain = \"b.test\"\nseeds = [\"https://b.test/\"]\n"
	for name, c := range map[string]struct {
		text  string
		from  crawl.Archives
		known bool
	}{
		"renamed":        {text, same, true},
		"one byte":       {text, other, false},
		"another date":   {text, older, false},
		"another origin": {origin, from, false},
		"other pauses":   {text + "[retry]\nmax-retries = 7\n", from, true},
	} {
		done, err := crawl.Import(t.Context(), store, crawltest.Parse(t, c.text), c.from)
		if done.Known != c.known || c.known != (err == nil) || !c.known && !errors.Is(err, record.ErrRuns) {
			t.Errorf("%s: known: %v, %v", name, done.Known, err)
		}
	}
}

// BenchmarkImport imports pages of an origin that link to each other, and reports uncompressed megabytes.
func BenchmarkImport(b *testing.B) {
	path, size := filepath.Join(b.TempDir(), "big.warc.gz"), int64(0)
	var w warcFile
	for n := range 4000 {
		page, dice := "<title>A page</title>", &prose.Dice{State: uint64(n)}
		for len(page) < 30_000 {
			page += "<p>" + prose.Sentence(dice)
		}
		for k := range 40 {
			page += fmt.Sprintf("<p><a href=/%d>page %d</a>", (n*7+k*k)%4000, k)
		}
		size += int64(len(page))
		w.page(fmt.Sprintf("http://a.test/%d", n), "2015-01-01T00:00:00Z", page)
	}
	if err := os.WriteFile(path, w.Bytes(), 0o600); err != nil {
		b.Fatal(err)
	}
	cfg := crawltest.Parse(b, crawltest.Paper(importConfig))
	b.SetBytes(size)
	for b.Loop() {
		store := crawltest.Open(b, filepath.Join(b.TempDir(), "state.bolt"))
		done, err := crawl.Import(b.Context(), store, cfg, crawl.Archives{WARC: []string{path}})
		if err != nil || done.Pages != 4000 {
			b.Fatal(done, err)
		}
		store.Close()
	}
}

// A WAT file tells links, and a WACZ file holds WARC files.
func TestImportOfOtherFormats(t *testing.T) {
	t.Parallel()
	var wat, w warcFile
	wat.add("metadata", "http://a.test/", "2015-01-01T00:00:00Z", map[string]string{"Content-Type": "application/json"},
		`{"Envelope":{"WARC-Header-Metadata":{"WARC-Type":"response"},"Payload-Metadata":{"HTTP-Response-Metadata":{
"Response-Message":{"Status":"200"},"Headers":{"Content-Type":"text/html"},"HTML-Metadata":{"Head":{"Title":"Links"},
"Links":[{"path":"A@/href","url":"/two","text":"the second"}]}}}}}`)
	w.page("http://a.test/two", "2015-01-01T00:00:00Z", "<title>Two</title>")
	path := filepath.Join(t.TempDir(), "a.wacz")
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	in := must(z.CreateHeader(&zip.FileHeader{Name: "archive/a.warc.gz", Method: zip.Store}))(t)
	must(in.Write(w.Bytes()))(t)
	if err := errors.Join(z.Close(), os.WriteFile(path, b.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
	store := crawltest.Open(t, stateFile(t))
	cfg := crawltest.Parse(t, crawltest.Paper(importConfig))
	importInto(t, store, cfg, crawl.Archives{WAT: []string{wat.write(t)}, WACZ: []string{path}})
	want := map[string]string{"a.test/": "processed 200 Links 2015-01", "a.test/two": "processed 200 Two 2015-01"}
	if diff := cmp.Diff(want, found(t, store)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	s := crawltest.Survey(t, store)
	var anchors []string
	err := s.Links.EachTo(func(schema.ID) bool { return true }, func(_ schema.ID, l schema.Link) error {
		anchors = append(anchors, l.Anchor+" "+l.Where())
		return nil
	})
	if err != nil || len(anchors) != 1 || anchors[0] != "the second body" {
		t.Errorf("anchors %q, %v", anchors, err)
	}
}
