package scope

import (
	"cmp"
	"fmt"
	"net/netip"
	"strings"

	"github.com/sumi-ripple/ripple/schema/weburl"
)

// A Pattern matches hosts on any port: "example.com" is that host, "*.example.com" is example.com and
// every name below it. Patterns are canonical, so they can be compared with == and used as map keys.
// The zero value matches nothing.
type Pattern struct {
	base  string // canonical host without port
	below bool   // written with "*."
}

// ParsePattern parses a pattern into canonical form. The notice, if not empty, reports a change that
// the author may not expect.
func ParsePattern(s string) (p Pattern, notice string, err error) {
	if p, notice, err = parsePattern(s); err == nil && hasOuterHyphen(weburl.Unicode(p.base)) {
		return Pattern{}, "", fmt.Errorf("%q is not a host name: a label begins or ends with a hyphen", cut(s))
	}
	return p, notice, err
}

// parsePattern allows hyphens at the ends of labels, because such names exist in DNS and in lists.
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

// checkForm explains why a text is not a name, and shows the intended form.
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

// String returns the pattern in the form that ParsePattern reads.
func (p Pattern) String() string {
	if p.below {
		return "*." + p.base
	}
	return p.base
}

// IsZero reports whether p is the zero Pattern.
func (p Pattern) IsZero() bool { return p == Pattern{} }

// Match reports whether p matches the canonical host, which may include a port.
func (p Pattern) Match(host string) bool {
	name, _ := weburl.SplitPort(host)
	return !p.IsZero() && p.matchesName(name)
}

func (p Pattern) matchesName(name string) bool {
	head, ok := strings.CutSuffix(name, p.base)
	return ok && (head == "" || p.below && strings.HasSuffix(head, "."))
}

// Compare orders patterns so that the more specific of two matching patterns comes first.
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

// cut shortens a quoted value to fit on one line.
func cut(s string) string {
	const most = 100
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "..."
}
