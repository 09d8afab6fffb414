package output

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/sumi-ripple/ripple/cmd/ripple/desk"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl/warc"
	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/export/atomicfile"
	"github.com/sumi-ripple/ripple/export/wacz"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/extsort"
)

func waczFormat() Format {
	return Format{
		Flag: "wacz", usage: "write the stored pages as a web archive to `FILE`, for players such as ReplayWeb.page",
		Noun: "a web archive",
		Offer: desk.Format{
			Name: "wacz", Title: "WACZ", Ending: ".wacz",
			For: "the stored pages as a web archive, where [pages] keep = true",
		},
		Check: Replaceable(isOurWACZ),
		Write: func(ctx context.Context, path string, s *survey.Survey, opts Options) error {
			return writeWACZ(ctx, path, s, opts.progress)
		},
	}
}

// segmentEntry is how the name of the first entry begins in an archive that Ripple wrote: it is a segment of a page
// store.
var segmentEntry = regexp.MustCompile(`^archive/ripple[0-9a-f]{10}-[0-9]{5,}\.warc\.gz`)

// isOurWACZ reports whether a file begins with the header of that entry, which has 30 bytes before the name.
func isOurWACZ(head []byte) bool {
	return bytes.HasPrefix(head, []byte("PK\x03\x04")) && len(head) > 30 && segmentEntry.Match(head[30:])
}

// writeWACZ writes the stored pages of the map as a web archive. If some cannot be read, the others are still written,
// and an [UnreadError] says how many are missing.
func writeWACZ(ctx context.Context, path string, s *survey.Survey, p export.Progress) error {
	if err := anyStored(s); err != nil {
		return err
	}
	unread := &UnreadError{}
	err := atomicfile.File(path, func(temporary string) error {
		return atomicfile.Fill(ctx, temporary, func(to io.Writer) error {
			a := archiver{ctx: ctx, survey: s, reader: warc.NewReader(s.Config().Pages.Path), progress: p, unread: unread}
			return a.write(to, filepath.Dir(temporary))
		})
	})
	if err == nil && unread.pages > 0 {
		return unread
	}
	return err
}

// An archiver takes pages from a page store into a web archive, in the order of their places.
type archiver struct {
	ctx      context.Context
	survey   *survey.Survey
	reader   *warc.Reader
	progress export.Progress
	unread   *UnreadError
	to       *wacz.Writer
	places   *extsort.Sorter
	pages    int // that are stored
	written  int
	at       string // the file whose places are being read; empty: none yet
	begun    bool   // it has an entry, which has the same name and begins with the same record
	info     []byte // that record; empty: it is damaged
	segment  *warc.Segment
	missing  error // why there is no segment
	main     *wacz.Page
	mainID   schema.ID
}

// A keptPage is what the map says about a stored page.
type keptPage struct {
	ID    schema.ID
	Title string
	Seed  bool
}

func (a *archiver) write(to io.Writer, dir string) error {
	run := a.survey.Run()
	created := run.Finished
	if created.IsZero() {
		created = run.Started
	}
	a.to, a.places = wacz.NewWriter(to, dir, created), extsort.New(dir)
	defer a.to.Free()
	defer a.places.Close()
	if err := a.survey.EachPage(a.place); err != nil {
		return err
	}
	err := a.places.Each(a.take)
	if a.segment != nil {
		a.segment.Close()
	}
	switch {
	case err != nil:
		return err
	case a.pages == 0:
		return ErrNoPages
	case a.written == 0:
		return fmt.Errorf("no page can be read from the page store: %w", a.unread.first)
	}
	return a.to.Close(wacz.About{
		Title: "Ripple: " + originNames(a.survey), Created: created, Main: a.main,
		Software: "Ripple " + term.ThisBuild().Version + " (+https://github.com/sumi-ripple/ripple)",
	})
}

// originNames lists the first origins of a run.
func originNames(s *survey.Survey) string {
	const most = 3
	var names []string
	for _, o := range s.Scope().Origins() {
		if len(names) == most {
			return strings.Join(names, ", ") + " and others"
		}
		names = append(names, o.Name)
	}
	return strings.Join(names, ", ")
}

// place adds a page to those to be taken, unless the map no longer has it.
func (a *archiver) place(p *survey.Page) error {
	if a.ctx.Err() != nil {
		return context.Cause(a.ctx)
	}
	if !isStored(p) || p.Gone {
		return nil
	}
	file, offset, err := warc.ParsePlace(p.Visit.StoredPath)
	if err != nil {
		a.leave(p.URL, err)
		return nil
	}
	line := binary.BigEndian.AppendUint64(append([]byte(file), 0), uint64(offset))
	text, err := json.Marshal(keptPage{p.ID, p.Visit.Title, p.Seed})
	if err != nil {
		return err
	}
	a.pages++
	return a.places.Add(append(line, text...))
}

// leave counts a page that cannot be read.
func (a *archiver) leave(what string, err error) {
	a.unread.pages++
	a.unread.first = cmp.Or(a.unread.first, fmt.Errorf("%s: %w", term.Clean(what, 300), err))
}

// take copies the records of a page.
func (a *archiver) take(line []byte) error {
	file, rest, _ := strings.Cut(string(line), "\x00")
	offset := int64(binary.BigEndian.Uint64([]byte(rest)))
	var page keptPage
	if err := json.Unmarshal([]byte(rest[8:]), &page); err != nil {
		return err
	}
	a.progress.Passing("pages", a.written, a.pages)
	if file != a.at {
		if a.segment != nil {
			a.segment.Close()
		}
		a.at, a.begun = file, false
		if a.segment, a.missing = a.reader.Segment(file); a.missing == nil {
			a.info, _ = a.segment.Info() // if it is damaged, the pages behind it may still be whole
		}
	}
	err := a.missing
	var c *warc.Capture
	if err == nil {
		c, err = a.segment.Page(offset)
	}
	if err != nil {
		p, lost := a.survey.Page(page.ID)
		if lost == nil {
			a.leave(p.URL, err)
		}
		return lost
	}
	a.written++
	return a.put(c, page)
}

func (a *archiver) put(c *warc.Capture, page keptPage) error {
	if !a.begun {
		a.begun = true
		if err := a.to.Begin(a.at); err != nil {
			return err
		}
		if _, err := a.to.Append(a.info); err != nil {
			return err
		}
	}
	if _, err := a.to.Append(c.Request); err != nil {
		return err
	}
	offset, err := a.to.Append(c.Response)
	if err != nil {
		return err
	}
	if _, err := a.to.Append(c.Conversion); err != nil {
		return err
	}
	line, err := c.Line(a.at, offset)
	if err != nil {
		return err
	}
	if err := a.to.Index(line); err != nil {
		return err
	}
	listed := wacz.Page{URL: c.URL, At: c.At, Title: page.Title}
	if page.Seed && (a.main == nil || page.ID < a.mainID) {
		a.main, a.mainID = &listed, page.ID
	}
	return a.to.List(uint64(page.ID), listed)
}
