package webtest

import (
	"strings"
	"testing"
)

const smallWeb = `A comment is no page.
-- https://a.test/robots.txt --
User-agent: *
Disallow: /private/
-- https://a.test/ --
<title>Front</title>

<a href="/old">old</a>
-- https://a.test/old --
status: 301
location: /new

-- https://a.test/older --
status: 302
location: /old
-- https://a.test/new?x=1 --
content-type: text/plain
x-note: yes
etag: "v1"

status: this is text
-- https://a.test/soon --
first: 2 429
retry-after: 3

here
-- https://a.test/later --
status: 503
retry-after: 9

-- https://www.b.test:8443/file.pdf --
%PDF
-- https://c.test/ --
fault: close

-- https://down.test/ --
down: refused
`

func TestLoad(t *testing.T) {
	s := newServer(t)
	if err := s.Load([]byte(smallWeb)); err != nil {
		t.Fatal(err)
	}
	c := newClient(t, s)
	for _, tt := range []struct {
		url, body, header, value string
		status                   int
	}{
		{"https://a.test/robots.txt", "User-agent: *\nDisallow: /private/\n", "Content-Type",
			"text/plain; charset=utf-8", 200},
		{"https://a.test/", "<title>Front</title>\n\n<a href=\"/old\">old</a>\n", "Content-Type",
			"text/html; charset=utf-8", 200},
		{"https://a.test/old", "", "Location", "/new", 301},
		{"https://a.test/older", "", "Location", "/old", 302},
		{"https://a.test/new?x=1", "status: this is text\n", "X-Note", "yes", 200},
		{"https://a.test/new?x=1", "status: this is text\n", "Content-Type", "text/plain", 200},
		{"https://a.test/new", statusPage(404), "", "", 404},
		{"https://a.test/soon", statusPage(429), "Retry-After", "3", 429},
		{"https://a.test/soon", statusPage(429), "Retry-After", "3", 429},
		{"https://a.test/soon", "here\n", "Retry-After", "", 200},
		{"https://a.test/later", "", "Retry-After", "9", 503},
		{"https://www.b.test:8443/file.pdf", "%PDF\n", "Content-Type", "application/pdf", 200},
	} {
		got := get(t, c, tt.url)
		if got.StatusCode != tt.status || got.body != tt.body || got.Header.Get(tt.header) != tt.value {
			t.Errorf("%s = %d %q %v, want %+v", tt.url, got.StatusCode, got.body, got.Header, tt)
		}
	}
	for _, url := range []string{"https://c.test/", "https://down.test/"} {
		if resp, err := c.Get(url); err == nil {
			resp.Body.Close()
			t.Errorf("%s was answered", url)
		}
	}
}

func TestLoadErrors(t *testing.T) {
	for _, tt := range []struct{ name, archive, want string }{
		{"scheme", "-- http://a.test/ --\n", "no https URL"},
		{"no URL", "-- page.html --\n", "no https URL"},
		{"bad URL", "-- https://a b/ --\n", "invalid character"},
		{"fragment", "-- https://a.test/#x --\n", "no https URL"},
		{"twice", "-- https://a.test/ --\n-- https://a.test:443/ --\n", "is there twice"},
		{"status", "-- https://a.test/ --\nstatus: 99\n", "no status code"},
		{"status text", "-- https://a.test/ --\nstatus: ok\n", "no status code"},
		{"duration", "-- https://a.test/ --\ndelay: soon\n", "invalid duration"},
		{"fault", "-- https://a.test/ --\nfault: typo\n", "no such fault"},
		{"down", "-- https://a.test/ --\ndown: typo\n", "no such mode"},
		{"coding", "-- https://a.test/ --\nencode: lzw\n", "no such coding"},
		{"first", "-- https://a.test/ --\nfirst: many 503\n", "no number"},
		{"first status", "-- https://a.test/ --\nfirst: 2\n", "no status code"},
		{"second key", "-- https://a.test/ --\nstatus: 200\nlocaton: /x\n\n", "no known key"},
		{"no blank line", "-- https://a.test/ --\nstatus: 200\n<title>", "no known key"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newServer(t)
			err := s.Load([]byte("-- https://fine.test/ --\nfine\n" + tt.archive))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
			if len(s.hosts) != 0 {
				t.Error("something was added")
			}
		})
	}
}

// For any text, Load adds either every file or none, and a file without a header is served unchanged.
func FuzzLoad(f *testing.F) {
	f.Add(smallWeb)
	f.Add("-- https://a.test/ --\nstatus: 200\n\n\n\n")
	f.Add("-- https://a.test --\nx-: 1\n")
	f.Add("a marker without a name\n-- --")
	s := newServer(f)
	f.Fuzz(func(t *testing.T, text string) {
		s.mu.Lock()
		clear(s.hosts)
		s.mu.Unlock()
		if err := s.Load([]byte(text)); err != nil && len(s.hosts) > 0 {
			t.Fatalf("added although %v", err)
		}
		if header, body := splitHeader(text); header == nil && body != text {
			t.Fatalf("splitHeader(%q) = %q", text, body)
		} else if len(body) > len(text) || !strings.HasSuffix(text, body) {
			t.Fatalf("splitHeader(%q): body %q is not its end", text, body)
		}
	})
}
