package command

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"

	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/export/broken"
	"github.com/sumi-ripple/ripple/kv/survey"
)

// findCaptures looks for captures of the targets of links in indexes of web archives.
func findCaptures(ctx context.Context, v *term.Voice, s *survey.Survey, indexes []string, links []broken.Link) error {
	if len(indexes) == 0 {
		return nil
	}
	archive := broken.NewArchive(s.Config().Rules(), links)
	err := v.During("looking for captures", func(see export.Progress) error {
		for _, name := range indexes {
			if err := readIndex(ctx, see, archive, name); err != nil {
				return term.Usage("--archived %s: %v", term.Shown(name), err)
			}
		}
		return nil
	})
	if err == nil && archive.Unread > 0 {
		v.Say(term.Count(archive.Unread, "line", "lines") + " about these hosts could not be read")
	}
	return errors.Join(context.Cause(ctx), err)
}

// readIndex reads a CDXJ file, which may be compressed by gzip.
func readIndex(ctx context.Context, see export.Progress, archive *broken.Archive, name string) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	buffered := bufio.NewReader(&indexFile{file, ctx, see, 0, info.Size()})
	var index io.Reader = buffered
	if magic, _ := buffered.Peek(2); string(magic) == "\x1f\x8b" {
		if index, err = gzip.NewReader(buffered); err != nil {
			return err
		}
	}
	return archive.Read(index)
}

// An indexFile reports how far it was read, in MB, and fails when its context ends.
type indexFile struct {
	io.Reader
	ctx        context.Context
	see        export.Progress
	done, size int64
}

func (f *indexFile) Read(p []byte) (int, error) {
	n, err := f.Reader.Read(p)
	f.done += int64(n)
	f.see.At("megabytes", int(f.done>>20), int(f.size>>20))
	if err == nil {
		err = f.ctx.Err()
	}
	return n, err
}
