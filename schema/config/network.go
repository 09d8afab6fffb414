package config

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/sumi-ripple/ripple/schema/scope"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

func cidr(raw any) (netip.Prefix, error) {
	s, err := text(raw)
	if err != nil {
		return netip.Prefix{}, err
	}
	p, err := netip.ParsePrefix(s)
	if err == nil {
		return p.Masked(), nil
	}
	if addr, aerr := netip.ParseAddr(s); aerr == nil && addr.Zone() == "" {
		return netip.Prefix{}, fmt.Errorf("%s is an address: write \"%s/%d\"", quote(s), s, addr.BitLen())
	}
	return netip.Prefix{}, fmt.Errorf("%s is not a range of addresses like \"10.0.0.0/8\"", quote(s))
}

// proxy hides the password: text returns the URL without it.
func proxy(at *string) value {
	return bind(at, func(raw any) (string, error) {
		s, ok := raw.(string)
		if !ok {
			return "", wanted("a string in quotes", raw)
		}
		return s, orEmpty(checkProxy)(s)
	}, func(s string) string {
		u, err := url.Parse(s)
		if err != nil || u.User == nil {
			return tomlString(s)
		}
		u.User = url.User(u.User.Username())
		return tomlString(u.String())
	})
}

// connectTo maps patterns, optionally with a port, to addresses.
func connectTo(at *map[string]string) value {
	return bind(at, readTargets, func(targets map[string]string) string {
		var b strings.Builder
		b.WriteByte('{')
		for i, key := range slices.Sorted(maps.Keys(targets)) {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(tomlString(key) + " = " + tomlString(targets[key]))
		}
		b.WriteByte('}')
		return b.String()
	})
}

func readTargets(raw any) (map[string]string, error) {
	table, ok := raw.(map[string]any)
	if !ok {
		return nil, wanted("a table as {\"*.docs.test\" = \"127.0.0.1:8443\"}", raw)
	}
	var errs []error
	targets := make(map[string]string, len(table))
	for _, written := range slices.Sorted(maps.Keys(table)) {
		key, err := targetKey(written)
		if err == nil && targets[key] != "" {
			err = fmt.Errorf("%s is named twice", quote(key))
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		target, err := text(table[written])
		if err == nil {
			err = checkAddress(target)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", quote(written), err))
		}
		targets[key] = target
	}
	return targets, errors.Join(errs...)
}

// targetKey canonicalizes "name" and "*.name", each with or without a port.
func targetKey(s string) (string, error) {
	name, port := s, ""
	if i := strings.LastIndexByte(s, ':'); i >= 0 && !strings.Contains(s[i:], "]") && isPort(s[i+1:]) {
		name, port = s[:i], s[i:]
	}
	p, _, err := scope.ParsePattern(name)
	if err != nil {
		return "", err
	}
	return p.String() + port, nil
}

func isBlank(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }

// checkNewSeed refuses a seed with trailing text, one that cannot name a host, and one on a port of
// another service. Such a port is never contacted unless a proxy or connect-to says where to connect.
func (c *Config) checkNewSeed(seed, norm string) error {
	host := weburl.Host(norm)
	switch {
	case strings.ContainsFunc(strings.TrimSpace(seed), isBlank):
		return errors.New("has a space in it: leave out what is not the URL, or write the space as %20")
	case strings.Contains(host, "*"):
		return errors.New("is a pattern, not a URL: name one of its hosts")
	}
	_, port, err := net.SplitHostPort(host)
	if err != nil || !weburl.BadPort(port) || c.Network.Proxy != "" {
		return nil
	}
	for key := range c.Network.ConnectTo {
		name, of := weburl.SplitPort(key)
		p, _, err := scope.ParsePattern(name)
		if err == nil && p.Match(host) && (of == "" || of == ":"+port) {
			return nil
		}
	}
	return fmt.Errorf("is at port %s, which is that of another service and is never asked", port)
}
