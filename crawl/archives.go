package crawl

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/zeebo/xxh3"
	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/crawl/archive"
	"github.com/sumi-ripple/ripple/crawl/media"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/crawl/warc"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// Archives are the files to import, in the order in which they are read.
type Archives struct {
	WARC []string
	WACZ []string
	WAT  []string
	At   time.Time // of several captures of a page, the newest that is not after it counts; zero: the newest
}

// source identifies the archives by their bytes, whatever their names and order, and what is taken of them. It reads
// all of them, several at a time.
func (a *Archives) source(ctx context.Context) ([32]byte, error) {
	var all []string
	kinds := []struct {
		name  string
		paths []string
	}{{"warc", a.WARC}, {"wacz", a.WACZ}, {"wat", a.WAT}}
	for _, kind := range kinds {
		sums := make([]string, len(kind.paths))
		g, ctx := errgroup.WithContext(ctx)
		g.SetLimit(runtime.GOMAXPROCS(0))
		for i, path := range kind.paths {
			g.Go(func() error {
				sum, err := digestOfFile(ctx, path)
				sums[i] = fmt.Sprintf("%s %x\n", kind.name, sum)
				return err
			})
		}
		if err := g.Wait(); err != nil {
			return [32]byte{}, err
		}
		all = append(all, sums...)
	}
	slices.Sort(all)
	all = slices.Compact(all) // a copy adds nothing
	return sha256.Sum256(fmt.Appendln(nil, strings.Join(all, ""), a.At.UnixMilli())), nil
}

// digestOfFile returns the SHA-256 of a file, or the cause of ctx if that is done first.
func digestOfFile(ctx context.Context, path string) (sum []byte, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	h := sha256.New()
	for err == nil && ctx.Err() == nil {
		_, err = io.CopyN(h, file, 16<<20)
	}
	if err == io.EOF {
		return h.Sum(nil), nil
	}
	return nil, cmp.Or(err, context.Cause(ctx))
}

// An input is one file of records.
type input struct {
	path   string
	inside archive.Entry // the part of the file; size 0: all of it
	wat    bool
}

