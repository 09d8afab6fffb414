package weburl_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/schema/process"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// newRules returns the rules of an empty configuration.
func newRules(t testing.TB) *weburl.Rules {
	t.Helper()
	r, err := weburl.NewRules(weburl.DefaultStripParams(), weburl.DefaultMaxLength)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A parseRow is a spelling and its result; form "" means that it equals norm.
type parseRow struct{ name, in, norm, form string }

// pathRows test schemes, paths and queries.
func pathRows() []parseRow {
	return []parseRow{
		{"https for http", "http://example.com/page", "https://example.com/page", ""},
		{"www and root", "https://www.example.com/", "https://example.com/", "https://www.example.com/"},
		{"trailing slash", "https://example.com/page/", "https://example.com/page", "https://example.com/page/"},
		{"trailing slashes", "https://example.com/page///", "https://example.com/page", "https://example.com/page///"},
		{"only slashes", "https://example.com///", "https://example.com/", "https://example.com///"},
		{"inner slashes", "https://example.com//a//b", "https://example.com//a//b", ""},
		{"no path", "https://example.com", "https://example.com/", ""},
		{"no path but query", "https://example.com?a", "https://example.com/?a", ""},
		{"fragment", "https://example.com/page#section", "https://example.com/page", ""},
		{"fragment holding a query", "https://example.com/page#s?a=1", "https://example.com/page", ""},
		{"tracking", "https://example.com/page?utm_source=x&id=1", "https://example.com/page?id=1", ""},
		{"tracking, in another case", "https://example.com/page?UTM_Source=x&Ref=y&id=1", "https://example.com/page?id=1",
			""},
		{"tracking alone", "https://example.com/page?utm_source=x", "https://example.com/page", ""},
		{"not quite tracking", "https://example.com/?reference=1&utm=2", "https://example.com/?reference=1&utm=2", ""},
		{"stripping keeps order", "https://example.com/?c=1&&fbclid=2&a=3", "https://example.com/?a=3&c=1",
			"https://example.com/?c=1&&a=3"},
		{"sorted", "https://example.com/page?b=2&a=1", "https://example.com/page?a=1&b=2",
			"https://example.com/page?b=2&a=1"},
		{"equal names keep order", "https://example.com/?a=2&b&a=1", "https://example.com/?a=2&a=1&b",
			"https://example.com/?a=2&b&a=1"},
		{"names, not parameters, are sorted", "https://example.com/?a-=1&a=2", "https://example.com/?a=2&a-=1",
			"https://example.com/?a-=1&a=2"},
		{"an empty name is the first", "https://example.com/?a&=1&!b", "https://example.com/?=1&!b&a",
			"https://example.com/?a&=1&!b"},
		{"a and a= differ", "https://example.com/?a", "https://example.com/?a", ""},
		{"a= and a differ", "https://example.com/?a=", "https://example.com/?a=", ""},
		{"query escapes stay", "https://example.com/?q=%7e%2f+x", "https://example.com/?q=%7e%2f+x", ""},
		{"quote in query", "https://example.com/?q='", "https://example.com/?q=%27", ""},
		{"empty query", "https://example.com/page?", "https://example.com/page", "https://example.com/page?"},
		{"empty pieces", "https://example.com/?&&a&", "https://example.com/?a", "https://example.com/?&&a&"},
		{"dot segments", "https://example.com/a/../b/./c", "https://example.com/b/c", ""},
		{"dot segments at the end", "https://example.com/a/b/..", "https://example.com/a", "https://example.com/a/"},
		{"dot segments above the root", "https://example.com/../../a", "https://example.com/a", ""},
		{"escaped dot segments", "https://example.com/a/%2e%2E/b/.%2e/%2e/c", "https://example.com/c", ""},
		{"escapes that are no dots", "https://example.com/a/%2f/%4e/b", "https://example.com/a/%2F/N/b", ""},
		{"three dots", "https://example.com/a/.../b", "https://example.com/a/.../b", ""},
		{"case of host and path", "HTTPS://EXAMPLE.COM/Page", "https://example.com/Page", ""},
		{"unreserved decoded", "https://example.com/%7Eme/%61%2D%5f%2e", "https://example.com/~me/a-_.", ""},
		{"a query keeps its escapes", "https://example.com/%c3%a9/?q=%c3%61", "https://example.com/%C3%A9?q=%c3%61",
			"https://example.com/%C3%A9/?q=%c3%61"},
		{"escapes in upper case", "https://example.com/%c3%a9%2f", "https://example.com/%C3%A9%2F", ""},
		{"stray percent", "https://example.com/100%", "https://example.com/100%", ""},
		{"no escape arises", "https://example.com/%%32e%%32e/%a%65", "https://example.com/%%32e%%32e/%a%65", ""},
		{"space and umlaut", "https://example.com/a b/ü?q=ü x", "https://example.com/a%20b/%C3%BC?q=%C3%BC%20x", ""},
		{"not UTF-8", "https://example.com/\xff", "https://example.com/%EF%BF%BD", ""},
		{"not UTF-8, one error a beginning of a character",
			"https://example.com/\xe2\x82a\xe2\x82\xf0\x9f\x98\xff\xed\xa0\x80b",
			"https://example.com/%EF%BF%BDa" + strings.Repeat("%EF%BF%BD", 6) + "b", ""},
		{"control characters", "https://example.com/\x01\x7f?\x1fa", "https://example.com/%01%7F?%1Fa", ""},
		{"control characters at the ends", "\x00\x1f https://example.com/a\x7f \x01", "https://example.com/a%7F", ""},
		{"NUL in path", "https://example.com/a\x00b", "https://example.com/a%00b", ""},
		{"tabs and newlines", " ht\ntps://exa\tmple.com/a\r\nb \n", "https://example.com/ab", ""},
		{"caret and bar in a path", "https://example.com/a^b|c?d^e|f", "https://example.com/a%5Eb%7Cc?d^e|f", ""},
		{"the same escaped", "https://example.com/a%5eb%7Cc", "https://example.com/a%5Eb%7Cc", ""},
		{"backslashes", `https:\\example.com\a\..\b`, "https://example.com/b", ""},
		{"backslash in query", `https://example.com/?a\b`, `https://example.com/?a\b`, ""},
		{"too few slashes", "https:example.com/a", "https://example.com/a", ""},
		{"too many slashes", "https:////example.com/a", "https://example.com/a", ""},
	}
}

// hostRows test users, hosts and ports.
func hostRows() []parseRow {
	return []parseRow{
		{"user and password", "https://user:pa@ss@example.com/", "https://example.com/", ""},
		{"port 443", "https://example.com:443/", "https://example.com/", ""},
		{"port 80 of http", "http://example.com:80/", "https://example.com/", ""},
		{"port 443 of http", "http://example.com:443/", "https://example.com/", ""},
		{"port 80 of https", "https://example.com:80/", "https://example.com:80/", ""},
		{"another port", "http://www.example.com:08080/", "https://example.com:8080/", "https://www.example.com:8080/"},
		{"another port, of a host in capitals", "https://EXAMPLE.com:8443/", "https://example.com:8443/", ""},
		{"another port, behind a trailing dot", "https://www.example.com.:8443/", "https://example.com:8443/",
			"https://www.example.com:8443/"},
		{"another port, behind an umlaut", "https://ü.example:8443/", "https://xn--tda.example:8443/", ""},
		{"another port, behind a user", "https://user:8080@example.com:8443/", "https://example.com:8443/", ""},
		{"another port, of a number", "https://2130706433:8443/", "https://127.0.0.1:8443/", ""},
		{"the largest port", "https://example.com:65535/", "https://example.com:65535/", ""},
		{"empty port", "https://example.com:/", "https://example.com/", ""},
		{"trailing dot", "https://example.com./", "https://example.com/", ""},
		{"umlaut", "https://www.Bücher.example/", "https://xn--bcher-kva.example/", "https://www.xn--bcher-kva.example/"},
		{"not transitional", "https://faß.example/", "https://xn--fa-hia.example/", ""},
		{"underscore and umlaut", "https://a_ü.example/", "https://xn--a_-yka.example/", ""},
		{"double hyphen", "https://r3---sn.example/", "https://r3---sn.example/", ""},
		{"www twice", "https://www.www.example.com/", "https://example.com/", "https://www.www.example.com/"},
		{"www of a registry", "https://www.co.uk/", "https://www.co.uk/", ""},
		{"www of a private suffix", "https://www.github.io/", "https://github.io/", "https://www.github.io/"},
		{"www of a top level", "https://www.com/", "https://www.com/", ""},
		{"www of a name not listed", "https://www.localhost:8080/", "https://localhost:8080/", "https://www.localhost:8080/"},
		{"www twice of a registry", "https://www.www.co.uk/", "https://www.co.uk/", "https://www.www.co.uk/"},
		{"www alone", "https://www/", "https://www/", ""},
		{"www1 is a name", "https://www1.example.com/", "https://www1.example.com/", ""},
		{"IPv4", "https://192.168.0.1/", "https://192.168.0.1/", ""},
		{"IPv4, odd spellings", "https://0x7f.1/", "https://127.0.0.1/", ""},
		{"IPv4 as a number", "https://2130706433/", "https://127.0.0.1/", ""},
		{"IPv4, wide digits", "https://１２７.0.0.1/", "https://127.0.0.1/", ""},
		{"IPv4, octal and hexadecimal", "https://0300.0250.0x0.0X1/", "https://192.168.0.1/", ""},
		{"IPv4, empty hexadecimal", "https://0x.0x.0x/", "https://0.0.0.0/", ""},
		{"IPv4, one trailing dot", "https://1.2.3.4./", "https://1.2.3.4/", ""},
		{"IPv4, the largest", "https://4294967295/", "https://255.255.255.255/", ""},
		{"no IPv4: the last label is a name", "https://1.2.3.4a/", "https://1.2.3.4a/", ""},
		{"no IPv4: signs before a name", "https://-1.+2.com/", "https://-1.+2.com/", ""},
		{"capital sharp s", "https://FAẞ.example/", "https://xn--fa-hia.example/", ""},
		{"soft hyphen", "https://ex\u00adample.com/", "https://example.com/", ""},
		{"empty label", "https://a..ü/", "https://a..xn--tda/", ""},
		{"punycode in capitals", "https://XN--Bcher-KVA.example/", "https://xn--bcher-kva.example/", ""},
		{"dots of other scripts", "https://example\u3002com/", "https://example.com/", ""},
		{"IPv6, not the shortest", "https://[1:0:0:2:0:0:0:3]/", "https://[1:0:0:2::3]/", ""},
		{"IPv6, one zero alone", "https://[1:0:2:3:4:5:6:7]/", "https://[1:0:2:3:4:5:6:7]/", ""},
		{"IPv4, trailing dots", "https://1.2.3../", "https://1.2.0.3/", ""},
		{"IPv6", "https://[2001:DB8:0:0::1]:8443/", "https://[2001:db8::1]:8443/", ""},
		{"IPv6 with IPv4 in it", "https://[::ffff:1.2.3.4]/", "https://[::ffff:102:304]/", ""},
	}
}

func TestParse(t *testing.T) {
	rules := newRules(t)
	for _, tt := range append(pathRows(), hostRows()...) {
		t.Run(tt.name, func(t *testing.T) {
			u, err := rules.Parse(tt.in)
			if tt.form == "" {
				tt.form = tt.norm
			}
			if err != nil || u.Norm != tt.norm || u.Form != tt.form {
				t.Fatalf("Parse(%q) = %q, %q, %v; want %q, %q", tt.in, u.Norm, u.Form, err, tt.norm, tt.form)
			}
			if want := strings.HasPrefix(tt.in, "http:"); u.HTTP != want {
				t.Errorf("HTTP = %v", u.HTTP)
			}
			checkLaws(t, rules, u)
		})
	}
}

// checkLaws checks the laws in the package comment for u.
func checkLaws(t *testing.T, rules *weburl.Rules, u weburl.URL) {
	t.Helper()
	if again, err := rules.Parse(u.Norm); err != nil || again.Norm != u.Norm || again.Form != u.Norm {
		t.Errorf("not idempotent: Parse(%q) = %q, %q, %v", u.Norm, again.Norm, again.Form, err)
	}
	if again, err := rules.Parse(u.Form); err != nil || again.Norm != u.Norm || again.Form != u.Form {
		t.Errorf("Parse(Form %q) = %q, %q, %v; want Norm %q", u.Form, again.Norm, again.Form, err, u.Norm)
	}
	normPath, _, _ := strings.Cut(u.PathQuery(), "?")
	formPath, _, _ := strings.Cut(weburl.PathQuery(u.Form), "?")
	if strings.TrimRight(formPath, "/") != strings.TrimRight(normPath, "/") {
		t.Errorf("the path of Form %q has other escapes than that of Norm %q", u.Form, u.Norm)
	}
	host, pathQuery := weburl.Split(u.Norm)
	if u.Host() != host || u.PathQuery() != pathQuery {
		t.Errorf("%q has host %q and the rest %q", u.Norm, u.Host(), u.PathQuery())
	}
	if host == "" || "https://"+host+pathQuery != u.Norm || pathQuery == "" || pathQuery[0] != '/' {
		t.Errorf("Split(%q) = %q, %q", u.Norm, host, pathQuery)
	}
	if named, err := weburl.NormalizeHost(host); err == nil && named != host {
		t.Errorf("NormalizeHost(%q) = %q, %v", host, named, err)
	}
}

// A badRow is not a URL.
type badRow struct {
	name, in string
	err      error
}

func badRows() []badRow {
	return []badRow{
		{"empty", "", weburl.ErrScheme},
		{"relative", "/page", weburl.ErrScheme},
		{"host alone", "example.com/page", weburl.ErrScheme},
		{"host and port alone", "example.com:80/page", weburl.ErrScheme},
		{"javascript", "javascript:alert(1)", weburl.ErrScheme},
		{"mailto", "mailto:a@example.com", weburl.ErrScheme},
		{"file", "file:///etc/passwd", weburl.ErrScheme},
		{"ftp", "ftp://example.com/", weburl.ErrScheme},
		{"no host", "https://", weburl.ErrNoHost},
		{"no host but port", "https://:80/", weburl.ErrNoHost},
		{"no host but user", "https://user@/", weburl.ErrNoHost},
		{"host of a dot", "https://./", weburl.ErrNoHost},
		{"port too high", "https://example.com:65536/", weburl.ErrMalformed},
		{"port far too high", "https://example.com:99999999999999999999/", weburl.ErrMalformed},
		{"port of letters", "https://example.com:b/", weburl.ErrMalformed},
		{"space in host", "https://exa mple.com/", weburl.ErrMalformed},
		{"NUL in host", "https://exa\x00mple.com/", weburl.ErrMalformed},
		{"escaped slash in host", "https://a%2Fb/", weburl.ErrMalformed},
		{"escaped tab in host", "https://a%09b/", weburl.ErrMalformed},
		{"bad punycode", "https://xn--zz--zz.example/", weburl.ErrMalformed},
		{"bad IPv4", "https://256.1.1.1/", weburl.ErrMalformed},
		{"IPv4 with a minus", "http://-1.2.3.4/", weburl.ErrMalformed},
		{"IPv4 with a plus", "http://+1.2.3.4", weburl.ErrMalformed},
		{"IPv4 with a minus inside", "http://1.-2.3.4", weburl.ErrMalformed},
		{"IPv4 with a wide minus", "http://\uff0d1.2.3.4/", weburl.ErrMalformed},
		{"IPv4 with an underscore", "http://1_0.2.3.4", weburl.ErrMalformed},
		{"IPv4 with a gap", "http://1..2", weburl.ErrMalformed},
		{"IPv4 of five parts", "http://1.2.3.4.5", weburl.ErrMalformed},
		{"IPv4, octal with a nine", "http://foo.09", weburl.ErrMalformed},
		{"IPv4, no hexadecimal", "http://0xg.1/", weburl.ErrMalformed},
		{"IPv4, too large", "http://4294967296/", weburl.ErrMalformed},
		{"IPv4, far too large", "http://1.0x" + strings.Repeat("f", 40), weburl.ErrMalformed},
		{"hexadecimal number at the end", "http://example.0x1F", weburl.ErrMalformed},
		{"empty A-label at the end", "http://victim.com.xn--/", weburl.ErrMalformed},
		{"empty A-label", "http://xn--.com/", weburl.ErrMalformed},
		{"empty A-label, wide", "http://\uff38N--.com/", weburl.ErrMalformed},
		{"empty A-label and soft hyphen", "http://a.xn\u00ad--.com/", weburl.ErrMalformed},
		{"A-label of ASCII", "http://xn--ascii-.com/", weburl.ErrMalformed},
		{"A-label in an A-label", "http://xn--xn---epa.com/", weburl.ErrMalformed},
		{"soft hyphen before brackets", "http://\u00AD[::1]/", weburl.ErrMalformed},
		{"soft hyphen alone", "http://\u00AD/", weburl.ErrMalformed},
		{"escaped brackets", "http://%5B::1%5D/", weburl.ErrMalformed},
		{"text behind brackets", "http://[::1]a/", weburl.ErrMalformed},
		{"IPv4 in brackets", "http://[1.2.3.4]/", weburl.ErrMalformed},
		{"IPv6 with an octal part", "http://[::01.2.3.4]/", weburl.ErrMalformed},
		{"not UTF-8 in host", "http://a%ff.com/", weburl.ErrMalformed},
		{"name before a number", "https://www.1.2.3.4/", weburl.ErrMalformed},
		{"bad IPv6", "https://[::1/", weburl.ErrMalformed},
		{"brackets in brackets", "https://[[::1]]/", weburl.ErrMalformed},
		{"IPv6 zone", "https://[fe80::1%25eth0]/", weburl.ErrMalformed},
		{"long host", "https://" + strings.Repeat("ü", 5000) + ".example/", weburl.ErrTooLong},
		{"long path", "https://example.com/" + strings.Repeat("a", weburl.DefaultMaxLength), weburl.ErrTooLong},
		{"1 MB", "https://example.com/" + strings.Repeat("/", 1<<20), weburl.ErrTooLong},
	}
}

func TestParseErrors(t *testing.T) {
	rules := newRules(t)
	for _, tt := range badRows() {
		t.Run(tt.name, func(t *testing.T) {
			u, err := rules.Parse(tt.in)
			if !errors.Is(err, tt.err) {
				t.Fatalf("Parse = %+v, %v; want %v", u, err, tt.err)
			}
			if text := err.Error(); len(text) > 600 || strings.ContainsAny(text, "\x00\x1b\n") {
				t.Errorf("error of %d bytes: %q", len(text), text)
			}
		})
	}
}

func TestLengthLimitIsOfTheNorm(t *testing.T) {
	rules, err := weburl.NewRules([]string{"junk"}, 24)
	if err != nil {
		t.Fatal(err)
	}
	u, err := rules.Parse("http://www.example.com/abcd/?junk=" + strings.Repeat("x", 100))
	if err != nil || u.Norm != "https://example.com/abcd" {
		t.Errorf("Parse = %q, %v", u.Norm, err)
	}
	if u, err = rules.Parse("https://example.com/abcde"); !errors.Is(err, weburl.ErrTooLong) {
		t.Errorf("Parse = %q, %v", u.Norm, err)
	}
}

// Input of maximum length is parsed in a moment, whatever it contains; an 8 MB page could hold a
// hundred such links.
func TestTimeIsLinear(t *testing.T) {
	fill := func(before, piece, after string) string {
		return before + strings.Repeat(piece, (64<<10-len(before)-len(after))/len(piece)) + after
	}
	inputs := map[string]string{
		"slashes":       fill("https://example.com/", "/", ""),
		"dot segments":  fill("https://example.com/", "a/../", ""),
		"climbing":      fill("https://example.com/"+strings.Repeat("a/", 15<<10), "../", ""),
		"escapes":       fill("https://example.com/", "%41", ""),
		"stray percent": fill("https://example.com/", "%", ""),
		"nested escape": fill("https://example.com/", "%%32%65", ""),
		"ampersands":    fill("https://example.com/?", "&", ""),
		"parameters":    fill("https://example.com/?", "b&a&", ""),
		"tracking":      fill("https://example.com/?", "utm_a&", ""),
		"at signs":      fill("https://", "@", "example.com/"),
		"user":          fill("https://", "u:", "@example.com/"),
		"scheme":        fill("", "a", ":x"),
		"tabs":          fill("https://example.com/", "\t", ""),
		"not UTF-8":     fill("https://example.com/", "\xff", ""),
		"labels":        fill("https://", "a.", "com/"),
		"www":           fill("https://", "www.", "com/"),
		"dots":          fill("https://a", ".", "/"),
		"odd labels":    fill("https://", "ü.", "com/"),
		"brackets":      fill("https://", "[", "/"),
		"ports":         fill("https://example.com:", "0", "80/"),
		"colons":        fill("https://example.com", ":", "/"),
	}
	rules := withoutRules(t)
	for name, raw := range inputs {
		start := process.CPUTime()
		u, err := rules.Parse(raw)
		if err == nil {
			weburl.SURT(u.Norm)
			weburl.Site(u.Host())
			weburl.Unicode(u.Host())
		}
		if spent := process.CPUTime() - start; spent > 200*time.Millisecond {
			t.Errorf("%s: %v", name, spent)
		}
	}
}
