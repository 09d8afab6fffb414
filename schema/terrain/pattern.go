package terrain

import (
	"cmp"
	"fmt"
	"net/netip"
	"strings"

	"github.com/sumi-ripple/ripple/schema/weburl"
)

// A Pattern names hosts: "example.com" is that host, "*.example.com" is
// example.com and every name below it, at any port. Patterns are normalised, so
// they can be compared with == and used as keys. The zero value matches nothing.
type Pattern struct {
	base  string // normalised host without port
	below bool   // written with "*."
}

// ParsePattern reads and normalises a pattern. The notice, if not empty, says what
// was changed in a way that the writer may not expect.
func ParsePattern(s string) (p Pattern, notice string, err error) {
	if p, notice, err = parsePattern(s); err == nil && hasOuterHyphen(weburl.Unicode(p.base)) {
		return Pattern{}, "", fmt.Errorf("%q is not a host name: a label begins or ends with a hyphen", cut(s))
	}
	return p, notice, err
}

// parsePattern lets hyphens stand at the ends of labels, as names that DNS answers
// and lists hold have them.
func parsePattern(s string) (p Pattern, notice string, err error) {
	name, below := strings.CutPrefix(s, "*.")
	if isPlain(name) {
		return Pattern{name, below}, "", nil
	}
	if err := checkForm(name, below); err != nil {
		return Pattern{}, "", err
	}
	base, err := weburl.NormalizeHost(name)
	if err != nil || !isHostName(base) {
		return Pattern{}, "", fmt.Errorf("%q is not a host name", cut(s))
	}
	p = Pattern{base, below}
	if below && isIP(base) {
		return Pattern{}, "", fmt.Errorf("nothing is below an address: write %q", base)
	}
	if hasWWW(name) && !hasWWW(base) {
		notice = fmt.Sprintf("%q means %q: a leading www. says nothing about a host", s, p)
	}
	return p, notice, nil
}

// checkForm finds what is more than a name, and shows the form that is meant.
func checkForm(name string, below bool) error {
	rest, isURL := name, false
	if _, after, ok := strings.Cut(rest, "://"); ok {
		rest, isURL = after, true
	}
	if i := strings.IndexAny(rest, `/\?#`); i >= 0 {
		rest, isURL = rest[:i], true
	}
	if i := strings.LastIndexByte(rest, '@'); i >= 0 {
		rest, isURL = rest[i+1:], true
	}
	if tail, ok := strings.CutPrefix(rest, "*."); ok && isURL {
		rest, below = tail, true
	}
	host, _ := weburl.SplitPort(rest)
	right, err := weburl.NormalizeHost(host)
	switch {
	case err != nil || !isHostName(right):
		if strings.Contains(name, "*") {
			return fmt.Errorf("%q: a wildcard stands only in front, as in \"*.example.com\"", cut(name))
		}
		return fmt.Errorf("%q is not a host name like \"example.com\" or \"*.example.com\"", cut(name))
	case isURL:
		return fmt.Errorf("%q is a URL, not a host name: write %q", cut(name), Pattern{right, below}.String())
	case host != rest:
		return fmt.Errorf("%q has a port, but a pattern holds for every port: write %q", cut(name),
			Pattern{right, below}.String())
	}
	return nil
}

// String returns the pattern as ParsePattern reads it.
func (p Pattern) String() string {
	if p.below {
		return "*." + p.base
	}
	return p.base
}

// IsZero reports whether p is the zero Pattern.
func (p Pattern) IsZero() bool { return p == Pattern{} }

// Match reports whether p names the normalised host, which may carry a port.
func (p Pattern) Match(host string) bool {
	name, _ := weburl.SplitPort(host)
	return !p.IsZero() && p.matchesName(name)
}

func (p Pattern) matchesName(name string) bool {
	head, ok := strings.CutSuffix(name, p.base)
	return ok && (head == "" || p.below && strings.HasSuffix(head, "."))
}

// Compare orders patterns so that of two that match the same host the more
// specific one comes first.
func (p Pattern) Compare(q Pattern) int {
	if p.below != q.below {
		if p.below {
			return 1
		}
		return -1
	}
	return cmp.Or(cmp.Compare(len(q.base), len(p.base)), cmp.Compare(p.base, q.base))
}

func isIP(host string) bool {
	_, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil
}

func hasWWW(name string) bool {
	return len(name) >= 4 && strings.EqualFold(name[:4], "www.")
}

// cut keeps a quoted value short enough for one line.
func cut(s string) string {
	const most = 100
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "..."
}