// inputs returns the files in order; of a WACZ file, those in it. What is wrong with its manifest is added to done.
func (a *Archives) inputs(done *Imported) (all []input, err error) {
	for _, path := range a.WARC {
		all = append(all, input{path: path})
	}
	for _, path := range a.WACZ {
		entries, doubts, err := entriesOf(path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		for _, doubt := range doubts {
			done.unverified(path, doubt)
		}
		for _, e := range entries {
			all = append(all, input{path: path, inside: e})
		}
	}
	for _, path := range a.WAT {
		all = append(all, input{path: path, wat: true})
	}
	return all, nil
}

func entriesOf(path string) (all []archive.Entry, doubts []error, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	stat, err := file.Stat()
	if err != nil {
		return nil, nil, err
	}
	return archive.Entries(file, stat.Size())
}

// A captureKind is what a record says about a page.
type captureKind uint8

// The kinds of captures. Of those of one time, the first counts.
const (
	wholeCapture     captureKind = iota // a response or a resource
	convertedCapture                    // a conversion
	linksAlone                          // a description in a WAT file
	sameBody                            // a revisit: the body is that of another capture with this digest
	sameAnswer                          // a revisit: the answer is that of the capture before
)

// A capture is a record that says what a page was at some time. There is one for every such record in memory.
type capture struct {
	url, digest uint64 // hashes; digest 0: none
	at          int64  // Unix milliseconds
	file        uint32
	index       uint32
	offset      int64
	kind        captureKind
	own         bool // of an origin
	page        bool // it has a document of a type that is read
}

// direct reports whether the page is imported whether or not a link leads there.
func (c *capture) direct() bool { return c.own && c.page }

// A moment is a capture of a page.
type moment struct {
	url uint64
	at  int64
}

// A spot is where a record is.
type spot struct {
	file  uint32
	place archive.Place
}

// An inventory is what archives hold of the terrain.
type inventory struct {
	archives *Archives
	set      *ring.Settings
	hash     func(kind schema.URLKind, norm string) uint64
	done     *Imported
	inputs   []input
	captures []capture
	texts    map[uint64]string // URLs of revisits, by hash
	rendered map[moment]spot   // what scripts made of captures, by URL and time
	shown    map[uint64]spot   // what scripts made of the chosen captures, by URL
}

// take lists the captures of all files. It reads every record.
func (v *inventory) take(ctx context.Context) (err error) {
	if v.inputs, err = v.archives.inputs(v.done); err != nil {
		return err
	}
	for file, in := range v.inputs {
		err := in.read(v.done, func(r *archive.Reader) error { return v.takeFile(ctx, r, uint32(file)) })
		if err != nil {
			return err
		}
	}
	return nil
}

// takeFile lists the captures of a file.
func (v *inventory) takeFile(ctx context.Context, r *archive.Reader, file uint32) error {
	var answer *archive.Record // the last one
	var of moment              // its capture; zero: it does not count
	for {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		rec, err := r.Next()
		if err != nil {
			return err
		}
		v.done.Records++
		if isRendered(rec, answer) {
			if _, again := v.rendered[of]; of != (moment{}) && !again && r.End() == nil {
				v.rendered[of] = spot{file, rec.Place}
			}
			continue
		}
		if rec.Type == "response" || rec.Type == "revisit" {
			answer, of = rec, moment{}
		}
		c, ok := v.capture(r, rec, v.inputs[file].wat)
		if ok && r.End() == nil { // only whole records count
			c.file, c.index, c.offset = file, uint32(rec.Place.Index), rec.Place.Offset
			v.captures = append(v.captures, c)
			if rec == answer {
				of = moment{c.url, c.at}
			}
		}
	}
}

// isRendered reports whether a record is what scripts made of the answer before it: a conversion to HTML that refers
// to it.
func isRendered(rec, answer *archive.Record) bool {
	return answer != nil && rec.Type == "conversion" && rec.URL == answer.URL && rec.At.Equal(answer.At) &&
		rec.Fields.Get("WARC-Refers-To") != "" &&
		rec.Fields.Get("WARC-Refers-To") == answer.Fields.Get("WARC-Record-Id") &&
		strings.HasPrefix(strings.ToLower(rec.Fields.Get("Content-Type")), "text/html")
}

// read opens the file for f, which reads to its end. Unless done is nil, it counts damaged records, and compares the
// file with its digest.
func (in *input) read(done *Imported, f func(*archive.Reader) error) error {
	path := in.path
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	stat, err := file.Stat()
	if err != nil {
		return err
	}
	part, size := io.ReaderAt(file), stat.Size()
	if in.inside.Size > 0 {
		part, size = io.NewSectionReader(file, in.inside.Offset, in.inside.Size), in.inside.Size
		path += " " + schema.Clean(in.inside.Name, 100)
	}
	var digester *archive.Digester
	if done != nil && in.inside.SHA256 != nil {
		digester = archive.NewDigester(part, size)
		part = digester
	}
	r, err := archive.NewReader(part, size)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	defer r.Close()
	if done != nil {
		r.OnDamage = func(at int64, why error) { done.damaged(path, at, why) }
		done.Bytes += size
	}
	if err := f(r); err != io.EOF {
		return fmt.Errorf("%s: %w", path, err)
	}
	if digester == nil {
		return nil
	}
	sum, err := digester.Sum()
	if err == nil && !bytes.Equal(sum, in.inside.SHA256) {
		done.unverified(in.path, fmt.Errorf("%s: the manifest states another SHA-256", in.inside.Name))
	}
	return err
}

// capture returns what a record says about a page; ok is false if the record is not a usable capture.
func (v *inventory) capture(r *archive.Reader, rec *archive.Record, wat bool) (c capture, ok bool) {
	kind, ok := kindOf(rec)
	if wat {
		kind, ok = linksAlone, rec.Type == "metadata"
	}
	if !ok || !v.archives.At.IsZero() && rec.At.After(v.archives.At) {
		return c, false
	}
	u, err := v.set.Rules.Parse(rec.URL)
	if err != nil {
		return c, false
	}
	host, pathQuery := weburl.Split(u.Norm)
	if _, refused := v.set.Scope.Refuse(host, pathQuery); refused || !v.set.Scope.Classify(u.Norm).Class.Visitable() {
		v.done.Refused++
		return c, false
	}
	c = capture{url: v.hash(schema.KindPage, u.Norm), at: rec.At.UnixMilli(), kind: kind,
		digest: digestOf(rec.Fields.Get("WARC-Payload-Digest")), own: len(v.set.Scope.OriginsOf(host)) > 0}
	if kind == sameBody || kind == sameAnswer {
		v.texts[c.url] = rec.URL
		return c, true
	}
	a, ok, err := answerOf(r, rec, wat)
	if err == nil && !ok {
		return c, false
	}
	if err != nil {
		v.done.damaged("", rec.Place.Offset, err)
		return c, false
	}
	c.page = a.Status/100 == 2 && v.readable(a.Header.Get("Content-Type"), pathQuery)
	switch {
	case a.Status == 304:
		v.texts[c.url], c.kind = rec.URL, sameAnswer
	case a.Status/100 == 3: // to another form of the page: it says nothing
		base, err := v.set.Rules.Base(rec.URL)
		if err != nil {
			return c, false
		}
		to, err := base.Parse(asSent(a.Header.Get("Location")))
		return c, err != nil || to.Norm != u.Norm
	}
	return c, true
}

// readable reports whether an answer of a content type is likely to be a page. Only the body tells a list in OPML from
// other XML; without it, the name must.
func (v *inventory) readable(contentType, pathQuery string) bool {
	return v.set.Accepts(contentType) ||
		v.set.ReadsOPML(contentType) && (media.Extract(contentType).IsOPML() || strings.HasSuffix(pathQuery, ".opml"))
}

// answerOf returns the answer that a record holds or, in a WAT file, describes; ok is false if it describes none.
func answerOf(r *archive.Reader, rec *archive.Record, wat bool) (a *archive.Answer, ok bool, err error) {
	if wat {
		return r.Links(rec)
	}
	a, err = r.Answer(rec)
	return a, err == nil, err
}

// kindOf returns what a record says about a page by its type; ok is false if it says nothing.
func kindOf(rec *archive.Record) (kind captureKind, ok bool) {
	media := strings.ToLower(rec.Fields.Get("Content-Type"))
	switch rec.Type {
	case "response":
		return wholeCapture, strings.HasPrefix(media, "application/http") || media == ""
	case "resource":
		return wholeCapture, true
	case "conversion":
		return convertedCapture, true
	case "revisit":
		if strings.HasSuffix(rec.Fields.Get("WARC-Profile"), "/server-not-modified") {
			return sameAnswer, true
		}
		return sameBody, true
	}
	return 0, false
}

func digestOf(text string) uint64 {
	if text == "" {
		return 0
	}
	return xxh3.HashString(warc.Digest(text))
}

// choose keeps the capture of each page that counts, in the order of the files. A revisit gets the place of the record
// that holds its body; without one it does not count.
func (v *inventory) choose() {
	bodies := map[uint64]int32{} // by digest, of those that revisits name: the first with a body
	for i := range v.captures {
		if c := &v.captures[i]; c.kind == sameBody && c.digest != 0 {
			bodies[c.digest] = -1
		}
	}
	for i := range v.captures {
		c := &v.captures[i]
		if at, wanted := bodies[c.digest]; wanted && at < 0 && c.kind == wholeCapture {
			bodies[c.digest] = int32(i)
		}
	}
	place := map[uint64]capture{}
	for digest, at := range bodies {
		if at >= 0 {
			place[digest] = v.captures[at]
		}
	}
	slices.SortFunc(v.captures, func(a, b capture) int {
		return cmp.Or(cmp.Compare(a.url, b.url), cmp.Compare(b.at, a.at), cmp.Compare(a.kind, b.kind),
			cmp.Compare(a.file, b.file), cmp.Compare(a.offset, b.offset), cmp.Compare(a.index, b.index))
	})
	v.shown = map[uint64]spot{}
	chosen := v.captures[:0]
	for rest := v.captures; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].url == rest[0].url {
			n++
		}
		if c, at, ok := newest(rest[:n], place); ok {
			chosen = append(chosen, c)
			if shown, ok := v.rendered[moment{c.url, at}]; ok {
				v.shown[c.url] = shown
			}
		}
		rest = rest[n:]
	}
	v.captures, v.rendered = slices.Clip(chosen), nil
	slices.SortFunc(v.captures, func(a, b capture) int {
		return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.offset, b.offset), cmp.Compare(a.index, b.index),
			cmp.Compare(a.url, b.url))
	})
}

