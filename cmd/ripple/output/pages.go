package output

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/sumi-ripple/ripple/cmd/ripple/desk"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl/warc"
	"github.com/sumi-ripple/ripple/export/atomicfile"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema/disk"
)

// pagesIndex is the file of an exported page store that lists its pages. It also shows that Ripple
// wrote the folder.
const pagesIndex = "ripple-pages.jsonl"

func pagesFormat() Format {
	return Format{
		Flag: "pages", usage: "write the stored pages into `DIR`, as aa/bb/<sha256>.html",
		Noun: "a folder of pages",
		Offer: desk.Format{
			Name: "pages", Title: "Pages", For: "the stored pages themselves, where [pages] keep = true",
		},
		Check: checkPagesFolder, grows: true,
		Write: func(ctx context.Context, path string, s *survey.Survey, _ Options) error {
			return writePages(ctx, path, s)
		},
	}
}

// checkPagesFolder refuses a folder that contains other files.
func checkPagesFolder(path string, force bool) error {
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		return fmt.Errorf("%s %w: %w", path, atomicfile.ErrForeign, atomicfile.ErrNotFolder)
	}
	entries, err := os.ReadDir(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && (len(entries) == 0 || force) {
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := os.Lstat(filepath.Join(path, pagesIndex)); err != nil {
		return atomicfile.ErrForeign
	}
	return nil
}

// A pageFile is a line of the index.
type pageFile struct {
	URL      string `json:"url"`
	FetchURL string `json:"fetch_url"`
	SHA256   string `json:"body_sha256"`
	File     string `json:"file"`
	Stored   string `json:"stored_path"`
}

// ErrNoPages reports a state without a page store.
var ErrNoPages = term.Hint(errors.New("no page of the last run is in a page store"),
	"[pages] keep = true makes a crawl keep those that it reads")

// isStored reports whether the body of a page is exported.
func isStored(p *survey.Page) bool {
	return p.Visit != nil && p.Visit.StoredPath != "" && !p.Visit.NoIndex && p.Class.Visitable()
}

// errEnough ends a walk that has found enough.
var errEnough = errors.New("enough")

// anyStored fails with [ErrNoPages] if no page is stored.
func anyStored(s *survey.Survey) error {
	err := s.EachPage(func(p *survey.Page) error {
		if isStored(p) {
			return errEnough
		}
		return nil
	})
	switch {
	case errors.Is(err, errEnough):
		return nil
	case err != nil:
		return err
	}
	return ErrNoPages
}

// An UnreadError reports pages whose records are missing in the page store, or damaged.
type UnreadError struct {
	pages int
	first error // the first error
}

func (e *UnreadError) Error() string {
	return fmt.Sprintf("%s left out, missing in the page store or damaged: %v", term.Count(e.pages, "page is",
		"pages are"),
		e.first)
}

func (e *UnreadError) Unwrap() error { return e.first }

// writePages writes every body once, under its hash, and then the index. It creates files only
// below the folder, whatever that contains; correct ones are kept. What the index lists is synced
// before the index gets its name. If some pages cannot be read, the others are still written, and
// an [UnreadError] says how many are missing.
func writePages(ctx context.Context, path string, s *survey.Survey) error {
	if err := anyStored(s); err != nil {
		return err
	}
	d, err := openPages(path, disk.SyncDir)
	if err != nil {
		return err
	}
	defer d.Root.Close()
	reader, unread, found := warc.NewReader(s.Config().Pages.Path), &UnreadError{}, false
	err = d.publish(func(lines *json.Encoder) error {
		err := s.EachPage(func(p *survey.Page) error {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if !isStored(p) {
				return nil
			}
			rec, err := reader.Page(p.Visit.StoredPath)
			if err != nil {
				unread.pages++
				unread.first = cmp.Or(unread.first, fmt.Errorf("%s: %w", term.Clean(p.URL, 300), err))
				return nil
			}
			found = true
			return d.add(lines, p, rec.Body)
		})
		if err == nil && !found {
			return fmt.Errorf("no page can be read from the page store: %w", unread.first)
		}
		return err
	})
	if err == nil && unread.pages > 0 {
		return unread
	}
	return err
}

// add stores the body of a page, and lists it.
func (d *pagesFolder) add(lines *json.Encoder, p *survey.Page, body []byte) error {
	sum := sha256.Sum256(body)
	text := hex.EncodeToString(sum[:])
	name, err := d.Put(text, body)
	if err != nil {
		return err
	}
	return lines.Encode(pageFile{p.URL, p.FetchURL, text, name, p.Visit.StoredPath})
}
