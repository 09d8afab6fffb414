package fetch

import (
	"bufio"
	"net"
	"strings"
	"testing"
	"testing/synctest"
)

// Path and query are sent byte for byte. A URL that cannot be sent is an error.
func TestRequestLine(t *testing.T) {
	tests := []struct{ url, want string }{
		{"http://192.0.2.1", "GET / HTTP/1.1"},
		{"http://192.0.2.1?a=b", "GET /?a=b HTTP/1.1"},
		{"http://192.0.2.1/?", "GET /? HTTP/1.1"},
		{"http://192.0.2.1/a/../b/./c", "GET /a/../b/./c HTTP/1.1"},
		{"http://192.0.2.1/%zz%2f%7e%E4?%zz=%", "GET /%zz%2f%7e%E4?%zz=% HTTP/1.1"},
		{"http://192.0.2.1/a|b[c]'^`\"<>{}", "GET /a|b[c]'^`\"<>{} HTTP/1.1"},
		{"http://192.0.2.1//a//b", "GET //a//b HTTP/1.1"},
		{"http://192.0.2.1//a%zz", "GET http://192.0.2.1//a%zz HTTP/1.1"}, // absolute form: "//a" would be read as a host
		{"http://192.0.2.1/a:b@c?d/e?f", "GET /a:b@c?d/e?f HTTP/1.1"},
		{"http://user:secret@192.0.2.1/a#fragment", "GET /a HTTP/1.1"},
		{"http://192.0.2.1/é", "GET /é HTTP/1.1"},
		{"http://192.0.2.1/a b", ""},
		{"http://192.0.2.1/a\r\nX: y", ""},
		{"http://192.0.2.1/?a\x00", ""},
		{"http://", ""},
		{"http:///a", ""},
		{"http://:80/", ""},
		{"http://192.0.2.1:x/", ""},
		{"http://192.0.2.1:99999/", ""},
		{"file:///etc/passwd", ""},
		{"gopher://192.0.2.1/", ""},
		{"data:text/html,x", ""},
		{"", ""},
	}
	for _, tt := range tests {
		synctest.Test(t, func(t *testing.T) {
			var line string
			c := piped(t, Config{}, func(conn net.Conn, in *bufio.Reader) {
				line, _ = in.ReadString('\n')
				for text := "x"; strings.TrimSpace(text) != ""; {
					text, _ = in.ReadString('\n')
					if strings.HasPrefix(text, "Authorization") {
						t.Errorf("%q sends %q", tt.url, text)
					}
				}
				conn.Write([]byte(page + "Content-Length: 0\r\n\r\n"))
			})
			_, err := do(c, t.Context(), Request{URL: tt.url})
			if (causeOf(t, err) == BadResponse) != (tt.want == "") || strings.TrimSpace(line) != tt.want {
				t.Errorf("%q: sent %q, %v; want %q", tt.url, line, err, tt.want)
			}
		})
	}
}
