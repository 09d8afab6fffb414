package session

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/sumi-ripple/ripple/crawl/page"
)

// An anchorLog keeps the anchors of a check in a file next to its state, for a later process that resumes the check.
// A page is one line, written before the page is recorded in the state. Lines are not synced: they survive the death of
// the process, and pages whose lines a power cut takes are counted in [Checked.Earlier].
type anchorLog struct {
	path string
	file *os.File // nil: nothing is kept
}

// keptAnchors are a line of an anchorLog.
type keptAnchors struct {
	Page string
	*page.Anchors
}

// open opens the file and passes its lines to each if the check is resumed, and empties it if not.
func (l *anchorLog) open(resumed bool, each func(of string, a *page.Anchors)) (err error) {
	l.close()
	if l.path == "" {
		return nil
	}
	flags := os.O_RDWR | os.O_CREATE
	if !resumed {
		flags |= os.O_TRUNC
	}
	file, err := os.OpenFile(l.path, flags, 0o600)
	if err != nil {
		return err
	}
	whole := int64(0) // where the last whole line ends
	for lines := json.NewDecoder(file); ; whole = lines.InputOffset() {
		line := keptAnchors{Anchors: &page.Anchors{}}
		if lines.Decode(&line) != nil {
			break
		}
		each(line.Page, line.Anchors)
	}
	if err = file.Truncate(whole); err == nil {
		_, err = file.Seek(0, io.SeekEnd)
	}
	if err != nil {
		file.Close()
		return err
	}
	l.file = file
	return nil
}

// add keeps the anchors of a page. After a failure, such as a full disk, nothing more is kept.
func (l *anchorLog) add(of string, a *page.Anchors) {
	if l.file == nil {
		return
	}
	line, err := json.Marshal(keptAnchors{Page: of, Anchors: a})
	if err == nil {
		_, err = l.file.Write(append(line, '\n'))
	}
	if err != nil {
		l.close()
	}
}

func (l *anchorLog) close() {
	if l.file != nil {
		l.file.Close()
		l.file = nil
	}
}

// remove removes the file at the end of a check.
func (l *anchorLog) remove() error {
	l.close()
	if err := os.Remove(l.path); l.path != "" && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
