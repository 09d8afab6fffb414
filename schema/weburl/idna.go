package weburl

import (
	"net/url"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

const acePrefix = "xn--"

// toASCII decodes escapes and applies UTS 46: non-transitional, allowing underscores and double
// hyphens. A pure ASCII name is only lower-cased, unless a label may be an A-label.
func toASCII(text string) (string, error) {
	name, err := url.PathUnescape(text)
	if err != nil || !utf8.ValidString(name) {
		return "", ErrMalformed
	}
	low := lowerASCII(name)
	if !strings.Contains(low, acePrefix) && isASCII(low) {
		return low, nil
	}
	// The library's tables predate the mapping of the capital sharp s to the small one.
	name = strings.ReplaceAll(name, "ẞ", "ß")
	p := idnaProfile()
	ascii, err := p.ToASCII(name)
	if err != nil || ascii == "" || hidesEmpty(p, name, ascii) || nestsACE(p, ascii) {
		return "", ErrMalformed
	}
	return ascii, nil
}

func idnaProfile() *idna.Profile {
	return idna.New(
		idna.MapForLookup(),
		idna.Transitional(false),
		idna.BidiRule(),
		idna.CheckJoiners(true),
		idna.CheckHyphens(false),
		idna.StrictDomainName(false),
		idna.VerifyDNSLength(false),
	)
}

// hidesEmpty reports an A-label that encodes nothing, which the library turns into an empty label. With
// a letter before it the label is not an A-label, so the library shows what it is mapped to.
func hidesEmpty(p *idna.Profile, name, ascii string) bool {
	if !strings.Contains("."+ascii+".", "..") {
		return false
	}
	for label := range strings.FieldsFuncSeq(name, isDot) {
		if mapped, err := p.ToASCII("a" + label); err == nil && mapped == "a"+acePrefix {
			return true
		}
	}
	return false
}

// isDot reports a character that UTS 46 treats as the dot between labels.
func isDot(c rune) bool {
	return c == '.' || c == '\u3002' || c == '\uff0e' || c == '\uff61'
}

// nestsACE reports an A-label that decodes to something like an A-label.
func nestsACE(p *idna.Profile, ascii string) bool {
	if !strings.Contains(ascii, acePrefix+acePrefix) {
		return false
	}
	for label := range strings.SplitSeq(ascii, ".") {
		if decoded, err := p.ToUnicode(label); err != nil || !isASCII(decoded) && strings.HasPrefix(decoded, acePrefix) {
			return true
		}
	}
	return false
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
