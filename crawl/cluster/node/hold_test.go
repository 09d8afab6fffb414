package node

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/cluster/exchange"
	"github.com/sumi-ripple/ripple/crawl/cluster/hub"
	"github.com/sumi-ripple/ripple/crawl/cluster/lease"
	"github.com/sumi-ripple/ripple/crawl/cluster/termination"
	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
	"github.com/sumi-ripple/ripple/schema/shard"
)

// A shard whose run is over is taken again if its lease is lost while another shard is still running: otherwise
// the search for the end would wait for its answers forever.
func TestLostWhileOver(t *testing.T) {
	t.Parallel()
	n, f := loses(t, slog.DiscardHandler)
	if err := (&holding{node: n, file: f}).once(t.Context()); !errors.Is(err, lease.ErrLost) {
		t.Errorf("without the hub: %v", err)
	}
}

// A lost shard is taken again even if another process is reading its file at that moment.
func TestLostWhileRead(t *testing.T) {
	t.Parallel()
	why := errors.New("it is taken again")
	ctx, stop := context.WithCancelCause(t.Context())
	n, f := loses(t, slog.DiscardHandler)
	before, read := n.OnShard, false
	n.OnShard = func(shard int, state string) {
		switch before(shard, state); {
		case state == "lost":
			reader, err := kv.Open(f.path, kv.Options{ReadOnly: true})
			if err != nil {
				t.Error(err)
			}
			read = true
			time.AfterFunc(3*time.Second, func() { reader.Close() })
		case state == "waiting" && read:
			stop(why)
		}
	}
	if _, err := n.hold(ctx, 0, f); !errors.Is(err, why) {
		t.Errorf("it ends with %v", err)
	}
}

// A node that has to stop while a shard is lost ends for that reason and no other.
func TestLostWhileStopping(t *testing.T) {
	t.Parallel()
	why := errors.New("somebody wants to stop")
	ctx, stop := context.WithCancelCause(t.Context())
	n, f := loses(t, said{func() { stop(why) }})
	if _, err := n.hold(ctx, 0, f); !errors.Is(err, why) {
		t.Errorf("it ends with %v", err)
	}
}

// A node waits for a hub that is away, but not for a file that can no longer be written: the file stays closed.
func TestTakeWithClosedFile(t *testing.T) {
	t.Parallel()
	n, f := loses(t, slog.DiscardHandler)
	n.OnShard = func(_ int, state string) { f.Close() } // as after a failed commit
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if _, _, err := n.own(ctx, 0, f, false); !errors.Is(err, kv.ErrClosed) {
		t.Errorf("it ends with %v", err)
	}
}

// A hub may be away for days. The shards that wait for it do not log that one by one: the connection knows it.
func TestTakeWithoutHub(t *testing.T) {
	t.Parallel()
	n, f := loses(t, slog.DiscardHandler)
	var text strings.Builder
	n.Log = slog.New(slog.NewTextHandler(&text, nil))
	n.OnShard(0, "over") // closes the hub
	n.OnShard = func(int, string) {}
	ctx, cancel := context.WithTimeout(t.Context(), 5*n.Timing.Watch)
	defer cancel()
	if _, _, err := n.own(ctx, 0, f, false); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("it ends with %v", err)
	}
	if strings.Contains(text.String(), "a shard cannot be taken yet") {
		t.Errorf("this is said:\n%s", text.String())
	}
}

// A file that arrives and is moved away before its shard is taken does not end the node.
func TestTakeWithMovedFile(t *testing.T) {
	t.Parallel()
	n, f := loses(t, slog.DiscardHandler)
	n.OnShard = func(_ int, state string) {
		if state != "waiting" {
			return
		}
		time.AfterFunc(n.Timing.Watch/3, func() {
			if err := os.Rename(f.path, f.path+".away"); err != nil {
				t.Error(err)
			}
		})
	}
	if left, _, err := n.own(t.Context(), 0, f, true); !left || err != nil {
		t.Errorf("it is left alone, %t, %v", left, err)
	}
}

// A node that has to stop because another node has the file of another shard keeps the empty file with which it
// waits: the shard may have been claimed with it.
func TestStopsForAnotherShard(t *testing.T) {
	t.Parallel()
	n, _ := loses(t, slog.DiscardHandler)
	why := &lease.WrittenError{ID: "other"}
	ctx, stop := context.WithCancelCause(t.Context())
	n.OnShard = func(int, string) { stop(why) }
	if _, err := n.hold(ctx, 1, nil); !errors.Is(err, why) {
		t.Errorf("it ends with %v", err)
	}
	if _, err := os.Stat(FilePath(n.Folder, 1)); err != nil {
		t.Error(err)
	}
}

