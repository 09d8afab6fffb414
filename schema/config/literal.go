package config

import (
	"fmt"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// tomlString formats a string: literal where that avoids escapes, else basic.
func tomlString(s string) string {
	if strings.Contains(s, `\`) && !strings.ContainsFunc(s, needsEscape) {
		return "'" + s + "'"
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// needsEscape reports a character that a literal string cannot contain.
func needsEscape(r rune) bool { return r < ' ' || r == 0x7f || r == '\'' }

// tomlFloat formats a number with a decimal point, as TOML requires.
func tomlFloat(x float64) string {
	s := strconv.FormatFloat(x, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// tomlDuration writes "24h" where the library writes "24h0m0s".
func tomlDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return tomlString(s)
}

func tomlPrefix(p netip.Prefix) string { return tomlString(p.String()) }

func tomlRegexp(re *regexp.Regexp) string { return tomlString(re.String()) }

// A sizeUnit is a suffix of a size.
type sizeUnit struct {
	name  string
	bytes int64
}

// sizeUnits are in the order in which they are tried when a size is written: the first that divides it
// is used. "B" is a suffix of every name, so it comes last.
func sizeUnits() []sizeUnit {
	return []sizeUnit{
		{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20},
		{"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3}, {"KiB", 1 << 10}, {"B", 1},
	}
}

func tomlSize(n int64) string {
	for _, u := range sizeUnits() {
		if n%u.bytes == 0 {
			return tomlString(strconv.FormatInt(n/u.bytes, 10) + u.name)
		}
	}
	return strconv.FormatInt(n, 10) // "B" divides every size
}

func parseSize(s string) (int64, error) {
	for _, u := range sizeUnits() {
		digits, ok := cutSuffixFold(strings.TrimSpace(s), u.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
		if err != nil || n < 0 || n > 1<<62/u.bytes {
			break
		}
		return n * u.bytes, nil
	}
	return 0, fmt.Errorf("%s is not a size like \"10MB\" or \"16MiB\"", quote(s))
}

func cutSuffixFold(s, suffix string) (string, bool) {
	i := len(s) - len(suffix)
	if i < 0 || !strings.EqualFold(s[i:], suffix) {
		return s, false
	}
	return s[:i], true
}
