package desk

import (
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/sumi-ripple/ripple/schema/config"
)

// An asking is a request, with the right token unless a header says otherwise, and the expected
// code of its answer.
type asking struct {
	name, method, path string
	header             []string
	want               int
}

// answered sends requests, and checks what every answer must and must not have.
func (s *served) answered(all []asking) {
	for _, one := range all {
		s.t.Run(one.name, func(t *testing.T) {
			code, text, header := s.ask(one.method, one.path, `{}`, one.header...)
			if code != one.want {
				t.Errorf("%s %s: %d, want %d: %s", one.method, one.path, code, one.want, text)
			}
			for _, name := range []string{"Content-Security-Policy", "X-Content-Type-Options", "Referrer-Policy",
				"Cross-Origin-Opener-Policy", "Cross-Origin-Resource-Policy"} {
				if header.Get(name) == "" {
					t.Errorf("there is no %s", name)
				}
			}
			for name := range header {
				if strings.HasPrefix(name, "Access-Control-") || name == "Set-Cookie" {
					t.Errorf("%s: %s", name, header.Get(name))
				}
			}
			if strings.Contains(text+fmt.Sprint(header), testToken) {
				t.Error("the token is told")
			}
		})
	}
}

// A request for a name that was made to resolve to this machine is refused, whatever else is right.
func TestHosts(t *testing.T) {
	s := serve(t, config.Monitor{Hosts: []string{"desk.example.com"}})
	_, port, _ := net.SplitHostPort(s.host)
	s.answered([]asking{
		{"its address", "GET", "/api/v1/now", nil, 200},
		{"localhost", "GET", "/api/v1/now", []string{"Host", "localhost:" + port}, 200},
		{"a name of its own", "GET", "/api/v1/now", []string{"Host", "Desk.Example.com"}, 200},
		{"a name of its own with a dot", "GET", "/api/v1/now", []string{"Host", "desk.example.com.:" + port}, 200},
		{"through a tunnel", "GET", "/api/v1/now", []string{"Host", "[::1]:9999"}, 200},

		{"a rebound name", "GET", "/api/v1/now", []string{"Host", "evil.example"}, 421},
		{"a rebound name with the port", "GET", "/", []string{"Host", "evil.example:" + port}, 421},
		{"a rebound name changes", "POST", "/api/v1/change", []string{"Host", "evil.example",
			"Origin", "http://evil.example"}, 421},
		{"a name that begins alike", "GET", "/", []string{"Host", "127.0.0.1.evil.example"}, 421},
		{"a name that ends alike", "GET", "/", []string{"Host", "evil-localhost"}, 421},
		{"a name below its own", "GET", "/", []string{"Host", "x.desk.example.com"}, 421},
		{"another address", "GET", "/", []string{"Host", "10.1.2.3"}, 421},
		{"no address at all", "GET", "/", []string{"Host", "0.0.0.0:" + port}, 421},
		{"a number", "GET", "/", []string{"Host", "2130706433"}, 421},
		{"a name that was sent on", "GET", "/", []string{"Host", "evil.example", "X-Forwarded-Host", "localhost"}, 421},
		{"a foreign host before a foreign origin", "GET", "/api/v1/now",
			[]string{"Host", "evil.example", "Origin", "http://evil.example"}, 421},
		{"a scrape of a rebound name", "GET", "/metrics", []string{"Host", "evil.example"}, 421},
		{"an entrance by a rebound name", "POST", "/enter", []string{"Host", "evil.example"}, 421},
		{"a download by a rebound name", "GET", "/download/x", []string{"Host", "evil.example"}, 421},
	})
}

