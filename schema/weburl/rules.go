package weburl

import (
	"fmt"
	"strings"
)

// DefaultMaxLength is the default maximum length of a Norm, in bytes.
const DefaultMaxLength = 2048

// DefaultStripParams returns patterns of parameters that only track where a visitor came from.
func DefaultStripParams() []string {
	return []string{"utm_*", "fbclid", "gclid", "mc_eid", "ref", "source"}
}

// Rules are the [url] part of the configuration. They are immutable and safe for concurrent use.
type Rules struct {
	maxLength int
	exact     map[string]bool // lower case
	prefixes  []string        // lower case
	first     [256]bool       // bytes that a stripped name can begin with
	all       bool            // a pattern was "*"
}

// NewRules returns rules that drop parameters and refuse a Norm longer than maxLength bytes. A
// parameter is dropped if its name matches a pattern: a name, or a prefix and "*", ignoring case. Names
// are compared as written in the query, without decoding escapes.
func NewRules(stripParams []string, maxLength int) (*Rules, error) {
	if maxLength < 1 || maxLength > maxRaw {
		return nil, fmt.Errorf("maximum length %d of a URL is not between 1 and %d", maxLength, maxRaw)
	}
	r := &Rules{maxLength: maxLength, exact: make(map[string]bool)}
	for _, pattern := range stripParams {
		if err := r.add(pattern); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func (r *Rules) add(pattern string) error {
	name, isPrefix := strings.CutSuffix(lowerASCII(pattern), "*")
	switch {
	case pattern == "":
		return fmt.Errorf("parameter pattern %q is empty", pattern)
	case strings.Contains(name, "*"):
		return fmt.Errorf("parameter pattern %q: %q may only stand at the end", pattern, "*")
	case strings.ContainsFunc(name, neverInName):
		return fmt.Errorf("parameter pattern %q contains a character that no parameter name can have; "+
			"write it percent-encoded", pattern)
	case name == "":
		r.all = true
		return nil
	case isPrefix:
		r.prefixes = append(r.prefixes, name)
	default:
		r.exact[name] = true
	}
	r.first[name[0]], r.first[upper(name[0])] = true, true
	return nil
}

// neverInName reports a character that the query of a Form cannot contain, or that ends a name.
func neverInName(c rune) bool {
	return c >= 0x7f || queryEscapes(byte(c)) || c == '&' || c == '='
}

// strips reports whether a parameter is dropped.
func (r *Rules) strips(name []byte) bool {
	if r.all {
		return true
	}
	if len(name) == 0 || !r.first[name[0]] {
		return false
	}
	var buf [64]byte
	low := buf[:0]
	for _, c := range name {
		low = append(low, lower(c))
	}
	if r.exact[string(low)] {
		return true
	}
	for _, prefix := range r.prefixes {
		if len(low) >= len(prefix) && string(low[:len(prefix)]) == prefix {
			return true
		}
	}
	return false
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

func upper(c byte) byte {
	if 'a' <= c && c <= 'z' {
		return c - ('a' - 'A')
	}
	return c
}

// lowerASCII changes only ASCII letters, unlike strings.ToLower.
func lowerASCII(s string) string {
	for i := range len(s) {
		if lower(s[i]) != s[i] {
			return strings.Map(lowerRune, s)
		}
	}
	return s
}

func lowerRune(c rune) rune {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