// A file that was made here is discarded if another node has the file of the shard, but not if the obstacle is a
// claim of this node.
func TestUnmake(t *testing.T) {
	t.Parallel()
	other := errors.New("something else")
	for _, tt := range []struct {
		name string
		why  error
		want error
		gone bool
	}{
		{"held elsewhere", &lease.HeldError{ID: "other"}, errElsewhere, true},
		{"written elsewhere", &lease.WrittenError{ID: "other"}, errElsewhere, true},
		{"recreated", lease.ErrRecreated, errElsewhere, true},
		{"written here", &lease.WrittenError{ID: "own"}, ErrGone, true},
		{"claimed here", &lease.HeldError{ID: "own"}, nil, false},
		{"something else", other, other, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := Options{
				ID: "own", Name: "own", Folder: t.TempDir(), Config: &config.Config{}, Log: slog.New(slog.DiscardHandler),
				Open: func(path string) (*kv.Store, error) { return kv.Open(path, kv.Options{}) },
			}
			f, err := openFile(&o, 1)
			if err == nil {
				err = f.Close()
			}
			if err != nil {
				t.Fatal(err)
			}
			err = (&node{Options: o}).unmake(f, tt.why)
			if tt.want == nil {
				tt.want = tt.why
			}
			if !errors.Is(err, tt.want) {
				t.Errorf("%v, want %v", err, tt.want)
			}
			if _, err := os.Stat(f.path); errors.Is(err, fs.ErrNotExist) != tt.gone {
				t.Errorf("the file: %v", err)
			}
		})
	}
}

// A file that arrives and cannot be crawled is left alone, and the node continues with its other shards. A file
// that was there when the node started ends the node.
func TestUnfitFile(t *testing.T) {
	t.Parallel()
	n, f := loses(t, slog.DiscardHandler)
	c := n.member.get().clone()
	c.Run, c.Over[0] = 2, false
	n.member = newMember(&n.Options, n.member.registry, c)
	err := f.Update(func(tx *kv.Tx) error { return tx.Runs.Put(schema.Run{ID: 1, Status: schema.RunInterrupted}) })
	if err != nil {
		t.Fatal(err)
	}
	if left, _, err := n.own(t.Context(), 0, f, true); !left || err != nil {
		t.Errorf("it has come: it is left alone, %t, %v", left, err)
	}
	if left, _, err := n.own(t.Context(), 0, nil, false); left || !errors.Is(err, crawl.ErrNotOver) {
		t.Errorf("it was there: it is left alone, %t, %v", left, err)
	}
}

// A said handler calls a function for every log message.
type said struct{ told func() }

func (said) Enabled(context.Context, slog.Level) bool    { return true }
func (s said) Handle(context.Context, slog.Record) error { s.told(); return nil }
func (s said) WithAttrs([]slog.Attr) slog.Handler        { return s }
func (s said) WithGroup(string) slog.Handler             { return s }

