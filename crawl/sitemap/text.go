package sitemap

import (
	"bufio"
	"bytes"
	"io"
	"regexp"
	"strings"
	"sync"
)

// readText reads the lines that contain absolute URLs. Comments, blank lines and all other lines are skipped.
func (l *list) readText(in *input) {
	l.file.Kind = Text
	for !l.full() {
		line, err := in.r.ReadSlice('\n')
		switch {
		case err == bufio.ErrBufferFull:
			err = discardLine(in.r)
		case err == nil || err == io.EOF: // otherwise the line is truncated, and half a URL is useless
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

// textLine adds the URLs of a line. Like a table, it may have further columns, separated by tabs, commas,
// semicolons or blanks, quoted or not.
func (l *list) textLine(line string) {
	if line == "" || line[0] == '#' {
		return
	}
	if m := column().FindStringIndex(line); m != nil && !isAbsolute(line) {
		line = line[m[1]-len("https://"):]
		line = line[strings.Index(strings.ToLower(line), "http"):]
	}
	for _, ref := range split(line) {
		if m := columns().FindStringIndex(ref); m != nil {
			ref = undecorated(ref[:m[0]])
		}
		if url, ok := l.locate.hosted(ref); ok {
			ref = url
		}
		if isAbsolute(ref) && len(ref) <= maxLoc && !l.full() {
			l.add(Entry{Loc: ref}, false)
		}
	}
}

// column finds a URL that is not in the first column.
var column = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:^|[\t,;|])["'<]?\s*https?://`)
})

// columns finds the end of a URL before further columns. Many URLs contain commas, so a comma must be
// followed by a quote or by what the columns of a sitemap contain: nothing, a date, a number, a frequency.
var columns = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\s|["<>]|[,;|](?:$|[,;|"']|\d{4}-\d\d|[01]?\.\d+(?:[,;|]|$)|[01](?:[,;|]|$)|` +
		`(?:always|hourly|daily|weekly|monthly|yearly|never)(?:[,;|]|$))`)
})

// discardLine skips the rest of a line that does not fit the buffer: it is not a URL.
func discardLine(r *bufio.Reader) error {
	for {
		if _, err := r.ReadSlice('\n'); err != bufio.ErrBufferFull {
			return err
		}
	}
}