// newest returns the newest capture of a page whose body is available, and the time of the answer that had this body.
// all is ordered from the newest to the oldest.
func newest(all []capture, bodies map[uint64]capture) (c capture, at int64, ok bool) {
	for i, c := range all {
		from, at, ok := c, c.at, c.kind < sameBody
		switch c.kind {
		case sameBody:
			from, ok = bodies[c.digest]
		case sameAnswer:
			for _, older := range all[i+1:] {
				at = older.at
				if older.kind == sameBody {
					older, ok = bodies[older.digest]
				} else {
					ok = older.kind < sameBody
				}
				if from = older; ok {
					break
				}
			}
			if !ok {
				return capture{}, 0, false // nor is there a body for any older one
			}
		}
		if ok {
			c.file, c.offset, c.index, c.page = from.file, from.offset, from.index, from.page
			return c, at, true
		}
	}
	return capture{}, 0, false
}

// span returns the times of the oldest and the newest capture.
func (v *inventory) span() (oldest, newest time.Time) {
	first, last := int64(0), int64(0)
	for i, c := range v.captures {
		if i == 0 || c.at < first {
			first = c.at
		}
		if i == 0 || c.at > last {
			last = c.at
		}
	}
	return time.UnixMilli(first).UTC(), time.UnixMilli(last).UTC()
}
