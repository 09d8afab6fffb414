package lease

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/sumi-ripple/ripple/schema"
)

// A world has one bucket and several nodes, in simulated time.
type world struct {
	mu       sync.Mutex
	rng      *rand.Rand
	start    time.Time
	instance int // of the bucket
	records  map[string]Entry
	next     uint64 // revision
	copied   map[string]Entry
	copiedAt uint64
	trouble  bool // messages may be lost or late
}

func newWorld(seed uint64) *world {
	w := &world{rng: rand.New(rand.NewPCG(seed, 1)), start: time.Now()}
	w.wipe()
	return w
}

// wipe re-creates the bucket.
func (w *world) wipe() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.instance++
	w.records, w.next = map[string]Entry{}, w.rng.Uint64()>>8
}

// copy saves the content of the bucket, and putBack restores it.
func (w *world) copy() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.copied, w.copiedAt = map[string]Entry{}, w.next
	for k, e := range w.records {
		w.copied[k] = e
	}
}

func (w *world) putBack() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.copied == nil {
		return
	}
	w.instance++
	w.records, w.next = map[string]Entry{}, w.copiedAt
	for k, e := range w.copied {
		w.records[k] = e
	}
}

// place stores a record that none of the nodes has written.
func (w *world) place(value []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.next++
	w.records["shard.0"] = Entry{value, w.next}
}

// chance is true once in n times.
func (w *world) chance(n int) bool { return w.below(int64(n)) == 0 }

func (w *world) below(n int64) int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.rng.Int64N(n)
}

// late returns how long a message takes.
func (w *world) late() time.Duration {
	if w.trouble && w.chance(20) {
		return time.Duration(w.below(int64(12 * time.Second)))
	}
	return time.Duration(w.below(int64(20 * time.Millisecond)))
}

// A node is a process on a machine of its own, with its own connection to the bucket.
type node struct {
	w      *world
	name   string
	rate   float64 // of its clock
	mu     sync.Mutex
	conn   int
	cut    chan struct{}                // closed with the connection
	frozen time.Time                    // until when the process is paused
	away   time.Time                    // until when its messages are lost
	halted time.Time                    // until when its clocks are stopped, too
	stood  time.Duration                // how long they have been stopped in total; they run again when halted is over
	ahead  time.Duration                // of the wall clock
	back   func(wrote bool) (lost bool) // called before an answer is returned; nil: nothing is
}

func (w *world) node(name string) *node {
	return &node{w: w, name: name, rate: 1, cut: make(chan struct{})}
}

// reconnect re-creates the connection.
func (n *node) reconnect() {
	n.mu.Lock()
	defer n.mu.Unlock()
	close(n.cut)
	n.cut = make(chan struct{})
	n.conn++
}

// freeze pauses the process; its clocks keep running, as during suspension.
func (n *node) freeze(d time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if until := time.Now().Add(d); until.After(n.frozen) { // a halted machine stays halted
		n.frozen = until
	}
}

// leave cuts the node off from the bucket, without breaking a connection.
func (n *node) leave(d time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.away = time.Now().Add(d)
}

// halt stops the whole machine, like a virtual one. Its wall clock is set afterwards.
func (n *node) halt(d time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if time.Now().Before(n.halted) {
		return
	}
	n.halted = time.Now().Add(d)
	if n.halted.After(n.frozen) {
		n.frozen = n.halted
	}
	n.stood += d
	n.ahead += d
}

// set sets the wall clock.
func (n *node) set(by time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.ahead += by
}

// thaw returns when the process may continue.
func (n *node) thaw() {
	for {
		n.mu.Lock()
		left := time.Until(n.frozen)
		n.mu.Unlock()
		if left <= 0 {
			return
		}
		time.Sleep(left)
	}
}

func (n *node) clock() Instant { n.thaw(); return n.reading() }

// reading returns the clock, even while the process is paused.
func (n *node) reading() Instant {
	n.mu.Lock()
	defer n.mu.Unlock()
	ran, ahead := time.Since(n.w.start)-n.stood, n.ahead
	if left := time.Until(n.halted); left > 0 {
		ran += left
	}
	run := time.Duration(float64(ran) * n.rate)
	return Instant{Run: run, Wall: time.Duration(n.w.start.UnixNano()) + run + ahead}
}

func (n *node) isHalted() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return time.Now().Before(n.halted)
}

