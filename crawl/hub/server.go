// Package hub is what the nodes of a terrain talk through: a NATS server, which a
// [Server] runs in the process, and a [Conn] to it or to one of the user's own.
//
// The hub carries letters between shards, see [exchange.Carrier], and keeps the records
// of their leases, see [lease.Bucket], in a JetStream key-value bucket. It remembers
// nothing else, and nothing that lasts: its store may be lost, but is never put back from
// a copy. There is no stream for messages, no key that ends by itself, and nothing that
// is kept for later while a connection is broken.
//
// # Subjects
//
// A letter to shard 3 of a terrain from shard 5 goes to ripple.TERRAIN.3.OPENING.5, with the
// terrain's id and the receiver's opening in hex: nobody but the holder in that opening hears
// it. The last word is the lane. Every sender has one, and so has every kind of question to a shard. Each lane
// has a queue of its own: whoever fills one, his own or that of somebody he pretends to be, keeps
// nothing out of the others. The bucket is named ripple, and the key of the shard's lease TERRAIN.shard.3.
//
// # What a key may do
//
// A client that proves an NKey subscribes to its own inbox and to letters. It publishes letters, answers to the inboxes
// of the hub's keys, and records of shards and the charter. It reads the bucket and makes it where there is none. It
// can neither delete, purge nor change a stream, make any other stream or a consumer, nor write another key.
//
// A record does not name the key of its node, and any node may take any shard. So a node with a key can still read all
// letters and answer one in another's place, write the record of every shard and of every terrain at the hub, and be
// the first to make the bucket. Keys keep out strangers and limit mistakes; nodes of a terrain trust each other.
package hub

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/sumi-ripple/ripple/crawl/lease"
	"github.com/sumi-ripple/ripple/schema/disk"
)

const (
	startsWithin = 10 * time.Second
	maxStore     = 1 << 30 // bytes; a terrain needs less than one in a thousand of it
	maxMemory    = 16 << 20
	lockName     = "ripple.lock"
)

// ErrInUse reports an address, or a store, that another process has.
var ErrInUse = errors.New("is in use, perhaps by another hub")

// errOpen keeps a hub that admits everybody from being started by mistake: on loopback, too, every user of the
// machine reaches it.
var errOpen = errors.New("hub: Token, NKeys or Open has to say who is admitted")

// Options say how a [Server] runs.
type Options struct {
	Listen string      // host:port; port 0: any
	Store  string      // folder, which is made if missing
	Token  string      // that every client presents; empty: see NKeys
	NKeys  []string    // public keys of the clients, one of which every client proves to have
	Open   bool        // admits every client; for tests, and only without Token and NKeys
	TLS    *tls.Config // nil: it is not spoken
	Log    *slog.Logger

	rest time.Duration // see [Server.mend]; 0: Watch of leases
}

// A Server is a NATS server with JetStream in this process. Every write is synced before it
// is acknowledged.
type Server struct {
	options Options // with the port that it has
	url     string
	lock    *os.File
	nats    *server.Server
	failed  chan error // why it cannot work
}

// Start runs a server until [Server.Close]. It answers when Start returns.
func Start(o Options) (*Server, error) {
	if o.Open != (o.Token == "" && len(o.NKeys) == 0) {
		return nil, errOpen
	}
	settings, err := o.settings()
	if err != nil {
		return nil, err
	}
	lock, err := lockStore(o.Store)
	if err != nil {
		return nil, err
	}
	if o.rest == 0 {
		o.rest = lease.Standard().Watch
	}
	s := &Server{options: o, lock: lock}
	if err := s.begin(settings); err != nil {
		return nil, errors.Join(err, s.unlock())
	}
	s.url = s.nats.ClientURL()
	host, _, err := net.SplitHostPort(o.Listen)
	_, port, err2 := net.SplitHostPort(s.nats.Addr().String())
	if err := errors.Join(err, err2); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.options.Listen = net.JoinHostPort(host, port)
	return s, nil
}

