package ring_test

import (
	"testing"

	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/schema/config"
)

// The address of a host that NO_PROXY exempts from the proxy is spared like any other.
func TestExempt(t *testing.T) {
	t.Setenv("NO_PROXY", "direct.test")
	t.Setenv("no_proxy", "direct.test")
	s, err := ring.NewSettings(configured(t, `
[network]
proxy = "http://127.0.0.1:3128"
connect-to = {"mapped.direct.test" = "127.0.0.1:8443"}
`))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for host, want := range map[string]bool{
		"a.test": true, "a.test:8443": true, "direct.test": false, "www.direct.test": false, "direct.test:8443": false,
		"mapped.direct.test": true, "127.0.0.1": false, "203.0.113.7": true, "[2001:db8::1]:8443": true,
	} {
		if got := s.Exempt(host); got != want {
			t.Errorf("Exempt(%s) = %t, want %t", host, got, want)
		}
	}
}

func TestAccepts(t *testing.T) {
	for _, tt := range []struct {
		accept, reject string
		contentType    string
		want           bool
	}{
		{`"text/html"`, ``, "text/html", true},
		{`"text/html"`, ``, "Text/HTML;charset=utf-8", true},
		{`"text/html"`, ``, "text/htmlx", false},
		{`"TEXT/*"`, ``, "text/plain", true},
		{`"text/*"`, ``, "texts/plain", false},
		{`"text/*"`, ``, "application/text", false},
		{`"application/x-*", "text/html"`, ``, "application/x-tex", true},
		{`"*/*"`, ``, "video/mp4", true},
		{`"*/*"`, `"video/*"`, "video/mp4", false},
		{`"text/*"`, `"text/css"`, "text/css", false},
		{`"text/*"`, `"*/*"`, "text/html", false},
	} {
		s := ring.Settings{Config: configured(t, "[content]\naccept-content-types = ["+tt.accept+"]\n"+
			"reject-content-types = ["+tt.reject+"]\n")}
		if got := s.Accepts(tt.contentType); got != tt.want {
			t.Errorf("[%s] without [%s] accepts %s: %t", tt.accept, tt.reject, tt.contentType, got)
		}
	}
}

// configured returns a configuration of one origin with additional tables.
func configured(t *testing.T, tables string) *config.Config {
	t.Helper()
	cfg, _, err := config.Parse([]byte(`
[user-agent]
crawler-name = "Test"
contact-email = "crawler@example.com"
[[quality]]
domain = "a.test"
seeds = ["https://a.test/"]
`+tables), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}
