package fetch

import (
	"errors"
	"net/url"
	"strings"
)

// parseURL keeps path and query as they are written. Unlike browsers and servers, net/url
// re-escapes some bytes and rejects a stray '%'.
func parseURL(raw string) (*url.URL, error) {
	raw, _, _ = strings.Cut(raw, "#")
	scheme, rest, ok := strings.Cut(raw, "://")
	if !ok || scheme != "https" && scheme != "http" {
		return nil, errors.New("not an http(s) URL")
	}
	end := strings.IndexAny(rest, "/?")
	if end < 0 {
		end = len(rest)
	}
	u, err := url.Parse(scheme + "://" + rest[:end])
	if err != nil || u.Hostname() == "" {
		return nil, errors.New("not the URL of a host")
	}
	u.User = nil
	return u, setTarget(u, rest[end:])
}

// setTarget makes target the text of the request line.
func setTarget(u *url.URL, target string) error {
	if strings.ContainsFunc(target, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return errors.New("blank or control character in the URL")
	}
	if !strings.HasPrefix(target, "/") {
		target = "/" + target
	}
	path, query, _ := strings.Cut(target, "?")
	u.RawQuery = query
	u.ForceQuery = query == "" && strings.HasSuffix(target, "?")
	unescaped, err := url.PathUnescape(path)
	if err == nil {
		u.Path, u.RawPath = unescaped, path
		if u.EscapedPath() == path {
			return nil
		}
	}
	u.Path, u.RawPath, u.Opaque = "", "", path
	if strings.HasPrefix(path, "//") { // would be read as an authority
		u.Opaque = "//" + u.Host + path
	}
	return nil
}
