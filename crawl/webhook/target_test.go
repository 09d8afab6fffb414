package webhook

import (
	"bytes"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	official "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/sumi-ripple/ripple/crawl/fetch"
	"github.com/sumi-ripple/ripple/crawl/webtest/nameserver"
	"github.com/sumi-ripple/ripple/schema"
)

// serve starts a receiver at https://example.com/, and returns the [network] lines that lead to it.
func serve(t testing.TB, h http.HandlerFunc) (network string, addr net.Addr) {
	t.Helper()
	s := httptest.NewTLSServer(h)
	t.Cleanup(s.Close)
	ca := filepath.Join(t.TempDir(), "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if err := os.WriteFile(ca, text, 0o600); err != nil {
		t.Fatal(err)
	}
	addr = s.Listener.Addr()
	return fmt.Sprintf("ca-file = %q\nconnect-to = { \"example.com\" = %q }\n", ca, addr), addr
}

// send sends a message once.
func send(t testing.TB, address, network string, wantsBody bool, secrets ...string) Answer {
	t.Helper()
	target, err := newTarget(configured(t, address, network, secrets...), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer target.client.Close()
	m, err := newMessage(RunCompleted, Subject{Crawler: "T", State: "é\u2028<b>"})
	if err != nil {
		t.Fatal(err)
	}
	return target.post(t.Context(), m, wantsBody)
}

// Every address allowed in a configuration is requested as intended.
func TestAddress(t *testing.T) {
	for address, want := range map[string]string{
		"https://example.com":                  "/",
		"https://example.com/a?b=c&d":          "/a?b=c&d",
		"https://example.com/%7Ea%2Fb//c":      "/%7Ea%2Fb//c",
		"HTTPS://example.com/a":                "/a",
		"https://example.com/a b?c=d e%20f":    "/a%20b?c=d%20e%20f",
		"https://example.com/caf\u00e9?\u00e9": "/caf%C3%A9?\u00e9",
	} {
		asked := ""
		network, _ := serve(t, func(_ http.ResponseWriter, r *http.Request) { asked = r.RequestURI })
		if a := send(t, address, network, false, secret(0)); !a.Delivered() || asked != want {
			t.Errorf("%s: asked for %s, %+v; want %s", address, asked, a, want)
		}
	}
}

// The reference library accepts the signatures, with one secret and while secrets are being changed, and
// rejects them with another secret.
func TestSignature(t *testing.T) {
	for name, secrets := range map[string][]string{"one": {secret(0)}, "two": {secret(1), secret(0)}} {
		t.Run(name, func(t *testing.T) {
			verified := atomic.Int32{}
			network, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if err != nil || r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" {
					t.Errorf("%s %v, %v", r.Method, r.Header, err)
				}
				for _, s := range secrets {
					wh, err := official.NewWebhook(s)
					if err == nil {
						err = wh.Verify(body, r.Header)
					}
					if err != nil {
						t.Error(err)
					}
					verified.Add(1)
				}
				if wh, err := official.NewWebhook(secret(5)); err != nil || wh.Verify(body, r.Header) == nil {
					t.Errorf("another secret verifies it (%v)", err)
				}
				wh, err := official.NewWebhook(secrets[0])
				if err != nil || wh.Verify(append(body, ' '), r.Header) == nil {
					t.Errorf("another body is verified (%v)", err)
				}
				w.WriteHeader(http.StatusNoContent)
			})
			a := send(t, "https://example.com/hook?token=1", network, false, secrets...)
			if !a.Delivered() || int(verified.Load()) != len(secrets) {
				t.Errorf("answer %+v, verified %d times", a, verified.Load())
			}
		})
	}
}

// Whatever a receiver answers, the sender's time and memory stay bounded.
func TestHostileAnswers(t *testing.T) {
	private := 0
	inside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { private++ }))
	defer inside.Close()
	endless := func(w http.ResponseWriter, r *http.Request) {
		junk := bytes.Repeat([]byte("x"), 1<<20)
		for r.Context().Err() == nil {
			if _, err := w.Write(junk); err != nil {
				return
			}
		}
	}
	tests := []struct {
		name    string
		handler http.HandlerFunc
		body    bool
		status  int
	}{
		{"endless answer", endless, false, 200},
		{"endless answer that is read", endless, true, 200},
		{"redirect to a private address", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, inside.URL, http.StatusTemporaryRedirect)
		}, false, 307},
		{"headers without end", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Long", strings.Repeat("x", 1<<20))
		}, false, 0},
		{"hangs up", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, false, 0},
		{"compressed bomb", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write([]byte("no gzip"))
		}, true, 200},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			network, _ := serve(t, tt.handler)
			a := send(t, "https://example.com/", network, tt.body, secret(0))
			if a.Status != tt.status || len(a.Body) > mostAnswer {
				t.Errorf("status %d with %d bytes (%v), want %d", a.Status, len(a.Body), a.Reason, tt.status)
			}
			if tt.name == "endless answer that is read" && len(a.Body) != mostAnswer {
				t.Errorf("%d bytes are read, want %d", len(a.Body), mostAnswer)
			}
			if a.Status == 0 && a.Reason.Cause == schema.CauseNone {
				t.Error("no answer, and no reason")
			}
		})
	}
	if private != 0 {
		t.Error("the redirect was followed")
	}
}

