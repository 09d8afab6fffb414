package config

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/sumi-ripple/ripple/schema/terrain"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// pattern is the name of a host or a wildcard; absent while zero.
func pattern(at *terrain.Pattern) value {
	return value{
		set: func(raw any) (string, error) {
			s, err := text(raw)
			if err != nil {
				return "", err
			}
			p, notice, err := terrain.ParsePattern(s)
			if err == nil {
				*at = p
			}
			return notice, err
		},
		text: func() string {
			if at.IsZero() {
				return ""
			}
			return tomlString(at.String())
		},
	}
}

// domain is a pattern whose normalised text is kept beside it.
func domain(at *terrain.Pattern, name *string) value {
	v := pattern(at)
	set := v.set
	v.set = func(raw any) (string, error) {
		notice, err := set(raw)
		if err == nil {
			*name = at.String()
		}
		return notice, err
	}
	return v
}

func optionalPattern(at **terrain.Pattern) value {
	var p terrain.Pattern
	v := pattern(&p)
	if *at != nil {
		p = **at
	}
	set := v.set
	v.set = func(raw any) (string, error) {
		notice, err := set(raw)
		if err == nil {
			*at = &p
		}
		return notice, err
	}
	return v
}

// names are the lines of a list; absent while nil.
func names(at *[]terrain.Pattern) value {
	return value{
		set: func(raw any) (string, error) {
			s, ok := raw.(string)
			if !ok {
				return "", wanted("a string in quotes", raw)
			}
			all, skipped, err := terrain.ParseListFile(strings.NewReader(s))
			if err == nil && skipped > 0 {
				err = fmt.Errorf("%d lines are no names", skipped)
			}
			if err == nil {
				*at = sorted(all)
			}
			return "", err
		},
		text: func() string { return tomlNames(*at) },
	}
}

// sorted returns each pattern once, in order and never nil.
func sorted(all []terrain.Pattern) []terrain.Pattern {
	slices.SortFunc(all, terrain.Pattern.Compare)
	return append([]terrain.Pattern{}, slices.Compact(all)...)
}

func tomlNames(all []terrain.Pattern) string {
	if all == nil {
		return ""
	}
	var b bytes.Buffer
	b.WriteString("'''\n")
	for _, p := range all {
		b.WriteString(p.String())
		b.WriteByte('\n')
	}
	b.WriteString("'''")
	return b.String()
}

func preset(at *string) value {
	v := optional(at)
	set := v.set
	v.set = func(raw any) (string, error) {
		if s, ok := raw.(string); ok && !slices.Contains(terrain.Presets(), s) {
			return "", fmt.Errorf("%s is none of the built-in lists: %s", quote(s), strings.Join(terrain.Presets(), ", "))
		}
		return set(raw)
	}
	return v
}

// regular is one expression; absent while nil.
func regular(at **regexp.Regexp) value {
	return bind(at, expression, func(re *regexp.Regexp) string {
		if re == nil {
			return ""
		}
		return tomlRegexp(re)
	})
}

// grouped is an expression whose named group, if it has one, is "group".
func grouped(at **regexp.Regexp) value {
	v := regular(at)
	set := v.set
	v.set = func(raw any) (string, error) {
		if re, err := expression(raw); err == nil {
			for _, name := range re.SubexpNames() {
				if name != "" && name != "group" {
					return "", fmt.Errorf("%s has a group named %s; the one that counts is (?P<group>...)", quote(re.String()), quote(name))
				}
			}
		}
		return set(raw)
	}
	return v
}

func expression(raw any) (*regexp.Regexp, error) {
	s, err := text(raw)
	if err != nil {
		return nil, err
	}
	if s == "" {
		return nil, errors.New("an empty expression matches everything")
	}
	re, err := regexp.Compile(s)
	if err != nil {
		return nil, fmt.Errorf("%s is no RE2 expression: %s", quote(s), reason(err))
	}
	return re, nil
}

// reason shortens the library's message, which repeats the whole expression.
func reason(err error) string {
	message := strings.TrimPrefix(err.Error(), "error parsing regexp: ")
	if code, _, ok := strings.Cut(message, ": "); ok {
		return code
	}
	return message
}

func entityBy(raw any) (terrain.By, error) {
	s, err := text(raw)
	if err != nil {
		return 0, err
	}
	return terrain.ParseBy(s)
}

func stripParam(raw any) (string, error) {
	s, err := text(raw)
	if err == nil {
		_, err = weburl.NewRules([]string{s}, weburl.DefaultMaxLength)
	}
	return s, err
}

func contentType(raw any) (string, error) {
	s, err := text(raw)
	if err != nil {
		return "", err
	}
	s = strings.ToLower(s)
	kind, sub, ok := strings.Cut(s, "/")
	if !ok || !isToken(kind) || !isToken(sub) || kind == "*" && sub != "*" || strings.Contains(strings.TrimSuffix(sub, "*"), "*") {
		return "", fmt.Errorf("%s is no content type as \"text/html\" and \"text/*\" are", quote(s))
	}
	return s, nil
}

// isToken reports a token of RFC 9110.
func isToken(s string) bool { return s != "" && only(s, "!#$%&'*+-.^_`|~") }

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
	return netip.Prefix{}, fmt.Errorf("%s is no range of addresses as \"10.0.0.0/8\" is", quote(s))
}

// proxy keeps the password to itself: text shows the URL without.
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

// connectTo maps patterns, perhaps with a port, to addresses.
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

// targetKey normalises "name", "*.name" and both with a port.
func targetKey(s string) (string, error) {
	name, port := s, ""
	if i := strings.LastIndexByte(s, ':'); i >= 0 && !strings.Contains(s[i:], "]") && isPort(s[i+1:]) {
		name, port = s[:i], s[i:]
	}
	p, _, err := terrain.ParsePattern(name)
	if err != nil {
		return "", err
	}
	return p.String() + port, nil
}
