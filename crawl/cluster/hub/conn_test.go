package hub

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/schema"
)

func dial(t *testing.T, url, credentials string) (*Conn, error) {
	t.Helper()
	c, err := reach(t.Context(), Dial{URL: url, Credentials: credentials, Log: quiet()})
	if err == nil {
		t.Cleanup(c.Close)
	}
	return c, err
}

// pair makes a key, and a node's file for it.
func pair(t *testing.T) (public, seed string) {
	t.Helper()
	key, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	public, err = key.PublicKey()
	text, err2 := key.Seed()
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	return public, written(t, string(text)+"\n")
}

// A hub admits the clients it knows.
func TestCredentials(t *testing.T) {
	public, seed := pair(t)
	_, stranger := pair(t)
	token := start(t, Options{Token: "a token of the hub"}).URL()
	keys := start(t, Options{NKeys: []string{public}}).URL()
	tests := []struct {
		name, url, file string
		want            error
	}{
		{"token", token, written(t, "a token of the hub\n"), nil},
		{"wrong token", token, written(t, "another"), ErrRefused},
		{"no token", token, "", ErrRefused},
		{"key for a token", token, seed, ErrRefused},
		{"key", keys, seed, nil},
		{"wrong key", keys, stranger, ErrRefused},
		{"no key", keys, "", ErrRefused},
		{"token for a key", keys, written(t, "a token of the hub\n"), ErrRefused},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := dial(t, tt.url, tt.file); !errors.Is(err, tt.want) {
				t.Errorf("it ends with %v, want %v", err, tt.want)
			}
		})
	}
}

// A hub that admits everyone must be requested explicitly.
func TestNobodyIsAdmittedByMistake(t *testing.T) {
	public, _ := pair(t)
	for _, o := range []Options{{}, {Token: "a token", Open: true}, {NKeys: []string{public}, Open: true}} {
		o.Listen, o.Store = "127.0.0.1:0", t.TempDir()
		if s, err := Start(o); err == nil {
			s.Close()
			t.Errorf("a hub starts with %+v", o)
		}
	}
}

// A node reconnects to a hub that lost its store, with the token in it, and made another token.
func TestTokenMadeAgain(t *testing.T) {
	t.Parallel()
	file := written(t, "the first token\n")
	s := start(t, Options{Token: "the first token"})
	c, err := dial(t, s.URL(), file)
	if err != nil {
		t.Fatal(err)
	}
	address := s.nats.Addr().String()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("the second token\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	start(t, Options{Listen: address, Token: "the second token"})
	eventually(t, func(context.Context) error { _, err := c.session(); return err })
}

// A credentials file must be readable by its owner only.
func TestCredentialsFile(t *testing.T) {
	open := written(t, "token")
	if err := os.Chmod(open, 0o644); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{
		open: "chmod 600", written(t, " \n"): "is empty", open + "x": "no such file",
	} {
		if _, err := dial(t, "nats://127.0.0.1:1", file); !errors.Is(err, ErrFile) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", file, err, want)
		}
	}
}