// Pages of other origins can neither read nor change anything, even if they know the token.
func TestOrigins(t *testing.T) {
	s := serve(t, config.Monitor{})
	s.answered([]asking{
		{"the page itself", "GET", "/api/v1/now", []string{"Sec-Fetch-Site", "same-origin"}, 200},
		{"the page itself changes", "POST", "/api/v1/change", []string{"Origin", "http://" + s.host}, 200},
		{"a program", "POST", "/api/v1/change", nil, 200},

		{"a foreign origin asks", "GET", "/api/v1/now", []string{"Origin", "https://evil.example"}, 403},
		{"a foreign origin changes", "POST", "/api/v1/change", []string{"Origin", "https://evil.example"}, 403},
		{"no origin, as of a file", "POST", "/api/v1/change", []string{"Origin", "null"}, 403},
		{"another port", "POST", "/api/v1/change", []string{"Origin", "http://127.0.0.1:1"}, 403},
		{"a browser says so", "POST", "/api/v1/change", []string{"Sec-Fetch-Site", "cross-site"}, 403},
		{"another name of the site", "GET", "/api/v1/now", []string{"Sec-Fetch-Site", "same-site"}, 403},
		{"a stream for a foreign origin", "GET", "/api/v1/events", []string{"Origin", "https://evil.example"}, 403},
		{"a scrape by a foreign origin", "GET", "/metrics", []string{"Origin", "https://evil.example"}, 403},
		{"a preflight", "OPTIONS", "/api/v1/change", []string{"Origin", "https://evil.example",
			"Access-Control-Request-Method", "POST"}, 403},

		{"a link to the application", "GET", "/", []string{"Sec-Fetch-Site", "cross-site", "Authorization", ""}, 200},
	})
}

// Without the token, only the application is served.
func TestTokenDemanded(t *testing.T) {
	s := serve(t, config.Monitor{})
	s.answered([]asking{
		{"the token", "GET", "/api/v1/now", nil, 200},
		{"the token for a scrape", "GET", "/metrics", nil, 200},
		{"the application needs none", "GET", "/", []string{"Authorization", ""}, 200},

		{"no token", "GET", "/api/v1/now", []string{"Authorization", ""}, 401},
		{"no token for a change", "POST", "/api/v1/change", []string{"Authorization", ""}, 401},
		{"no token for a stream", "GET", "/api/v1/events", []string{"Authorization", ""}, 401},
		{"no token where nothing is", "GET", "/api/v1/nothing", []string{"Authorization", ""}, 401},
		{"no token for the description", "GET", "/api/v1/openapi.json", []string{"Authorization", ""}, 401},
		{"no token for a scrape", "GET", "/metrics", []string{"Authorization", ""}, 401},
		{"a wrong token", "GET", "/api/v1/now", []string{"Authorization", "Bearer " + testToken + "x"}, 401},
		{"the beginning of a token", "GET", "/api/v1/now", []string{"Authorization", "Bearer " + testToken[:18]}, 401},
		{"another scheme", "GET", "/api/v1/now", []string{"Authorization", "Basic " + testToken}, 401},
		{"a token in the query", "GET", "/api/v1/now?token=" + testToken, []string{"Authorization", ""}, 401},
		{"a token in a cookie", "GET", "/api/v1/now", []string{"Authorization", "", "Cookie", "token=" + testToken}, 401},
	})
}

// Only POST with JSON changes anything, which no form of another page can send.
func TestChanges(t *testing.T) {
	s := serve(t, config.Monitor{})
	form := "application/x-www-form-urlencoded"
	s.answered([]asking{
		{"JSON", "POST", "/api/v1/change", []string{"Content-Type", "application/json; charset=utf-8"}, 200},
		{"a form", "POST", "/api/v1/change", []string{"Content-Type", form}, 415},
		{"a form of text", "POST", "/api/v1/change", []string{"Content-Type", "text/plain"}, 415},
		{"a form of parts", "POST", "/api/v1/change", []string{"Content-Type", "multipart/form-data; boundary=x"}, 415},
		{"a form without a token", "POST", "/api/v1/change", []string{"Content-Type", form, "Authorization", ""}, 401},
		{"no type", "POST", "/api/v1/change", []string{"Content-Type", ""}, 415},

		{"GET", "GET", "/api/v1/change", nil, 405},
		{"GET that says POST", "GET", "/api/v1/change", []string{"X-HTTP-Method-Override", "POST"}, 405},
		{"HEAD", "HEAD", "/api/v1/now", nil, 200},
		{"OPTIONS", "OPTIONS", "/api/v1/now", nil, 405},
		{"DELETE", "DELETE", "/api/v1/now", nil, 405},
		{"TRACE of the application", "TRACE", "/", nil, 405},
		{"a scrape that changes", "POST", "/metrics", nil, 405},
	})
}