// A receiver that does not answer is abandoned after its time-out.
func TestSilentReceiver(t *testing.T) {
	over := make(chan struct{})
	asked := atomic.Bool{}
	network, _ := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		asked.Store(true)
		_, _ = io.Copy(io.Discard, r.Body)
		<-over // if the handler returned, it would answer, and the answer might still be read
	})
	defer close(over)
	target, err := newTarget(configured(t, "https://example.com/", network, secret(0)), nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := newMessage(Test, nil)
	if err != nil {
		t.Fatal(err)
	}
	var a Answer
	// The time-out grows, because a busy machine may not connect in time.
	for target.timeout = 50 * time.Millisecond; !asked.Load(); target.timeout *= 2 {
		a = target.post(t.Context(), m, false)
	}
	if a.Reason.Cause != schema.CauseTimeout {
		t.Errorf("answer %+v, want a time-out", a)
	}
}

// A receiver with an untrusted certificate, or one for another name, gets no request.
func TestWrongCertificate(t *testing.T) {
	network, addr := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("was asked") })
	for name, lines := range map[string]string{
		"unknown authority": fmt.Sprintf("connect-to = { \"example.com\" = %q }", addr),
		"another name":      strings.ReplaceAll(network, "example.com", "other.test"),
	} {
		address := "https://example.com/"
		if name == "another name" {
			address = "https://other.test/"
		}
		if a := send(t, address, lines, false, secret(0)); a.Reason.Cause != schema.CauseTLS {
			t.Errorf("%s: %+v", name, a)
		}
	}
}

// No spelling of a private address is dialled, unless allow-private names it.
func TestPrivateReceiver(t *testing.T) {
	asked := atomic.Int32{}
	network, addr := serve(t, func(http.ResponseWriter, *http.Request) { asked.Add(1) })
	_, port, _ := net.SplitHostPort(addr.String())
	ca, _, _ := strings.Cut(network, "\n")
	for _, host := range []string{"127.0.0.1", "127.1", "0x7f000001", "2130706433", "localhost", "[::ffff:127.0.0.1]"} {
		a := send(t, "https://"+host+":"+port+"/", ca, false, secret(0))
		if a.Reason.Cause != schema.CauseRefusedAddress {
			t.Errorf("%s: %+v", host, a)
		}
	}
	if asked.Load() != 0 {
		t.Errorf("a private address was asked %d times", asked.Load())
	}
	a := send(t, "https://127.0.0.1:"+port+"/", ca+"\nallow-private = [\"127.0.0.0/8\"]", false, secret(0))
	if !a.Delivered() || asked.Load() != 1 {
		t.Errorf("allowed: %+v", a)
	}
}

// A name that resolves to a public address when checked, and to a private one when dialled, gets no
// connection.
func TestRebinding(t *testing.T) {
	asked := atomic.Int32{}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			asked.Add(1)
			c.Close()
		}
	}()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	names := nameserver.Serve(conn, func(string) nameserver.Answer { return nameserver.At([4]byte{127, 0, 0, 1}) })
	defer names.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	cfg := configured(t, "https://hook.test:"+port+"/", "", secret(0))
	for range 50 {
		target, err := newTarget(cfg, fetch.NewResolver(names.Resolver()))
		if err != nil {
			t.Fatal(err)
		}
		m, err := newMessage(Test, nil)
		if err != nil {
			t.Fatal(err)
		}
		if a := target.post(t.Context(), m, false); a.Reason.Cause != schema.CauseRefusedAddress {
			t.Fatalf("answer %+v", a)
		}
		target.client.Close()
	}
	if asked.Load() != 0 {
		t.Errorf("%d connections", asked.Load())
	}
}
