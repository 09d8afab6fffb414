// Package hub connects the nodes of a terrain: a [Server] runs a NATS server in the process, and a [Conn]
// connects to it or to the user's own.
//
// A hub that is started for the first time creates the bucket and marks it as fresh: a record that is missing in a
// fresh bucket has never existed. A hub that has lost its store gets another bucket from the first node that connects.
//
// The hub carries letters between shards, see [exchange.Carrier], and keeps the records of their leases, see
// [lease.Bucket], in a JetStream key-value bucket. It stores nothing else, and nothing permanent: its store
// may be lost, but must never be restored from a copy. There is no stream for messages, no key that expires,
// and nothing is queued while a connection is broken.
//
// # Subjects
//
// A letter to shard 3 of a terrain from shard 5 goes to ripple.TERRAIN.3.OPENING.5, with the terrain's id and
// the receiver's opening in hex: only the holder in that opening receives it. The last word is the lane.
// Every sender has one, as does every kind of question to a shard. Each lane has a queue of its own: a sender
// that fills one, its own or that of a sender it impersonates, does not affect the others. A message to a node goes to
// ripple.TERRAIN.node.ID.LANE, with the ID of the node in hex. The bucket is named ripple, and the key of the shard's
// lease is TERRAIN.shard.3. A [Watch] listens to the subjects under which the bucket is written,
// $KV.ripple.TERRAIN.shard.*: a server whose permissions forbid that makes nodes slow to notice.
//
// # Permissions of a key
//
// A client that proves an NKey may subscribe to its own inbox, to letters, and to the records of shards and the
// charter. It may publish letters, answers to the inboxes of the hub's keys, and these records. It may read the
// bucket, and create it if there is none. It cannot delete, purge or change a stream, create any other stream or a
// consumer, or write another key.
//
// A record does not name the key of its node, and any node may take any shard. A node with a key can
// therefore still read all letters and answer one in another's place, write the record of every shard of
// every terrain at the hub, and be the first to create the bucket. Keys keep out strangers and limit
// mistakes; the nodes of a terrain trust each other.
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

	"github.com/sumi-ripple/ripple/schema/disk"
)

const (
	startsWithin = 10 * time.Second
	maxStore     = 1 << 30 // bytes; a terrain needs less than a thousandth of it
	maxMemory    = 16 << 20
	lockName     = "ripple.lock"
)

// ErrInUse reports an address or a store that another process uses.
var ErrInUse = errors.New("is in use, perhaps by another hub")

// errOpen prevents a hub that admits everyone from being started by mistake: even on loopback, every user of
// the machine can reach it.
var errOpen = errors.New("hub: Token, NKeys or Open has to say who is admitted")

// Options configure a [Server].
type Options struct {
	Listen string      // host:port; port 0: any
	Store  string      // folder, created if missing
	Token  string      // that every client must present; empty: see NKeys
	NKeys  []string    // public keys of the clients; every client must prove one
	Open   bool        // admit every client; for tests, and only without Token and NKeys
	Fresh  bool        // nobody has used this hub before, not even with another store; not with NKeys
	TLS    *tls.Config // nil: no TLS
	Log    *slog.Logger

	rest time.Duration // see [Server.mend]; 0: twice patience
}

// A Server is a NATS server with JetStream in this process. Every write is synced before it is acknowledged.
type Server struct {
	options Options // with the actual port
	url     string
	lock    *os.File
	nats    *server.Server
	failed  chan error // reason why it cannot work
}

// Start starts a server, which runs until [Server.Close]. It accepts connections when Start returns.
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
		o.rest = 2 * patience
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
	if o.Fresh {
		if err := s.freshen(); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	return s, nil
}

// begin starts a NATS server; after an error none is running.
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

// end stops the NATS server and closes all connections.
func (s *Server) end() {
	s.nats.Shutdown()
	s.nats.WaitForShutdown()
}

// settings returns the options of the NATS server. It tries to listen at the address, because the reason for
// a failure is known only here.
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

// permissions returns the permissions that a node needs, see the package documentation. The inboxes of all
// nodes are listed, because a permission to respond would allow a client to publish anywhere, by sending
// itself a message with the desired reply subject.
func permissions(key string, all []string) *server.Permissions {
	publish := []string{
		letters, charters, records,
		"$JS.API.STREAM.INFO." + streamName, "$JS.API.STREAM.CREATE." + streamName,
		"$JS.API.STREAM.MSG.GET." + streamName,
	}
	for _, other := range all {
		publish = append(publish, inbox(other)+".>")
	}
	return &server.Permissions{
		Publish:   &server.SubjectPermission{Allow: publish},
		Subscribe: &server.SubjectPermission{Allow: []string{inbox(key) + ".>", letters, charters, records}},
	}
}

// The subjects of messages to shards, of the charters, and of the records of shards.
const (
	letters  = "ripple.*.*.*.*"
	charters = kvSubject + "*.charter"
	records  = kvSubject + "*.shard.*"
)

// inbox returns the subject of answers to a node with the given key.
func inbox(key string) string { return "_INBOX_" + key }

// lockStore creates the folder, and locks out other hubs.
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

// URL returns the address of the hub.
func (s *Server) URL() string { return s.url }

// Wait returns when ctx is done, or with the reason why the server can no longer work. If the store cannot be
// written, it restarts the server once it can.
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

// Close stops the server, closes all connections, and releases the store. It must be called after Wait has
// returned.
func (s *Server) Close() error {
	s.end()
	return s.unlock()
}

func (s *Server) unlock() error {
	disk.Unlock(s.lock)
	return s.lock.Close()
}
