package broken

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"time"

	"github.com/sumi-ripple/ripple/schema/cdxj"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// A Capture is a copy of a page in a web archive.
type Capture struct {
	At     time.Time
	URL    string // as it was requested then
	File   string // WARC file; empty: not known
	Offset int64  // of the record in File, in bytes; -1: not known
}

// An Archive finds captures of broken targets in indexes of web archives.
type Archive struct {
	Unread int // lines that cannot be read, among those of the targets' hosts

	rules   *weburl.Rules
	targets map[string]*Target
	hosts   map[string]bool // keys of the targets' hosts
}

// NewArchive returns an Archive that looks for the targets of links by their canonical URLs under rules.
func NewArchive(rules *weburl.Rules, links []Link) *Archive {
	a := &Archive{rules: rules, targets: map[string]*Target{}, hosts: map[string]bool{}}
	for i := range links {
		to := links[i].Target
		a.targets[to.To] = to
		a.hosts[string(hostKey([]byte(weburl.SURT(to.To))))] = true
	}
	return a
}

// mostLine is the longest line of an index, in bytes. Longer ones are cut, and so are not read.
const mostLine = 1 << 20

// Read reads a CDXJ index, and sets for each target the capture nearest to [Target.At], the earlier of two, among those
// that hold a page: their status is 2xx, or is not said, as that of most revisits. Several indexes may be read.
func (a *Archive) Read(index io.Reader) error {
	lines := bufio.NewReaderSize(index, mostLine)
	for {
		line, err := lines.ReadSlice('\n')
		if a.hosts[string(hostKey(cdxj.Key(line)))] {
			a.add(line)
		}
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = lines.ReadSlice('\n')
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}

func (a *Archive) add(line []byte) {
	l, err := cdxj.Parse(line)
	var u weburl.URL
	if err == nil {
		u, err = a.rules.Parse(l.URL)
	}
	if err != nil {
		a.Unread++
		return
	}
	to := a.targets[u.Norm]
	if to == nil || l.Status != 0 && l.Status/100 != 2 {
		return
	}
	if to.Capture != nil {
		near, nearest := l.At.Sub(to.At).Abs(), to.Capture.At.Sub(to.At).Abs()
		if near > nearest || near == nearest && !l.At.Before(to.Capture.At) {
			return
		}
	}
	to.Capture = &Capture{At: l.At, URL: l.URL, File: l.File, Offset: l.Offset}
}

// hostKey returns the host of a key without its scheme, its port and "www.", which tools write differently.
func hostKey(key []byte) []byte {
	for _, scheme := range []string{"http://(", "https://("} {
		key = bytes.TrimPrefix(key, []byte(scheme))
	}
	host, _, _ := bytes.Cut(key, []byte(")"))
	host, _, _ = bytes.Cut(host, []byte(":"))
	host = bytes.TrimSuffix(host, []byte(","))
	last := bytes.LastIndexByte(host, ',')
	number, www := bytes.CutPrefix(host[last+1:], []byte("www"))
	if last > 0 && www && len(bytes.Trim(number, "0123456789")) == 0 {
		host = host[:last]
	}
	return host
}
