package webtest

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/sumi-ripple/ripple/crawl/webtest/fault"
)

// Load adds a web from a txtar archive. The names of its files are https URLs; a file has an optional
// header and a body:
//
//	-- https://a.test/robots.txt --
//	User-agent: *
//	Disallow: /private/
//	-- https://a.test/old --
//	status: 301
//	location: /new
//
//	-- https://a.test/new --
//	delay: 200ms
//	first: 2 503
//	retry-after: 1
//
//	<title>New</title>
//
// There is a header if the first line begins with one of its keys, in lower case. It ends at the first
// empty line. The keys:
//
//	status         the status code
//	delay, every   durations: before the answer, between dripping bytes
//	first          "N STATUS": the first N requests get this status
//	retry-after    with first, sent with that answer; otherwise with the page
//	fault          the name of a [fault.Fault], such as reset-mid-body
//	encode         gzip, br or zstd
//	down           the name of a Down mode, for the whole host
//	location, content-type, etag, last-modified, link, refresh, x-...
//	               response headers
//
// Without content-type the extension decides; a path without one is HTML. An error names every invalid
// file; in that case nothing is added.
func (s *Server) Load(archive []byte) error {
	var files []loaded
	var errs []error
	seen := map[string]bool{}
	for _, f := range txtar.Parse(archive).Files {
		l, err := parseFile(f.Name, string(f.Data))
		if err == nil && seen[l.host+l.path] {
			err = errors.New("is there twice")
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", f.Name, err))
			continue
		}
		seen[l.host+l.path] = true
		files = append(files, l)
	}
	if len(errs) > 0 {
		return fmt.Errorf("load web: %w", errors.Join(errs...))
	}
	for _, l := range files {
		l.addTo(s)
	}
	return nil
}

// A loaded is a file that has been checked but is not served yet.
type loaded struct {
	host, path, body string
	down             Down
	set              []func(*Page)
	retryAfter       string
	first            *early
}

func parseFile(name, data string) (loaded, error) {
	u, err := url.Parse(name)
	if err != nil {
		return loaded{}, err
	}
	if u.Scheme != "https" || u.Host == "" || u.Fragment != "" {
		return loaded{}, errors.New("is no https URL")
	}
	l := loaded{host: canonicalHost(u.Host), path: u.RequestURI()}
	if ext := path.Ext(u.Path); ext != "" {
		l.set = append(l.set, func(p *Page) { p.Type(contentType("x" + ext)) })
	}
	header, body := splitHeader(data)
	l.body = body
	for _, line := range header {
		key, value, ok := strings.Cut(line, ":")
		if !ok || !isHeaderKey(key) {
			return l, fmt.Errorf("header line %q has no known key", line)
		}
		if err := l.apply(key, strings.TrimSpace(value)); err != nil {
			return l, fmt.Errorf("header line %q: %w", line, err)
		}
	}
	return l, nil
}

// splitHeader splits off the header, if the first line belongs to one.
func splitHeader(data string) (header []string, body string) {
	first, _, _ := strings.Cut(data, "\n")
	key, _, ok := strings.Cut(first, ":")
	if !ok || !isHeaderKey(key) {
		return nil, data
	}
	head, body, _ := strings.Cut(data, "\n\n")
	return strings.Split(strings.TrimRight(head, "\n"), "\n"), body
}

func isHeaderKey(key string) bool {
	return strings.HasPrefix(key, "x-") && !strings.ContainsAny(key, " \t<") ||
		slices.Contains([]string{"status", "delay", "every", "first", "retry-after", "fault", "encode", "down",
			"location", "content-type", "etag", "last-modified", "link", "refresh"}, key)
}

func (l *loaded) apply(key, value string) error {
	switch key {
	case "status":
		return l.setStatus(value)
	case "delay", "every":
		return l.setDuration(key, value)
	case "first":
		return l.setFirst(value)
	case "retry-after":
		l.retryAfter = value
	case "fault":
		f, ok := fault.Named(value)
		if !ok {
			return errors.New("no such fault")
		}
		l.set = append(l.set, func(p *Page) { p.Fault(f) })
	case "encode":
		if !slices.Contains([]string{"gzip", "br", "zstd"}, value) {
			return errors.New("no such coding")
		}
		l.set = append(l.set, func(p *Page) { p.encode(value) })
	case "down":
		i := slices.Index(downNames(), value)
		if i < 0 {
			return errors.New("no such mode")
		}
		l.down = Down(i)
	default:
		l.set = append(l.set, func(p *Page) { p.Header(key, value) })
	}
	return nil
}

func (l *loaded) setStatus(value string) error {
	code, err := statusCode(value)
	l.set = append(l.set, func(p *Page) { p.Status(code) })
	return err
}

func statusCode(value string) (int, error) {
	code, err := strconv.Atoi(value)
	if err != nil || code < 200 || code > 999 {
		return 0, errors.New("no status code from 200 to 999")
	}
	return code, nil
}

func (l *loaded) setDuration(key, value string) error {
	d, err := time.ParseDuration(value)
	if err != nil {
		return err
	}
	l.set = append(l.set, func(p *Page) {
		if key == "delay" {
			p.Delay(d)
		} else {
			p.Every(d)
		}
	})
	return nil
}

func (l *loaded) setFirst(value string) error {
	times, status, _ := strings.Cut(value, " ")
	n, err := strconv.Atoi(times)
	if err != nil || n < 0 {
		return errors.New("no number of requests")
	}
	code, err := statusCode(strings.TrimSpace(status))
	l.first = &early{left: n, status: code}
	return err
}

func (l *loaded) addTo(s *Server) {
	h := s.Host(l.host)
	p := h.Page(l.path, l.body)
	for _, set := range l.set {
		set(p)
	}
	if l.first != nil {
		header := http.Header{}
		if l.retryAfter != "" {
			header.Set("Retry-After", l.retryAfter)
		}
		p.Times(l.first.left, l.first.status, header)
	} else if l.retryAfter != "" {
		p.Header("Retry-After", l.retryAfter)
	}
	if l.down != Up {
		h.Down(l.down)
	}
}
