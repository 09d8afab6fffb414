package weburl_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	whatwg "github.com/nlnwa/whatwg-url/url"

	"github.com/sumi-ripple/ripple/schema/weburl"
)

func hostile() []string {
	return []string{
		"https://example.com/a/../b?b=1&a=2#c", "http://user@www.www.EXAMPLE.com.:443//a//", "../../x/./y/?q",
		"//host:80/x", `\\host\path`,
		"?", "#", "", "http:g", "https:g", "HTTP://[::1]:80", "https://１２７.1/",
		"https://ü_b.example./%7e%%32e/%2e%2E/",
		"ht\ttps://a\nb/\x00\xff", "https://www.1.2.3.4./", "https://xn--a/", "javascript:x",
		"https://%61%2e%62/?&&a=&A&utm_=", "https://a..b../",
		"https://0x7f.0.0.01/", "https://www.co.uk:08443/", "%2e%2e/%2E./a", ".//../..//c/", "https://www..com/", "/%zz%2",
		";x=1,2", "g:h",
	}
}

// The Norm of a Norm and of a Form is the Norm, and derived keys never panic.
func FuzzParse(f *testing.F) {
	for _, s := range hostile() {
		f.Add(s, s)
	}
	rules := newRules(f)
	start, err := rules.Base("https://www.example.com/dir/page?ref=1&b")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, baseRef, ref string) {
		base, err := start.With(baseRef)
		if err != nil {
			base = start
		}
		weburl.SURT(ref)
		weburl.Site(ref)
		weburl.Unicode(ref)
		u, err := base.Parse(ref)
		if err != nil {
			if err.Error() == "" || u != (weburl.URL{}) {
				t.Errorf("Parse(%q) = %+v, %v", ref, u, err)
			}
			return
		}
		checkLaws(t, rules, u)
		if u.Host() == "" || weburl.Site(u.Host()) == "" || !strings.Contains(weburl.SURT(u.Norm), ")/") {
			t.Errorf("%q: host %q, site %q, SURT %q", u.Norm, u.Host(), weburl.Site(u.Host()), weburl.SURT(u.Norm))
		}
	})
}

// FuzzWHATWG states that if both the library and this package find a URL, they find the same one. They
// disagree on whether there is one only for known hosts.
func FuzzWHATWG(f *testing.F) {
	for _, s := range append(hostile(), "//0-0", "//1.0x-1", "//-1.2") {
		f.Add("https://www.example.com/dir/page?ref=1&b", s)
		f.Add(s, "x/../y")
	}
	rules := withoutRules(f)
	f.Fuzz(func(t *testing.T, base, ref string) {
		if !utf8.ValidString(base + ref) {
			return // the library reports each byte as a separate error
		}
		ours, errOurs := resolve(rules, base, ref)
		theirs, errTheirs := resolveWHATWG(base, ref)
		if errors.Is(errOurs, weburl.ErrTooLong) {
			return
		}
		if _, err := rules.Base(base); errors.Is(err, weburl.ErrScheme) && base != "" {
			return // such a page cannot exist, so its references are never read
		}
		if errOurs != nil || errTheirs != nil {
			if (errOurs == nil) != (errTheirs == nil) && !mayDiffer(base) && !mayDiffer(ref) {
				t.Errorf("%q on %q = %q, %v; the library says %q, %v", ref, base, ours.Form, errOurs, theirs, errTheirs)
			}
			return
		}
		if got := ours.Form; folded(got) != folded(formOf(theirs)) && !mayDiffer(base) && !mayDiffer(ref) {
			t.Errorf("%q on %q = %q; the library says %q", ref, base, got, theirs)
		}
	})
}

var errNotWeb = errors.New("not http or https")

func resolveWHATWG(base, ref string) (string, error) {
	u, err := whatwg.ParseRef(base, ref)
	if err != nil {
		return "", err
	}
	if p := u.Protocol(); p != "http:" && p != "https:" {
		return "", errNotWeb
	}
	u.SetPathname(strings.NewReplacer("^", "%5E", "|", "%7C").Replace(u.Pathname())) // the library leaves these
	return u.Href(true), nil
}

// mayDiffer reports hosts on which the library is stricter than this package (underscores next to
// non-ASCII letters, signs read as numbers), laxer (nested brackets), or on which this package deviates
// (trailing dots). The tables and the published vectors cover those.
func mayDiffer(raw string) bool {
	raw = strings.TrimFunc(raw, func(c rune) bool { return c <= ' ' })
	raw = strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(raw)
	if scheme, rest, ok := strings.Cut(raw, ":"); ok && !strings.ContainsAny(scheme, `/\?#`) {
		raw = rest
	}
	host := strings.TrimLeft(raw, `/\`)
	if i := strings.IndexAny(host, `/\?#`); i >= 0 {
		host = host[:i]
	}
	host = strings.ToLower(host[strings.LastIndexByte(host, '@')+1:])
	return strings.ContainsFunc(host, func(c rune) bool { return c >= 0x80 }) || strings.ContainsAny(host, "%[]+") ||
		strings.Contains(host+":", ".:") || strings.Contains(host, "xn--") || signedNumber.MatchString(host)
}

// signedNumber matches the labels that the library reads as signed numbers.
var signedNumber = regexp.MustCompile(`(^|\.)(0x?)?-`)