func (n *node) isAway() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return time.Now().Before(n.away)
}

func (n *node) line() (int, chan struct{}) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.conn, n.cut
}

var errLine = errors.New("no answer")

// call may perform an operation on the bucket, and may return its result.
func (n *node) call(ctx context.Context, writes bool, f func() error) error {
	n.thaw()
	defer n.thaw()
	_, cut := n.line()
	w := n.w
	w.mu.Lock()
	instance := w.instance
	w.mu.Unlock()
	answer := make(chan error, 1)
	go func() { // arrives, or not, independently of the node
		time.Sleep(w.late())
		if w.trouble && w.chance(15) || n.isAway() {
			return
		}
		w.mu.Lock()
		if w.instance != instance {
			w.mu.Unlock()
			return
		}
		err := f()
		w.mu.Unlock()
		time.Sleep(w.late())
		if n.back != nil && n.back(writes) || w.trouble && w.chance(15) {
			return
		}
		answer <- err
	}()
	select {
	case err := <-answer:
		return err
	case <-cut:
		return errLine
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (n *node) Session(ctx context.Context) (s string, err error) {
	conn, _ := n.line()
	got := make(chan int, 1)
	if err = n.call(ctx, false, func() error { got <- n.w.instance; return nil }); err != nil {
		return "", err
	}
	if now, _ := n.line(); now != conn {
		return "", errLine
	}
	return fmt.Sprint(<-got, "#", conn), nil
}

func (n *node) Connections() uint64 {
	conn, _ := n.line()
	return uint64(conn)
}

func (n *node) Get(ctx context.Context, key string) (e Entry, err error) {
	got := make(chan Entry, 1)
	err = n.call(ctx, false, func() error {
		e, ok := n.w.records[key]
		if !ok {
			return ErrNone
		}
		got <- e
		return nil
	})
	if err == nil {
		e = <-got
	}
	return e, err
}

func (n *node) Create(ctx context.Context, key string, value []byte) (uint64, error) {
	return n.put(ctx, key, value, func(_ Entry, found bool) bool { return !found })
}

func (n *node) Update(ctx context.Context, key string, value []byte, revision uint64) (uint64, error) {
	return n.put(ctx, key, value, func(e Entry, found bool) bool { return found && e.Revision == revision })
}

func (n *node) put(ctx context.Context, key string, value []byte, may func(Entry, bool) bool) (uint64, error) {
	value = slices.Clone(value)
	wrote := make(chan uint64, 1)
	err := n.call(ctx, true, func() error {
		if e, found := n.w.records[key]; !may(e, found) {
			return ErrChanged
		}
		n.w.next++
		n.w.records[key] = Entry{value, n.w.next}
		wrote <- n.w.next
		return nil
	})
	if err != nil {
		return 0, err
	}
	return <-wrote, nil
}

// claim returns a claim of the node, with a file that has no copies.
func (n *node) claim(f File, id string) Claim {
	return Claim{
		Bucket: n, Key: "shard.0", ID: n.name, Node: n.name, Instance: n.name, File: f, FileID: id,
		Timing: Of(25 * time.Second), Clock: n.clock,
	}
}

// A paper file lists openings, each with the commit that it began with.
type paperFile struct {
	mu       sync.Mutex
	openings []schema.Opening
	begun    []uint64
	commit   uint64
	any      bool   // it contains everything
	begins   func() // called by Begin; nil: nothing is
}

func (f *paperFile) Contains(o schema.Opening, commit uint64) (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, other := range f.openings {
		if other == o && commit >= f.begun[i] && commit <= f.commit && (i+1 == len(f.begun) || commit < f.begun[i+1]) {
			return true, nil
		}
	}
	return f.any, nil
}

func (f *paperFile) Begin() (o schema.Opening, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.begins != nil {
		f.begins()
	}
	f.commit++
	binary.BigEndian.PutUint64(o[:], rand.Uint64())
	f.openings, f.begun = append(f.openings, o), append(f.begun, f.commit)
	return o, nil
}

func (f *paperFile) Commit() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.commit
}

// write commits something.
func (f *paperFile) write() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.commit++
}

// twin returns a copy of the file.
func (f *paperFile) twin() *paperFile {
	f.mu.Lock()
	defer f.mu.Unlock()
	return &paperFile{openings: slices.Clone(f.openings), begun: slices.Clone(f.begun), commit: f.commit, any: f.any}
}
