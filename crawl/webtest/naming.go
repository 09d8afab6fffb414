package webtest

import (
	"strconv"
	"strings"

	"github.com/sumi-ripple/ripple/crawl/webtest/prose"
)

// A naming converts the places of a generated web to URLs and back.
type naming struct {
	cfg    *GenConfig
	seed   uint64
	suffix string // ".gen.test"
}

// host returns the number of a host by name, and false if there is none.
func (m *naming) host(name string) (uint64, bool) {
	label, ok := strings.CutSuffix(name, m.suffix)
	if !ok || !strings.HasPrefix(label, "h") {
		return 0, false
	}
	n, ok := number(label[1:])
	return n, ok && n < uint64(m.cfg.Hosts)
}

// number parses a decimal as written here: no sign, no leading zero.
func number(s string) (uint64, bool) {
	n, err := strconv.ParseUint(s, 10, 62)
	return n, err == nil && (s == "0" || s[0] != '0')
}

// parse returns the place of a URL of this web in canonical form.
func (m *naming) parse(url string) (place, bool) {
	rest, ok := strings.CutPrefix(url, "https://")
	host, path, slash := strings.Cut(rest, "/")
	n, known := m.host(host)
	if !ok || !slash || !known {
		return place{}, false
	}
	return m.parsePath(n, "/"+path)
}

func (m *naming) parsePath(host uint64, path string) (place, bool) {
	if path == "/" {
		return place{host: host}, true
	}
	dir, last, ok := strings.Cut(path[1:], "/")
	n, isNumber := number(last)
	if !ok || !isNumber {
		return place{}, false
	}
	at := place{host, page, n}
	switch dir {
	case "moved":
		at.kind = moved
		return at, m.cfg.Redirects > 0 && (m.cfg.Endless || n < m.cfg.extras(m.cfg.Redirects))
	case m.section(at):
		return at, n > 0 && (m.cfg.Endless || n < uint64(m.cfg.Pages))
	}
	return place{}, false
}

func (m *naming) url(p place) string {
	return string(m.appendPath(m.appendOrigin(nil, "https://", p.host), p))
}

func (m *naming) appendOrigin(b []byte, scheme string, host uint64) []byte {
	b = append(append(b, scheme...), 'h')
	return append(strconv.AppendUint(b, host, 10), m.suffix...)
}

func (m *naming) appendPath(b []byte, p place) []byte {
	if p.kind == page && p.n == 0 {
		return append(b, '/')
	}
	b = append(append(append(b, '/'), m.section(p)...), '/')
	return strconv.AppendUint(b, p.n, 10)
}

// section returns the first path segment.
func (m *naming) section(p place) string {
	switch p.kind {
	case moved:
		return "moved"
	case gone:
		return "gone"
	default:
		sections := [...]string{"notes", "letters", "walks", "recipes", "maps", "people", "tools", "weather"}
		return sections[prose.Mix(m.seed, p.n)%uint64(len(sections))]
	}
}
