package scope

import "strings"

const (
	maxName  = 253 // bytes of a host name (RFC 1035)
	maxLabel = 63
)

// isHostName reports whether a canonical host can be requested: an address, or labels of letters,
// digits, hyphens and underscores. WHATWG allows more.
func isHostName(host string) bool {
	return isIP(host) || isName(host)
}

func isName(host string) bool {
	if len(host) > maxName {
		return false
	}
	for label := range strings.SplitSeq(host, ".") {
		if !isLabel(label) {
			return false
		}
	}
	return true
}

func isLabel(label string) bool {
	if label == "" || len(label) > maxLabel {
		return false
	}
	for i := range len(label) {
		if !isLabelByte(label[i]) {
			return false
		}
	}
	return true
}

// hasOuterHyphen reports whether a label begins or ends with a hyphen, which RFC 952 forbids in host
// names.
func hasOuterHyphen(name string) bool {
	return strings.Contains("."+name, ".-") || strings.Contains(name+".", "-.")
}

func isLabelByte(c byte) bool {
	return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '_'
}

// isPlain reports whether a name is certainly in canonical form, which saves most names of a long list
// the full check. It may return false for a canonical name.
func isPlain(name string) bool {
	if !isName(name) || hasWWW(name) || strings.Contains(name, "--") {
		return false
	}
	last := name[strings.LastIndexByte(name, '.')+1:]
	return 'a' <= last[0] && last[0] <= 'z'
}
