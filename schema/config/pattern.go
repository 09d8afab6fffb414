package config

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/sumi-ripple/ripple/schema/scope"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// pattern is the name of a host or a wildcard. A zero pattern is not written.
func pattern(at *scope.Pattern) value { return patternBy(scope.ParsePattern, at) }

// patternBy is like pattern, but parses with parse.
func patternBy(parse func(string) (scope.Pattern, string, error), at *scope.Pattern) value {
	return value{
		set: func(raw any) (string, error) {
			s, err := text(raw)
			if err != nil {
				return "", err
			}
			p, notice, err := parse(s)
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

// domain is a pattern whose canonical text is stored in name as well.
func domain(at *scope.Pattern, name *string) value {
	return pattern(at).then(func() { *name = at.String() })
}

func optionalPattern(at **scope.Pattern) value {
	var p scope.Pattern
	v := pattern(&p)
	if *at != nil {
		p = **at
	}
	return v.then(func() { *at = &p })
}

// patterns is a list of patterns; an empty one is not part of the effective text.
func patterns(at *[]scope.Pattern) value {
	v := list(at, func(raw any) (p scope.Pattern, err error) {
		_, err = pattern(&p).set(raw)
		return p, err
	}, func(p scope.Pattern) string { return tomlString(p.String()) })
	text := v.text
	v.text = func() string {
		if len(*at) == 0 {
			return ""
		}
		return text()
	}
	return v
}

// then calls done after the value has been set.
func (v value) then(done func()) value {
	set := v.set
	v.set = func(raw any) (string, error) {
		notice, err := set(raw)
		if err == nil {
			done()
		}
		return notice, err
	}
	return v
}

// names are the lines of a list. Nil is not written.
func names(at *[]scope.Pattern) value {
	return value{
		set: func(raw any) (string, error) {
			s, ok := raw.(string)
			if !ok {
				return "", wanted("a string in quotes", raw)
			}
			all, skipped, err := scope.ParseListFile(strings.NewReader(s))
			if err == nil && skipped > 0 {
				err = fmt.Errorf("%d lines are not names", skipped)
			}
			if err == nil {
				*at = sorted(all)
			}
			return "", err
		},
		text: func() string { return tomlNames(*at) },
	}
}

// sorted returns the patterns in order, without duplicates and never nil.
func sorted(all []scope.Pattern) []scope.Pattern {
	slices.SortFunc(all, scope.Pattern.Compare)
	return append([]scope.Pattern{}, slices.Compact(all)...)
}

func tomlNames(all []scope.Pattern) string {
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
	v := optional(at, notEmpty)
	set := v.set
	v.set = func(raw any) (string, error) {
		if s, ok := raw.(string); ok && !slices.Contains(scope.Presets(), s) {
			return "", fmt.Errorf("%s is not one of the built-in lists: %s", quote(s), strings.Join(scope.Presets(), ", "))
		}
		return set(raw)
	}
	return v
}

// regular is one regular expression. Nil is not written.
func regular(at **regexp.Regexp) value {
	return bind(at, expression, func(re *regexp.Regexp) string {
		if re == nil {
			return ""
		}
		return tomlRegexp(re)
	})
}

// grouped is a regular expression. If it has a named group, the name must be "group".
func grouped(at **regexp.Regexp) value {
	v := regular(at)
	set := v.set
	v.set = func(raw any) (string, error) {
		if re, err := expression(raw); err == nil {
			for _, name := range re.SubexpNames() {
				if name != "" && name != "group" {
					return "", fmt.Errorf("%s has a group named %s; the one that counts is (?P<group>...)", quote(re.String()),
						quote(name))
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
		return nil, fmt.Errorf("%s is not an RE2 expression: %s", quote(s), reason(err))
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

func entityBy(raw any) (scope.By, error) {
	s, err := text(raw)
	if err != nil {
		return 0, err
	}
	return scope.ParseBy(s)
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
	if !ok || !isToken(kind) || !isToken(sub) || kind == "*" && sub != "*" ||
		strings.Contains(strings.TrimSuffix(sub, "*"), "*") {
		return "", fmt.Errorf("%s is not a content type like \"text/html\" or \"text/*\"", quote(s))
	}
	return s, nil
}

// isToken reports whether s is a token of RFC 9110.
func isToken(s string) bool { return s != "" && only(s, "!#$%&'*+-.^_`|~") }
