package command

import (
	"strings"
	"testing"

	"github.com/sumi-ripple/ripple/schema/config"
)

// FuzzInitOrigins checks that a crawl accepts every origin that init accepts, once the contact is
// filled in.
func FuzzInitOrigins(f *testing.F) {
	for _, seed := range [][2]string{
		{"https://example.com/", "docs.example.org"}, {"*.vale.test", "vale.test"}, {"https://*.*.x/", "*.x"},
		{"https://a.test:8443/b?c=%22", "HTTP://WWW.A.TEST"}, {"https://[2001:db8::1]:99/", "192.0.2.1"},
		{"https://b\u00fccher.test/\u00e4", "*.b\u00fccher.test"}, {"https://*/", "*.com"}, {"a.test/\"\\\n", "a..test"},
		{"https://*.www.a.test/", "*.a.test"}, {"https://a.test/REPLACE-ME", "replace-me"}, {"https://a_b.test", "-a.test"},
		{"https://*.192.0.2.1/", "*.[::1]"}, {"*.a.test:99", "a*b.test"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, one, other string) {
		text, err := sampleOf([]string{one, other})
		if err != nil {
			return
		}
		text = strings.ReplaceAll(text, "REPLACE-ME", "example.net")
		if _, _, err := config.Parse([]byte(text), "", nil); err != nil {
			t.Errorf("%q, %q: %v", one, other, err)
		}
	})
}
