package hub

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/sumi-ripple/ripple/crawl/cluster/lease"
)

// maxRecord is the maximum size of a record with its headers, in bytes.
const maxRecord = 64 << 10

// bucketName is the name of the bucket of all terrains at a hub, and streamName that of its stream. They are
// fixed, so that the permissions of a key can name them.
const (
	bucketName = "ripple"
	streamName = "KV_" + bucketName
	kvSubject  = "$KV." + bucketName + "."
)

// metaFresh is in the metadata of a bucket that a hub has created at its first start.
const metaFresh = "ripple-fresh"

// A Bucket keeps the leases of one terrain. It is safe for concurrent use.
type Bucket struct {
	conn    *Conn
	terrain [16]byte
	kv      jetstream.KeyValue
}

// Bucket opens the bucket for a terrain, and creates it if necessary.
func (c *Conn) Bucket(ctx context.Context, terrain [16]byte) (*Bucket, error) {
	b := &Bucket{conn: c, terrain: terrain}
	err := c.ask(ctx, func(ctx context.Context) error { _, err := b.stream(ctx); return err })
	if err == nil {
		err = c.ask(ctx, func(ctx context.Context) (err error) { b.kv, err = c.js.KeyValue(ctx, bucketName); return err })
	}
	if err != nil {
		return nil, fmt.Errorf("bucket %s: %w", bucketName, err)
	}
	return b, nil
}

var _ lease.Bucket = (*Bucket)(nil)

// Terrain returns the ID of the terrain.
func (b *Bucket) Terrain() [16]byte { return b.terrain }

// Key returns the key of a shard's lease.
func Key(shard int) string { return fmt.Sprintf("shard.%d", shard) }

// Keys are the keys of all leases, for [Bucket.Watch].
const Keys = "shard.*"

// Shard returns the shard whose lease has a key.
func Shard(key string) (shard int, ok bool) {
	shard, err := strconv.Atoi(strings.TrimPrefix(key, "shard."))
	return shard, err == nil && shard >= 0
}

// own returns the name in the bucket of a key of the terrain.
func (b *Bucket) own(key string) string { return fmt.Sprintf("%x.%s", b.terrain, key) }

// stream finds the stream of the bucket, or creates it.
func (b *Bucket) stream(ctx context.Context) (jetstream.Stream, error) {
	return openStream(ctx, b.conn.js, nil)
}

// openStream finds the stream of the bucket, or creates it with metadata. A new stream begins at a random number, so
// that its revisions are all new.
func openStream(ctx context.Context, js jetstream.JetStream, metadata map[string]string) (jetstream.Stream, error) {
	s, err := js.Stream(ctx, streamName)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		s, err = js.CreateStream(ctx, jetstream.StreamConfig{
			Name: streamName, Subjects: []string{kvSubject + ">"}, FirstSeq: 1 + rand.Uint64N(1<<62),
			MaxMsgsPerSubject: 1, MaxMsgSize: maxRecord, Discard: jetstream.DiscardNew, Storage: jetstream.FileStorage,
			DenyDelete: true, DenyPurge: true, Metadata: metadata,
		})
		if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) { // another node was faster
			s, err = js.Stream(ctx, streamName)
		}
	}
	return s, err
}

// freshen creates the bucket of a hub that nobody has used, and marks it as such.
func (s *Server) freshen() error {
	nc, err := nats.Connect("", nats.InProcessServer(s.nats), nats.Token(s.options.Token))
	if err != nil {
		return fmt.Errorf("hub: %w", err)
	}
	defer nc.Close()
	ctx, cancel := context.WithTimeout(context.Background(), startsWithin)
	defer cancel()
	js, err := jetstream.New(nc)
	if err == nil {
		_, err = openStream(ctx, js, map[string]string{metaFresh: "true"})
	}
	if err != nil {
		return fmt.Errorf("hub: create the bucket: %w", err)
	}
	return nil
}

// Fresh reports whether the hub created the bucket before any node had used the hub. If not, a node has created the
// bucket, perhaps because the hub has lost another one.
func (b *Bucket) Fresh(ctx context.Context) (fresh bool, err error) {
	err = b.conn.ask(ctx, func(ctx context.Context) error {
		s, err := b.stream(ctx)
		fresh = err == nil && s.CachedInfo().Config.Metadata[metaFresh] != ""
		return err
	})
	return fresh, err
}

// Session implements [lease.Bucket]. It re-creates the bucket if the hub has lost it.
func (b *Bucket) Session(ctx context.Context) (session string, err error) {
	err = b.conn.ask(ctx, func(ctx context.Context) (err error) { session, _, err = b.session(ctx); return err })
	return session, err
}

// session returns the session with the stream in it.
func (b *Bucket) session(ctx context.Context) (string, jetstream.Stream, error) {
	before, err := b.conn.session()
	if err != nil {
		return "", nil, err
	}
	s, err := b.stream(ctx)
	if err != nil {
		return "", nil, err
	}
	after, err := b.conn.session()
	if err == nil && after != before {
		err = ErrAway
	}
	info := s.CachedInfo()
	server, reconnects, _ := strings.Cut(after, "#")
	return fmt.Sprint(server, "/", info.Created.UnixNano(), "/", info.Config.FirstSeq, "#", reconnects), s, err
}

// Connections implements [lease.Bucket].
func (b *Bucket) Connections() uint64 { return b.conn.nats.Stats().Reconnects }

// Get implements [lease.Bucket].
func (b *Bucket) Get(ctx context.Context, key string) (lease.Entry, error) {
	var e jetstream.KeyValueEntry
	err := b.conn.ask(ctx, func(ctx context.Context) (err error) { e, err = b.kv.Get(ctx, b.own(key)); return err })
	if errors.Is(err, jetstream.ErrKeyNotFound) || errors.Is(err, jetstream.ErrStreamNotFound) {
		return lease.Entry{}, lease.ErrNone
	}
	if err != nil {
		return lease.Entry{}, fmt.Errorf("read %s: %w", key, err)
	}
	return lease.Entry{Value: e.Value(), Revision: e.Revision()}, nil
}

// Create implements [lease.Bucket].
func (b *Bucket) Create(ctx context.Context, key string, value []byte) (revision uint64, err error) {
	err = b.conn.ask(ctx, func(ctx context.Context) (err error) {
		revision, err = b.kv.Create(ctx, b.own(key), value)
		return err
	})
	if errors.Is(err, jetstream.ErrKeyExists) {
		err = lease.ErrChanged
	}
	return revision, refused(err)
}

// Update implements [lease.Bucket].
func (b *Bucket) Update(ctx context.Context, key string, value []byte, last uint64) (revision uint64, err error) {
	err = b.conn.ask(ctx, func(ctx context.Context) (err error) {
		revision, err = b.kv.Update(ctx, b.own(key), value, last)
		return err
	})
	if errors.Is(err, jetstream.ErrKeyRevisionMismatch) {
		err = lease.ErrChanged
	}
	return revision, refused(err)
}

// refused returns [lease.ErrTooLarge] if the server refuses a record for its size.
func refused(err error) error {
	var api *jetstream.APIError
	if errors.As(err, &api) && api.ErrorCode == jetstream.JSErrCodeStreamMessageExceedsMaximum ||
		errors.Is(err, nats.ErrMaxPayload) {
		return lease.ErrTooLarge
	}
	return err
}