// A returning hub that refuses the credentials is logged once, however often it is tried.
func TestRefusedAgain(t *testing.T) {
	file := written(t, "a token of the hub\n")
	s := start(t, Options{Token: "a token of the hub"})
	said := written(t, "")
	log, err := os.OpenFile(said, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	d := Dial{URL: s.URL(), Credentials: file, Log: slog.New(slog.NewTextHandler(log, nil))}
	c, err := reach(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	address := s.nats.Addr().String()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	start(t, Options{Listen: address, Token: "another"})
	times := func() int {
		text, err := os.ReadFile(said)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(text), "authorization violation")
	}
	for ends := time.Now().Add(20 * time.Second); times() == 0; time.Sleep(reconnect / 4) {
		if time.Now().After(ends) {
			t.Fatal("nothing is said")
		}
	}
	time.Sleep(8 * reconnect) // in which it is retried
	if n := times(); n != 1 {
		t.Errorf("it is said %d times, want once", n)
	}
	if _, err := c.session(); !errors.Is(err, ErrRefused) {
		t.Errorf("the reason for being away is %v, want %v", err, ErrRefused)
	}
}

// A node with a key can do all that nodes need, but cannot receive others' answers or delete what keeps the
// leases.
func TestPermissions(t *testing.T) {
	t.Parallel()
	one, oneSeed := pair(t)
	two, twoSeed := pair(t)
	url := start(t, Options{NKeys: []string{one, two}}).URL()
	var buckets []*Bucket
	for _, seed := range []string{oneSeed, twoSeed} {
		c, err := dial(t, url, seed)
		if err != nil {
			t.Fatal(err)
		}
		b, err := c.Bucket(t.Context(), [16]byte{7})
		if err != nil {
			t.Fatal(err)
		}
		buckets = append(buckets, b)
	}
	claimed(t, buckets[0], schema.Opening{1})
	serve(t, buckets[0], schema.Opening{1}, always)
	eventually(t, func(ctx context.Context) error {
		_, err := buckets[1].Carrier().Ask(ctx, "a", 3, []byte("x"))
		return err
	})

	c := buckets[1].conn
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	if err := c.js.DeleteStream(ctx, streamName); err == nil {
		t.Error("a node deletes the bucket")
	}
	if err := buckets[1].kv.Purge(t.Context(), buckets[1].own(Key(3))); err == nil {
		t.Error("a node purges a record")
	}
	raise := func(subject string) { // would permit a node to answer there, if the server did not refuse it
		t.Helper()
		s, err := c.nats.SubscribeSync("ripple.a.b.c.d")
		if err == nil {
			err = c.nats.PublishRequest("ripple.a.b.c.d", subject, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.NextMsg(time.Second); err != nil && !errors.Is(c.nats.LastError(), nats.ErrPermissionViolation) {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct{ subject, body string }{
		{"$JS.API.STREAM.DELETE." + streamName, ""},
		{"$JS.API.STREAM.PURGE." + streamName, ""},
		{"$JS.API.STREAM.UPDATE." + streamName, `{"name": "KV_ripple", "subjects": ["$KV.ripple.>"], "max_msgs": 1}`},
		{"$JS.API.STREAM.MSG.DELETE." + streamName, `{"seq": 1}`},
		{"$JS.API.STREAM.CREATE.other", `{"name": "other", "subjects": ["ripple.>"]}`},
		{"$JS.API.CONSUMER.CREATE." + streamName, `{"stream_name": "KV_ripple", "config": {}}`},
		{"$JS.API.STREAM.NAMES", ""},
		{"$KV.ripple.00.other", "x"},
		{"$KV.other.00.shard.1", "x"},
	} {
		raise(tt.subject)
		short, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		if m, err := c.nats.RequestWithContext(short, tt.subject, []byte(tt.body)); err == nil {
			t.Errorf("%s is answered with %s", tt.subject, m.Data)
		}
		cancel()
	}
	for i, subject := range []string{">", "$KV.>", "$JS.>"} {
		s, err := c.nats.SubscribeSync(subject)
		if err != nil {
			t.Fatal(err)
		}
		_, err = buckets[0].Create(t.Context(), Key(10+i), []byte("x"))
		_, err2 := buckets[0].Session(t.Context())
		if err := errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		if m, err := s.NextMsg(200 * time.Millisecond); err == nil {
			t.Errorf("a subscription to %s hears %s", subject, m.Subject)
		}
	}
	if _, err := buckets[0].Get(t.Context(), Key(3)); err != nil {
		t.Errorf("the record is gone: %v", err)
	}
	s, err := c.nats.SubscribeSync(inbox(one) + ".>")
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		if _, err := buckets[0].Get(t.Context(), Key(3)); err != nil {
			t.Fatal(err)
		}
	}
	if m, err := s.NextMsg(100 * time.Millisecond); err == nil {
		t.Errorf("a node hears another's answer: %s", m.Data)
	}
}

// A server that does not exist, or cannot be a hub, is refused with the reason.
func TestUnfit(t *testing.T) {
	nobody := "nats://" + crawltest.Address(t)
	tests := []struct {
		name   string
		change func(*server.Options)
		want   error
		text   string
	}{
		{"nobody", nil, ErrAway, nobody},
		{"no JetStream", func(o *server.Options) { o.JetStream = false }, ErrUnfit, "JetStream"},
		{"small messages", func(o *server.Options) { o.MaxPayload = 256 << 10 }, ErrUnfit, "at most 262144 bytes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			url := nobody
			if tt.change != nil {
				url = plain(t, tt.change)
			}
			if _, err := dial(t, url, ""); !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("it ends with %v, want %v: %s", err, tt.want, tt.text)
			}
		})
	}
}

// A server that admits a node and then does not answer is no hub now, and may be one later.
func TestSlowHub(t *testing.T) {
	url := plain(t, func(o *server.Options) {
		o.Users = []*server.User{{Username: "a", Password: "b", Permissions: &server.Permissions{
			Publish: &server.SubjectPermission{Deny: []string{"$JS.API.>"}},
		}}}
	})
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := Connect(ctx, Dial{URL: strings.Replace(url, "//", "//a:b@", 1), Log: quiet()})
	if !errors.Is(err, ErrAway) {
		t.Errorf("it ends with %v, want %v", err, ErrAway)
	}
}

// plain starts an ordinary NATS server.
func plain(t *testing.T, change func(*server.Options)) (url string) {
	t.Helper()
	o := &server.Options{Host: "127.0.0.1", Port: -1, NoSigs: true, NoLog: true, JetStream: true, StoreDir: t.TempDir()}
	change(o)
	s, err := server.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(startsWithin) {
		t.Fatal("it does not start")
	}
	return s.ClientURL()
}

// An address and a store belong to one hub.
func TestInUse(t *testing.T) {
	store := t.TempDir()
	s := start(t, Options{Store: store})
	address := s.nats.Addr().String()
	if _, err := Start(Options{Open: true, Listen: address, Store: t.TempDir()}); !errors.Is(err, ErrInUse) ||
		!strings.Contains(err.Error(), address) {
		t.Errorf("an address for two: %v", err)
	}
	if _, err := Start(Options{Open: true, Listen: "127.0.0.1:0", Store: store}); !errors.Is(err, ErrInUse) ||
		!strings.Contains(err.Error(), store) {
		t.Errorf("a store for two: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	start(t, Options{Store: store, Listen: address})
}

// A client that trusts the certificate speaks TLS with the hub; others cannot connect.
func TestTLS(t *testing.T) {
	certificate, anchors := selfSigned(t)
	url := start(t, Options{TLS: &tls.Config{Certificates: []tls.Certificate{certificate}}}).URL()
	c, err := reach(t.Context(), Dial{URL: url, CAFile: anchors, Log: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.nats.TLSConnectionState(); err != nil {
		t.Errorf("it does not speak TLS: %v", err)
	}
	if _, err := dial(t, url, ""); !errors.Is(err, ErrTrust) || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("without trust in the certificate: %v", err)
	}
	if _, err := Connect(t.Context(), Dial{URL: url, CAFile: anchors + "x", Log: quiet()}); err == nil {
		t.Error("trust anchors that are not there are accepted")
	}
}

// If a hub returns with an untrusted certificate, the error gives that reason.
func TestCertificateAgain(t *testing.T) {
	before, anchors := selfSigned(t)
	after, _ := selfSigned(t)
	s := start(t, Options{TLS: &tls.Config{Certificates: []tls.Certificate{before}}})
	c, err := reach(t.Context(), Dial{URL: s.URL(), CAFile: anchors, Log: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	address := s.nats.Addr().String()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	start(t, Options{Listen: address, TLS: &tls.Config{Certificates: []tls.Certificate{after}}})
	for ends := time.Now().Add(20 * time.Second); !errors.Is(err, ErrTrust); _, err = c.session() {
		if time.Now().After(ends) {
			t.Fatalf("the reason for being away is %v, want %v", err, ErrTrust)
		}
		time.Sleep(reconnect / 4)
	}
}

// selfSigned makes a certificate for 127.0.0.1, and a file with its trust anchor.
func selfSigned(t *testing.T) (tls.Certificate, string) {
	t.Helper()
	cert, key := crawltest.Certificate(t)
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	return pair, cert
}

// A hub that does not respond to the first connection, as on a busy machine, is retried.
func TestBusyHub(t *testing.T) {
	t.Parallel()
	server := start(t, Options{Listen: "127.0.0.1:0", Store: t.TempDir(), Log: quiet()})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for n := 0; ; n++ {
			in, err := l.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { in.Close() })
			if n == 0 {
				continue
			}
			out, err := net.Dial("tcp", strings.TrimPrefix(server.URL(), "nats://"))
			if err != nil {
				return
			}
			t.Cleanup(func() { out.Close() })
			go func() { _, _ = io.Copy(out, in) }()
			go func() { _, _ = io.Copy(in, out) }()
		}
	}()
	c, err := Connect(t.Context(), Dial{URL: "nats://" + l.Addr().String(), Node: "test", Log: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
}