// loses returns a node with two shards, and the file of the first one, whose run is over. The hub is closed as
// soon as that shard is held. The handler's first message says that the lost shard could not be released.
func loses(t *testing.T, handler slog.Handler) (*node, *file) {
	t.Helper()
	quiet := slog.New(slog.DiscardHandler)
	server, err := hub.Start(hub.Options{Open: true, Fresh: true, Listen: "127.0.0.1:0", Store: t.TempDir(), Log: quiet})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	dial := hub.Dial{URL: server.URL(), Node: "me", Log: quiet}
	conn, err := hub.Connect(t.Context(), dial)
	for tries := 0; errors.Is(err, hub.ErrAway) && tries < 10; tries++ { // it is slow to answer
		conn, err = hub.Connect(t.Context(), dial)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	bucket, err := conn.Bucket(t.Context(), [16]byte{})
	for tries := 0; errors.Is(err, context.DeadlineExceeded) && tries < 10; tries++ { // likewise
		bucket, err = conn.Bucket(t.Context(), [16]byte{})
	}
	if err != nil {
		t.Fatal(err)
	}
	c := newCharter(2, nil)
	c.Made, c.Over = true, []bool{true, false}
	n := &node{bucket: bucket, wire: wire{carrier: bucket.Carrier()}}
	n.Options = Options{
		ID: "me", Name: "me", Folder: t.TempDir(), Config: &config.Config{}, Log: quiet, Timing: crawltest.Timing(30),
		Shared: crawl.NewShared(0), Clock: lease.MachineClock(),
		Open: func(path string) (*kv.Store, error) { return kv.Open(path, kv.Options{}) },
		OnShard: func(_ int, state string) {
			if state == "over" {
				server.Close()
			}
		},
	}
	n.Options.complete()
	n.member = newMember(&n.Options, &registry{bucket: bucket, timing: n.Timing, log: quiet}, c)
	n.cfg = &configured{cfg: n.Config, number: 1}
	n.teller = &teller{member: n.member, cfg: n.cfg, wire: n.wire, log: quiet}
	f, err := openFile(&n.Options, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	err = f.Update(func(tx *kv.Tx) error {
		run := schema.Run{ID: 1, Status: schema.RunCompleted, Walked: true}
		return errors.Join(tx.Part.Put(c.part(0)), tx.Runs.Put(run))
	})
	if err != nil {
		t.Fatal(err)
	}
	n.Log = slog.New(handler)
	return n, f
}

// An empty file enters an epoch only if the record of the shard names its node. Another node may have begun to make
// it before it learned that the file is recreated elsewhere.
func TestEnterEpoch(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		epoch uint64
		own   bool // the record names the node
		want  error
	}{
		{"the first file", 0, false, nil}, {"recreated here", 1, true, nil},
		{"recreated elsewhere", 1, false, lease.ErrRecreated},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := newCharter(2, nil)
			c.Epochs[1] = tt.epoch
			f, err := openFile(&Options{
				Folder: t.TempDir(), Config: &config.Config{}, Log: slog.New(slog.DiscardHandler),
				Open: func(path string) (*kv.Store, error) { return kv.Open(path, kv.Options{}) },
			}, 1)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			for range 2 { // a file that has entered may enter again, whatever the record says then
				if err = f.enter(1, c, tt.own); !errors.Is(err, tt.want) || err == nil && f.epoch != tt.epoch {
					t.Errorf("%v, epoch %d", err, f.epoch)
				}
				if tt.want == nil {
					tt.own = false
				}
			}
		})
	}
}

// A writer is a shard that sends letters to another one, whose run is over.
type writer struct {
	*desk
	over       ended
	unanswered int
}

func (*writer) Referral(tx *kv.Tx, id schema.ID) (ring.Referral, error) {
	norm, err := tx.URLs.Norm(id)
	return ring.Referral{URL: norm, Forms: []string{norm}, Told: schema.Inbound{Depth: 1}}, err
}
func (*writer) MarkAgain(*kv.Tx, int, schema.ID, int) (schema.ID, error) {
	return 0, exchange.ErrNobody
}
func (s *writer) Ask(ctx context.Context, _ int, letter []byte) ([]byte, error) {
	text, err := answer(ctx, s.over, "1", letter)
	if err != nil {
		s.unanswered++
	}
	return text, err
}

