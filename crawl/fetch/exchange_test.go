package fetch

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

const (
	page  = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
	ample = 1 << 40
)

func every(d time.Duration) func() { return func() { time.Sleep(d) } }

// Every fault gets its cause within its time limit, on simulated time.
func TestFaults(t *testing.T) {
	tests := []struct {
		name   string
		play   script
		want   Cause
		status int
		least  time.Duration
		most   time.Duration
	}{
		{"header dripped", answerThen("HTTP/1.1 200 OK\r\nX: ", "x", every(100*time.Millisecond)), Timeout, 0,
			30 * time.Second, 30 * time.Second},
		{"silence", silent, Timeout, 0, 30 * time.Second, 30 * time.Second},
		{"interim for ever", answerThen("", "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n", func() {}), BadResponse, 0,
			0, 0},
		{"interim dripped", answerThen("", "HTTP/1.1 102 Processing\r\n\r\n", every(time.Second)), Timeout, 0,
			30 * time.Second, 30 * time.Second},
		{"closed", answer(""), Reset, 0, 0, 0},
		{"closed in the header", answer("HTTP/1.1 200 OK\r\nServer: x\r\n"), Reset, 0, 0, 0},
		{"closed at once", func(net.Conn, *bufio.Reader) {}, Reset, 0, 0, 0},
		{"header of 1 MB", answer(page + "X: " + strings.Repeat("x", 1<<20) + "\r\n\r\n"), BadResponse, 0, 0, 0},
		{"9,000 cookies", answer(page + strings.Repeat("Set-Cookie: abcdefghijklmnop=1\r\n", 9000) + "\r\n"),
			BadResponse, 0, 0, 0},
		{"header of 250 KB", answer(page + "X: " + strings.Repeat("x", 250<<10) + "\r\nContent-Length: 2\r\n\r\nok"),
			None, 200, 0, 0},
		{"no HTTP", answer("220 mail.example.com ESMTP\r\n"), BadResponse, 0, 0, 0},
		{"status 99", answer("HTTP/1.1 099 Odd\r\nContent-Length: 0\r\n\r\n"), BadResponse, 99, 0, 0},
		{"status 101", answer("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n"),
			BadResponse, 101, 0, 0},
		{"status 999", answer("HTTP/1.1 999 Denied\r\nContent-Length: 0\r\n\r\n"), None, 999, 0, 0},
		{"status 1000", answer("HTTP/1.1 1000 Odd\r\n\r\n"), BadResponse, 0, 0, 0},
		{"two lengths", answer(page + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nab"), BadResponse, 0, 0, 0},
		{"body dripped", answerThen(page+"\r\n", "x", every(time.Second)), Slow, 200, 10 * time.Second,
			11 * time.Second},
		{"body just too slow", answerThen(page+"\r\n", strings.Repeat("x", 1000), every(time.Second)), Slow, 200,
			10 * time.Second, 11 * time.Second},
		{"body just fast enough", answerThen(page+"\r\n", strings.Repeat("x", 1200), every(time.Second)), Slow, 200,
			5 * time.Minute, 5*time.Minute + time.Second},
		{"body stalls", stalling(1 << 20), Slow, 200, 10 * time.Second, 11 * time.Second},
		{"body without end", answerThen(page+"\r\n", strings.Repeat("x", 2048), every(time.Second)), Slow, 200,
			5 * time.Minute, 5*time.Minute + time.Second},
		{"body of an error dripped", answerThen("HTTP/1.1 404 Not Found\r\n\r\n", "x", every(time.Second)), None, 404,
			10 * time.Second, 11 * time.Second},
		{"short body", answer(page + "Content-Length: 100\r\n\r\nabc"), Truncated, 200, 0, 0},
		{"chunk cut", answer(page + "Transfer-Encoding: chunked\r\n\r\n5\r\nab"), Truncated, 200, 0, 0},
		{"last chunk missing", answer(page + "Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n"), Truncated, 200, 0, 0},
		{"bad chunk", answer(page + "Transfer-Encoding: chunked\r\n\r\nzz\r\nab"), BadResponse, 200, 0, 0},
		{"endless chunk header", answer(page + "Transfer-Encoding: chunked\r\n\r\n1;" + strings.Repeat("x", 1<<16)),
			BadResponse, 200, 0, 0},
		{"unknown encoding", answer(page + "Content-Encoding: rot13\r\nContent-Length: 3\r\n\r\nabc"), None, 200,
			0, 0},
		{"gzip that is none", answer(page + "Content-Encoding: gzip\r\nContent-Length: 30\r\n\r\n" +
			strings.Repeat("a", 30)),
			BadResponse, 200, 0, 0},
		{"control byte in Location", answer("HTTP/1.1 302 Found\r\nLocation: /a\x01b\r\nContent-Length: 0\r\n\r\n"),
			None, 302, 0, 0},
		{"control byte elsewhere", answer(page + "X-Odd: a\x1b[2Jb\r\nContent-Length: 2\r\n\r\nok"), None, 200, 0,
			0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := piped(t, Config{MaxBytes: ample}, tt.play)
				start := time.Now()
				res, err := do(c, t.Context(), Request{URL: "http://192.0.2.1/"})
				if got := causeOf(t, err); got != tt.want {
					t.Fatalf("%v, want %v", err, tt.want)
				}
				if got := time.Since(start); got < tt.least || got > tt.most {
					t.Errorf("took %v, want %v to %v", got, tt.least, tt.most)
				}
				checkHeaders(t, res, tt.status)
			})
		})
	}
}