// begin runs a NATS server; after an error there is none.
func (s *Server) begin(settings *server.Options) error {
	nats, err := server.NewServer(settings)
	if err != nil {
		return fmt.Errorf("hub: %w", err)
	}
	s.nats, s.failed = nats, make(chan error, 1)
	nats.SetLoggerV2(&journal{log: s.options.Log, fatal: s.failed}, false, false, false)
	nats.Start()
	select {
	case err = <-s.failed:
	default:
		if !nats.ReadyForConnections(startsWithin) {
			err = fmt.Errorf("hub: it does not answer within %s", startsWithin)
		}
	}
	if err != nil {
		s.end()
	}
	return err
}

// end ends the NATS server, with all connections.
func (s *Server) end() {
	s.nats.Shutdown()
	s.nats.WaitForShutdown()
}

// settings are those of the server. An address that cannot be listened at is found here, where
// the reason is known.
func (o Options) settings() (*server.Options, error) {
	l, err := net.Listen("tcp", o.Listen)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("%s %w", o.Listen, ErrInUse)
	}
	if err != nil {
		return nil, fmt.Errorf("listen at %s: %w", o.Listen, err)
	}
	l.Close()
	host, text, err := net.SplitHostPort(o.Listen)
	port, err2 := strconv.Atoi(text)
	if err := errors.Join(err, err2); err != nil {
		return nil, fmt.Errorf("listen at %s: %w", o.Listen, err)
	}
	if port == 0 {
		port = server.RANDOM_PORT
	}
	s := &server.Options{
		ServerName: "ripple", Host: host, Port: port, NoSigs: true, NoLog: o.Log == nil, DisableJetStreamBanner: true,
		JetStream: true, StoreDir: o.Store, SyncAlways: true,
		JetStreamMaxStore: maxStore, JetStreamMaxMemory: maxMemory,
		Authorization: o.Token, TLSConfig: o.TLS, TLSTimeout: 5,
	}
	for _, key := range o.NKeys {
		s.Nkeys = append(s.Nkeys, &server.NkeyUser{Nkey: key, Permissions: permissions(key, o.NKeys)})
	}
	return s, nil
}

// permissions are what a node needs, of which the doc of the package tells. The inboxes of all nodes are named because
// a permission to respond would allow a client to publish anywhere: it would send itself a message whose reply subject
// is the one that it wants.
func permissions(key string, all []string) *server.Permissions {
	publish := []string{
		letters, "$KV." + bucketName + ".*.charter", "$KV." + bucketName + ".*.shard.*",
		"$JS.API.STREAM.INFO." + streamName, "$JS.API.STREAM.CREATE." + streamName,
		"$JS.API.STREAM.MSG.GET." + streamName,
	}
	for _, other := range all {
		publish = append(publish, inbox(other)+".>")
	}
	return &server.Permissions{
		Publish:   &server.SubjectPermission{Allow: publish},
		Subscribe: &server.SubjectPermission{Allow: []string{inbox(key) + ".>", letters}},
	}
}

// letters are the subjects of the messages to shards.
const letters = "ripple.*.*.*.*"

// inbox is where the answers to a node with a key arrive.
func inbox(key string) string { return "_INBOX_" + key }

// lockStore makes the folder, and keeps other hubs out of it.
func lockStore(folder string) (*os.File, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("hub: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(folder, lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("hub: %w", err)
	}
	if ok, err := disk.TryLock(f, true); err != nil || !ok {
		if err == nil {
			err = fmt.Errorf("the store %s %w", folder, ErrInUse)
		}
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// URL is where the hub is found.
func (s *Server) URL() string { return s.url }

// Wait returns when ctx is done, or with the reason why the server cannot work any more. Until
// then, if the store cannot be written, it restores the server as soon as it can be again.
func (s *Server) Wait(ctx context.Context) error {
	look := time.NewTicker(s.options.rest / 6)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-s.failed:
			return err
		case <-look.C:
			if why := s.ailing(); why != "" {
				s.mend(ctx, why)
			}
		}
	}
}

// Close ends the server, with all connections, and gives the store back. It is called when
// Wait has returned.
func (s *Server) Close() error {
	s.end()
	return s.unlock()
}

func (s *Server) unlock() error {
	disk.Unlock(s.lock)
	return s.lock.Close()
}