// partOf returns the file of a shard, after more has written to it.
func partOf(t *testing.T, c *charter, shard int, more func(*kv.Tx) error) *kv.Store {
	t.Helper()
	store := crawltest.Open(t, filepath.Join(t.TempDir(), "state.bolt"))
	err := store.Update(func(tx *kv.Tx) error { return errors.Join(tx.Part.Put(c.part(shard)), more(tx)) })
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// endedPart returns the file of a shard whose run is over, with its opening and its speaker.
func endedPart(t *testing.T, c *charter) (*kv.Store, schema.Opening, ended) {
	t.Helper()
	var opening schema.Opening
	store := partOf(t, c, 0, func(tx *kv.Tx) (err error) {
		opening, err = tx.Openings.Begin()
		return errors.Join(err, tx.Runs.Put(schema.Run{ID: 1, Status: schema.RunCompleted, Walked: true}))
	})
	e, err := newEnded(&file{Store: store}, crawltest.Parse(t, surveytest.Minimal), func() bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	return store, opening, e
}

// A shard whose run is over reports the same errors as before, including those of pages without a visit, and the
// hosts that were given up.
func TestErrorsWhileOver(t *testing.T) {
	t.Parallel()
	w := surveytest.New(t, surveytest.Minimal)
	w.Visit("a.test/", w.Links("b.test/1", "b.test/2"))
	for _, page := range []string{"b.test/1", "b.test/2"} {
		w.Depth(page, 1, 0)
		w.Push(page)
	}
	w.Host("b.test/1", func(h *schema.Host) {
		h.RunGivenUp, h.RunGivenUpWhy = schema.GaveUpConnection, schema.Reason{Cause: schema.CauseTLS}
	})
	w.Change(func(r *schema.Run) {
		r.Status, r.Walked, r.Errors = schema.RunCompleted, true, map[string]int{schema.ErrorDeadLink: 1}
	})
	e, err := newEnded(&file{Store: w.Store}, w.Config, func() bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	r, err := e.Report(t.Context())
	want := map[string]int{"tls_error": 2, schema.ErrorDeadLink: 1}
	if diff := cmp.Diff(want, r.Status.Errors); diff != "" || err != nil {
		t.Errorf("%s%v", diff, err)
	}
	if r.Status.Hosts.GivenUp != 1 {
		t.Errorf("%d hosts were given up, want 1", r.Status.Hosts.GivenUp)
	}
}

// A shard whose run is over says what its file contains. Otherwise running shards would wait for that as for a
// shard that does not answer.
func TestConfirmedWhileOver(t *testing.T) {
	t.Parallel()
	c := newCharter(2, nil)
	over, opening, e := endedPart(t, c)
	for _, ahead := range []uint64{0, 1} {
		store := partOf(t, c, 1, func(tx *kv.Tx) error {
			return tx.Peers.Put(0, schema.Peer{Opening: opening, Commit: over.LastCommit() + ahead})
		})
		s := &writer{desk: &desk{file: &file{Store: store}, held: func() bool { return true }}, over: e}
		contained, err := exchange.NewSender(s, s, 0).Confirm(t.Context())
		if err != nil || contained != (ahead == 0) {
			t.Errorf("a commit that is %d ahead: %v, %v", ahead, contained, err)
		}
	}
	if answer, err := e.Answer(t.Context(), []byte("nonsense")); err != nil {
		t.Errorf("nonsense is answered with %q, %v", answer, err)
	}
}

// A shard that has a letter or an errand for a shard whose run is over gets an answer, instead of waiting until
// its time-out. It keeps the letter, and the file of the other shard is unchanged.
func TestToldWhileOver(t *testing.T) {
	t.Parallel()
	c := newCharter(2, nil)
	over, _, e := endedPart(t, c)
	store := partOf(t, c, 1, func(tx *kv.Tx) error {
		host, err := tx.Hosts.Add(nameOf(t, 0))
		if err != nil {
			return err
		}
		id, err := tx.URLs.Add(schema.URL{Host: host.ID, PathQuery: "/"}, 1)
		tx.Outbox.Mark(id)
		return err
	})
	s := &writer{desk: &desk{file: &file{Store: store}, held: func() bool { return true }}, over: e}
	before := over.LastCommit()
	sender := exchange.NewSender(s, s, 0)
	for i, want := range []exchange.Progress{exchange.Went, exchange.Stuck, exchange.Stuck} {
		if p, err := sender.Step(t.Context()); p != want || err != nil {
			t.Errorf("step %d comes to %d, %v; want %d", i, p, err, want)
		}
	}
	_, known, err := exchange.Inquire(t.Context(), s, s, ring.Errand{To: 0, URL: "https://a.test/robots.txt"}, 1, nil)
	if known || err != nil {
		t.Errorf("of an errand there is a report: %t, %v", known, err)
	}
	if n, _ := store.Marked(0); n != 1 || s.unanswered != 0 || over.LastCommit() != before {
		t.Errorf("%d URLs are left to be told, %d letters are not answered, and the file has come from commit %d to %d",
			n, s.unanswered, before, over.LastCommit())
	}
}

// nameOf returns a host of shard n of two.
func nameOf(t *testing.T, n int) string {
	t.Helper()
	rule, err := shard.New(2)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; ; i++ {
		if name := fmt.Sprintf("h%d.test", i); rule.Of(name) == n {
			return name
		}
	}
}

// A halting speaker returns an error.
type halting struct {
	deaf
	err error
}

func (h halting) Answer(context.Context, []byte) ([]byte, error) { return nil, h.err }
func (h halting) Reading(context.Context) (termination.Reading, error) {
	return termination.Reading{}, h.err
}

// A crawl that ends during a question still answers. If another node may have the shard, there is no answer.
func TestAskedWhileEnding(t *testing.T) {
	for err, want := range map[error]bool{crawl.ErrEnded: true, crawl.ErrLease: false} {
		for _, lane := range []string{"1", forReading} {
			text, got := answer(t.Context(), halting{err: err}, lane, nil)
			if (got == nil) != want || want == (len(text) == 0) {
				t.Errorf("%v: %s is answered with %q, %v", err, lane, text, got)
			}
		}
	}
}