func stalling(n int) script {
	return func(conn net.Conn, in *bufio.Reader) {
		answer(page+"\r\n"+strings.Repeat("x", n))(conn, in)
		silent(conn, in)
	}
}

// checkHeaders checks that a response matches its status. There is no response if the header never
// arrived.
func checkHeaders(t *testing.T, res *Response, status int) {
	t.Helper()
	if status == 0 {
		if res != nil {
			t.Errorf("response %+v, want none", res)
		}
		return
	}
	if res == nil || res.Status != status || res.FirstByte.IsZero() || res.Done.Before(res.FirstByte) {
		t.Fatalf("response %+v, want status %d with its times", res, status)
	}
}

func TestBodyAtTheRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := piped(t, Config{}, func(conn net.Conn, in *bufio.Reader) {
			answer(page+"Content-Length: 184320\r\n\r\n")(conn, in)
			for range 60 {
				time.Sleep(2 * time.Second)
				io.WriteString(conn, strings.Repeat("x", 3072))
			}
		})
		res, err := do(c, t.Context(), Request{URL: "http://192.0.2.1/"})
		if err != nil || len(res.Body) != 184320 {
			t.Fatalf("%d bytes, %v", len(res.Body), err)
		}
	})
}

// A time-out is classified by the phase it interrupts.
func TestTimeoutByPhase(t *testing.T) {
	hang := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	slowDial := func(ctx context.Context, _ netip.AddrPort, _ bool) (net.Conn, error) { return nil, hang(ctx) }
	slowLookup := func(ctx context.Context, _ string) ([]netip.Addr, error) { return nil, hang(ctx) }
	lateLookup := func(context.Context, string) ([]netip.Addr, error) {
		time.Sleep(4 * time.Second)
		return addresses("192.0.2.1"), nil
	}
	tests := []struct {
		name    string
		cfg     Config
		url     string
		timeout time.Duration
		want    Cause
		took    time.Duration
	}{
		{"dns", Config{lookup: slowLookup}, "http://a.test/", 0, DNSTemporary, 5 * time.Second},
		{"dns, request first", Config{lookup: slowLookup}, "http://a.test/", time.Second, DNSTemporary, time.Second},
		{"connect", Config{dial: slowDial}, "http://192.0.2.1/", 0, ConnectTimeout, 10 * time.Second},
		{"connect, request first", Config{dial: slowDial}, "http://192.0.2.1/", time.Second, ConnectTimeout,
			time.Second},
		{"tls", Config{}, "https://192.0.2.1/", 0, TLSTimeout, 10 * time.Second},
		{"tls, request first", Config{}, "https://192.0.2.1/", time.Second, TLSTimeout, time.Second},
		{"header", Config{Timeout: 3 * time.Second}, "http://192.0.2.1/", 0, Timeout, 3 * time.Second},
		{"proxy", Config{dial: slowDial, Proxy: "http://127.0.0.1:1"}, "https://a.test/", 0, Proxy, 10 * time.Second},
		{"proxy silent", Config{Proxy: "http://127.0.0.1:1"}, "https://a.test/", 0, Proxy, 10 * time.Second},
		{"tls, longer", Config{ConnectTimeout: 20 * time.Second}, "https://192.0.2.1/", 0, TLSTimeout,
			20 * time.Second},
		{"look-up, then tls", Config{lookup: lateLookup}, "https://a.test/", 0, TLSTimeout, 10 * time.Second},
		{"look-up, then connect", Config{lookup: lateLookup, dial: slowDial}, "https://a.test/", 0, ConnectTimeout,
			10 * time.Second},
		{"look-up, then header", Config{lookup: lateLookup}, "http://a.test/", 0, Timeout, 30 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dial := tt.cfg.dial
				c := piped(t, tt.cfg, silent)
				if dial != nil {
					c.dialler.dial = dial
				}
				start := time.Now()
				_, err := do(c, t.Context(), Request{URL: tt.url, Timeout: tt.timeout})
				if got := causeOf(t, err); got != tt.want || time.Since(start) != tt.took {
					t.Errorf("%v after %v, want %v after %v", err, time.Since(start), tt.want, tt.took)
				}
			})
		})
	}
}

