package sitemap

import (
	"bufio"
	"bytes"
	"io"
)

// readText takes the lines that are absolute URLs. Comments and blank lines are nothing;
// any other line is skipped.
func (l *list) readText(in *input) {
	l.file.Kind = Text
	for !l.full() {
		line, err := in.r.ReadSlice('\n')
		switch {
		case err == bufio.ErrBufferFull:
			err = discardLine(in.r)
		case err == nil || err == io.EOF: // else in the middle of the line: half a URL is none
			for part := range bytes.SplitSeq(line, []byte("\r")) {
				l.textLine(clean(string(part)))
			}
		}
		if err != nil {
			l.file.Truncated = err != io.EOF
			return
		}
	}
	l.file.Truncated = in.first() != 0
}

func (l *list) textLine(line string) {
	if isAbsolute(line) && len(line) <= maxLoc {
		l.add(Entry{Loc: line}, false)
	}
}

// discardLine reads up to the end of a line that does not fit the buffer: no URL.
func discardLine(r *bufio.Reader) error {
	for {
		if _, err := r.ReadSlice('\n'); err != bufio.ErrBufferFull {
			return err
		}
	}
}
