package config

import (
	"errors"
	"fmt"
	"net"
	"net/mail"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/andybalholm/cascadia"
)

var errEmpty = errors.New("is empty")

func anything(string) error { return nil }

func notEmpty(s string) error {
	if strings.TrimSpace(s) == "" {
		return errEmpty
	}
	return nil
}

// checkFileName requires a file name, not a URL: nothing is downloaded.
func checkFileName(s string) error {
	if strings.Contains(s, "://") {
		return fmt.Errorf("%s is a URL: download it, and name the file", quote(s))
	}
	return notEmpty(s)
}

// orEmpty accepts the empty string as "none".
func orEmpty(check func(string) error) func(string) error {
	return func(s string) error {
		if s == "" {
			return nil
		}
		return check(s)
	}
}

func checkCrawlerName(s string) error {
	if s == "" || !only(s, "-") {
		return fmt.Errorf("%s must be letters, digits and hyphens, at least one", quote(s))
	}
	return nil
}

func checkVersion(s string) error {
	if s == "" || !only(s, "._+-") {
		return fmt.Errorf("%s must be letters, digits and . _ + -, at least one", quote(s))
	}
	return nil
}

// only reports whether s is ASCII letters, digits and the extra characters.
func only(s, extra string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool {
		letter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
		return !letter && !strings.ContainsRune(extra, r)
	})
}

// checkContactURL requires a URL that is valid in the comment of a User-Agent header.
func checkContactURL(s string) error {
	if strings.ContainsFunc(s, neverInComment) {
		return fmt.Errorf("%s contains a character that must be percent-encoded in a User-Agent", quote(s))
	}
	return checkHTTP(s)
}

func neverInComment(r rune) bool {
	return r <= ' ' || r >= 0x7f || strings.ContainsRune(`();\"<>`, r)
}

func checkHTTP(s string) error {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" {
		return fmt.Errorf("%s is not a URL that begins with https://", quote(s))
	}
	return nil
}

func checkWebhook(s string) error {
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Scheme != "https" || u.Hostname() == "":
		return errors.New("is not a URL that begins with https://")
	case u.User != nil || u.Fragment != "":
		return errors.New("may hold no user, password or fragment")
	}
	return nil
}

func checkEmail(s string) error {
	addr, err := mail.ParseAddress(s)
	if err != nil || addr.Address != s || strings.ContainsFunc(s, neverInComment) {
		return fmt.Errorf("%s is not an address like \"crawler@example.com\"", quote(s))
	}
	return nil
}

const maxLanguages = 256 // bytes

// languageRange matches a language range of RFC 9110 section 12.5.4, with its weight.
var languageRange = regexp.MustCompile(`^(?:\*|[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*)` +
	`(?: *; *q=(?:0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?))?$`)

func checkLanguages(s string) error {
	for language := range strings.SplitSeq(s, ",") {
		if len(s) > maxLanguages || !languageRange.MatchString(strings.Trim(language, " ")) {
			return fmt.Errorf("%s is not a list of languages like \"en,*;q=0.5\"", quote(s))
		}
	}
	return nil
}

func checkListen(s string) error {
	_, port, err := net.SplitHostPort(s)
	if err != nil || !isPort(port) {
		return fmt.Errorf("%s is not an address like \"127.0.0.1:7575\"", quote(s))
	}
	return nil
}

// CheckListen returns why the desk cannot be served at its address, or nil. The token must not be sent
// unencrypted beyond loopback.
func (m *Monitor) CheckListen() error {
	if err := checkListen(m.Listen); err != nil {
		return fmt.Errorf("listen: %w", err) // only a flag can be invalid here: the file was checked when it was read
	}
	switch {
	case (m.CertFile == "") != (m.KeyFile == ""):
		return errors.New("[monitor] cert-file and key-file belong together: name both or none")
	case m.CertFile == "" && !isLoopback(m.Listen):
		return fmt.Errorf("[monitor] listen: %s is reached from other machines, which takes cert-file and key-file; "+
			"or listen at 127.0.0.1 and use ssh -L", quote(m.Listen))
	}
	return nil
}

// isLoopback reports whether an address is reachable only from this machine.
func isLoopback(addr string) bool {
	host, _, _ := net.SplitHostPort(addr)
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// hostName requires a name as in a Host header, without port, and returns it without a trailing dot.
func hostName(raw any) (string, error) {
	s, err := text(raw)
	if err == nil && (s == "" || !only(s, ".-:")) {
		err = fmt.Errorf("%s is not a name like \"crawler.example.com\"", quote(s))
	}
	if host, _, split := net.SplitHostPort(s); err == nil && split == nil {
		err = fmt.Errorf("%s has a port: write %s", quote(s), quote(host))
	}
	return strings.ToLower(strings.TrimSuffix(s, ".")), err
}

// checkAddress requires host:port.
func checkAddress(s string) error {
	host, port, err := net.SplitHostPort(s)
	if err != nil || host == "" || !isPort(port) || port == "0" || strings.ContainsAny(host, " /@") {
		return fmt.Errorf("%s is not an address like \"127.0.0.1:8443\"", quote(s))
	}
	return nil
}

func isPort(s string) bool {
	n, err := strconv.ParseUint(s, 10, 16)
	return err == nil && strconv.FormatUint(n, 10) == s
}

// checkProxy never shows the value, which may contain a password.
func checkProxy(s string) error {
	u, err := url.Parse(s)
	if err != nil || u.Hostname() == "" || !slices.Contains([]string{"http", "https", "socks5", "socks5h"}, u.Scheme) {
		return errors.New("is not a URL like http://user:password@host:port")
	}
	return nil
}

func checkSelector(s string) error {
	const longest = 4096
	if len(s) > longest {
		return fmt.Errorf("is longer than %d bytes", longest)
	}
	if err := notEmpty(s); err != nil {
		return err
	}
	if _, err := cascadia.Compile(s); err != nil {
		return fmt.Errorf("%s is not a CSS selector: %w", quote(s), err)
	}
	return nil
}
