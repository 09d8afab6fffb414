package desk

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/schema/config"
)

// A body that is too long or unexpected is refused.
func TestBodies(t *testing.T) {
	s := serve(t, config.Monitor{})
	for body, want := range map[string]int{
		`{"text":"a"}`: 200, `{"text":"a"} x`: 400, `{"text":"a"}}`: 400, "{\"text\":\"a\"}\n": 200,
		`{"none":1}`: 400, `[`: 400, "": 400,
	} {
		if code, text, _ := s.ask("POST", "/api/v1/change", body); code != want {
			t.Errorf("%.40s (%d bytes): %d %s, want %d", body, len(body), code, text, want)
		} else if strings.Contains(text, "nil") {
			t.Errorf("%.40s: %s", body, text)
		}
	}
}

// An endless body is not read to its end, whether or not its sender is authorized.
func TestGiantBodies(t *testing.T) {
	s := serve(t, config.Monitor{})
	for name, head := range map[string]string{
		"with the token": "Authorization: Bearer " + testToken +
			"\r\nContent-Type: application/json\r\nContent-Length: 99999999999\r\n",
		"in chunks": "Authorization: Bearer " + testToken +
			"\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n",
		"without the token": "Content-Length: 99999999999\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			c, err := net.Dial("tcp", s.host)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			sent, err := io.WriteString(c, "POST /api/v1/change HTTP/1.1\r\nHost: localhost\r\n"+head+"\r\n")
			part := "10000\r\n" + strings.Repeat(" ", 1<<16) + "\r\n"
			for sent < 64<<20 && err == nil {
				var n int
				n, err = io.WriteString(c, part)
				sent += n
			}
			if err == nil {
				t.Errorf("%d bytes were taken", sent)
			}
		})
	}
	code, text, _ := s.ask("POST", "/api/v1/change", strings.Repeat(" ", maxBody+1))
	if code != http.StatusRequestEntityTooLarge {
		t.Errorf("one byte too many: %d %s", code, text)
	}
}

// An endless head is refused.
func TestGiantHeads(t *testing.T) {
	s := serve(t, config.Monitor{})
	for _, sent := range []string{
		"GET /api/v1/now HTTP/1.1\r\nHost: localhost\r\nX: " + strings.Repeat("x", 1<<20),
		"GET /api/v1/now?text=" + strings.Repeat("x", 1<<20),
	} {
		c, err := net.Dial("tcp", s.host)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(c, sent); err == nil {
			line, err := bufio.NewReader(c).ReadString('\n')
			if err == nil && !strings.Contains(line, " 431 ") {
				t.Errorf("%.40q without an end is answered %q", sent, line)
			}
		}
		c.Close()
	}
}

// A request that follows a valid one on its connection is judged by itself.
func TestPipelined(t *testing.T) {
	s := serve(t, config.Monitor{})
	good := s.get("now")
	for name, tt := range map[string]struct {
		sent  string
		codes []int // of the answers in order; then the connection ends
	}{
		"good ones":       {good + good + good + "GET / HTTP/1.0\r\nHost: localhost\r\n\r\n", []int{200, 200, 200, 200}},
		"rubbish":         {good + "\x00\x01\x02 rubbish\r\n\r\n", []int{200, 400}},
		"without a token": {good + strings.Replace(good, testToken, "x", 1), []int{200, 401}},
		"another host":    {good + strings.Replace(good, "localhost", "evil.example", 1), []int{200, 421}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := s.pipelined(tt.sent); !slices.Equal(got, tt.codes) {
				t.Errorf("the answers are %d, want %d", got, tt.codes)
			}
		})
	}
}

// pipelined sends requests at once, and returns the codes of the answers.
func (s *served) pipelined(sent string) (codes []int) {
	s.t.Helper()
	c, err := net.Dial("tcp", s.host)
	if err != nil {
		s.t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, sent); err != nil {
		s.t.Fatal(err)
	}
	_ = c.(*net.TCPConn).CloseWrite()
	for in := bufio.NewReader(c); ; {
		a, err := http.ReadResponse(in, nil)
		if err != nil {
			return codes
		}
		_, _ = io.Copy(io.Discard, a.Body)
		codes = append(codes, a.StatusCode)
	}
}

// A connection that sends nonsense is answered or closed.
func TestNonsense(t *testing.T) {
	s := serve(t, config.Monitor{})
	for _, sent := range []string{
		"\r\n\r\n", "GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
		"POST /api/v1/change HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
		"POST /api/v1/change HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"\x16\x03\x01\x00\x00", "GET http://evil.example/ HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
	} {
		c, err := net.Dial("tcp", s.host)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(c, sent)
		_ = c.(*net.TCPConn).CloseWrite()
		line, _ := bufio.NewReader(c).ReadString('\n')
		if strings.Contains(line, " 200 ") {
			t.Errorf("%q is answered %q", sent, line)
		}
		c.Close()
	}
}

// A body is read before the request goes to the reader, which answers one at a time: a client that
// sends its body slowly, or too much of it, does not block the reader for others.
func TestSlowBodiesOfQuestions(t *testing.T) {
	asked := make(chan string, 10)
	reader := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		asked <- fmt.Sprint(string(text), r.ContentLength, r.TransferEncoding, err)
	})
	api, err := NewAPI([]Route{{Name: "query", Method: "POST", Path: "query", Apart: true, Body: struct{}{},
		Returns: struct{}{}}}, reader, "v")
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(api)
	defer s.Close()
	body, rest := io.Pipe()
	req, err := http.NewRequestWithContext(t.Context(), "POST", s.URL+"/api/v1/query", body)
	if err != nil {
		t.Fatal(err)
	}
	var g errgroup.Group
	g.Go(func() error {
		a, err := http.DefaultClient.Do(req)
		if err == nil {
			err = a.Body.Close()
		}
		return err
	})
	_, _ = io.WriteString(rest, `{"a":`)
	if a, err := http.Post(s.URL+"/api/v1/query", "", strings.NewReader(strings.Repeat(" ", maxBody+1))); err != nil {
		t.Error(err)
	} else if a.Body.Close(); a.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("too long: %d", a.StatusCode)
	}
	select {
	case text := <-asked:
		t.Errorf("the reader is asked %s before all of it has come", text)
	default:
	}
	_, _ = io.WriteString(rest, `1}`)
	rest.Close()
	if err := g.Wait(); err != nil {
		t.Error(err)
	}
	if got := <-asked; got != `{"a":1}7 [] <nil>` {
		t.Errorf("the reader is asked %s", got)
	}
}