// The end of the caller's context is never a time-out, in whatever phase it occurs.
func TestCancelled(t *testing.T) {
	tests := []struct {
		name, url string
		play      script
	}{
		{"handshake", "https://192.0.2.1/", silent},
		{"header", "http://192.0.2.1/", silent},
		{"body", "http://192.0.2.1/", answerThen(page+"\r\n", strings.Repeat("x", 4096), every(time.Second))},
	}
	for _, tt := range tests {
		synctest.Test(t, func(t *testing.T) {
			c := piped(t, Config{}, tt.play)
			ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
			defer cancel()
			_, err := do(c, ctx, Request{URL: tt.url})
			if causeOf(t, err) != Cancelled || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: %v", tt.name, err)
			}
		})
	}
}

// A request that fails on the way is not sent again. On a reused connection the error says so.
func TestNeverRepeated(t *testing.T) {
	const ok = page + "Content-Length: 2\r\n\r\nok"
	tests := []struct {
		name     string
		conns    [][]string // what each connection answers, request by request; "": it closes
		want     Cause
		stale    bool
		requests int
	}{
		{"alive", [][]string{{ok, ok}}, None, false, 2},
		{"kept one dead", [][]string{{ok, ""}, {ok}}, Reset, true, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				conns, requests := tt.conns, 0
				c := piped(t, Config{KeepAlive: true}, func(conn net.Conn, in *bufio.Reader) {
					answers := conns[0]
					conns = conns[1:]
					for _, a := range answers {
						if _, err := http.ReadRequest(in); err != nil {
							return
						}
						requests++
						if a == "" {
							return
						}
						io.WriteString(conn, a)
					}
					silent(conn, in)
				})
				if _, err := do(c, t.Context(), Request{URL: "http://192.0.2.1/"}); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				res, err := do(c, t.Context(), Request{URL: "http://192.0.2.1/"})
				var e *Error
				stale := errors.As(err, &e) && e.Stale
				if causeOf(t, err) != tt.want || stale != tt.stale || requests != tt.requests {
					t.Errorf("%v, %+v after %d requests", err, res, requests)
				}
			})
		})
	}
}

// A connection is kept after a small unwanted body, but not after a large one.
func TestUnwantedBody(t *testing.T) {
	for _, tt := range []struct {
		size  string
		dials int
	}{{"5", 1}, {"50000", 2}} {
		synctest.Test(t, func(t *testing.T) {
			dials := 0
			c := piped(t, Config{KeepAlive: true}, func(conn net.Conn, in *bufio.Reader) {
				dials++
				for {
					if _, err := http.ReadRequest(in); err != nil {
						return
					}
					io.WriteString(conn, "HTTP/1.1 404 Not Found\r\nContent-Length: "+tt.size+"\r\n\r\nabcde")
				}
			})
			for range 2 {
				none := func(int, http.Header) int64 { return 0 }
				res, err := do(c, t.Context(), Request{URL: "http://192.0.2.1/", Accept: none})
				if err != nil || res.Status != 404 || len(res.Body) != 0 {
					t.Fatalf("%+v, %v", res, err)
				}
				synctest.Wait()
			}
			if dials != tt.dials {
				t.Errorf("size %s: %d dials, want %d", tt.size, dials, tt.dials)
			}
		})
	}
}
