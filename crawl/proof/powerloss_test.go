package proof

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
)

// A diskEvent is one operation of a crawl on a state file, or its statement that a number of visits
// are safe.
type diskEvent struct {
	kind diskKind
	at   int64 // offset, size, or number of visits
	data []byte

	file      int  // index among the watched files
	temporary bool // the file does not have its name yet
}

type diskKind uint8

const (
	diskWrite diskKind = iota
	diskResize
	diskSync
	diskAck
	diskBefore // a write is about to begin
)

const sector = 512

// sayCommits prints the number of committed visits.
func sayCommits(s *kv.Store) error {
	_, err := fmt.Fprintf(os.Stdout, "ack %d\n", s.LastSeq())
	return err
}

// TestPowerLoss watches a crawl write and sync, and builds the files that a power loss could have
// left behind at any moment: each write that was not synced is present, lost, or torn by sectors,
// independently. Every file must open, be consistent, and contain every visit that the crawl had
// called safe.
//
// The same crawl without syncs must fail this.
func TestPowerLoss(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("watches system calls, as Linux lets it")
	}
	images := 200
	if crawltest.Full() {
		images = 2500
	}
	seed := crawltest.Seed(t)
	watched := func(env ...string) *disk {
		w := generatedWeb(t, seed, 12, 12)
		crawltest.Open(t, w.state).Close()
		before, err := os.ReadFile(w.state)
		if err != nil {
			t.Fatal(err)
		}
		events, err := trace(child(w.config, append(env, envWatch+"=commits")...), nil, w.state)
		if errors.Is(err, os.ErrPermission) {
			t.Skipf("tracing is not allowed here: %v", err)
		}
		if err != nil {
			t.Fatal(err)
		}
		return &disk{t: t, r: rand.New(rand.NewPCG(seed, 2)), before: before, events: events, dir: t.TempDir()}
	}
	d := watched()
	d.requireWrites(5)
	lost, torn := d.lose(images, images)
	t.Logf("seed %d: %d events, %d images, %d with lost or torn writes: %d lost", seed, len(d.events), images, torn,
		len(lost))
	for _, problem := range lost {
		t.Error(problem)
	}
	careless, _ := watched(envNoSync+"=1").lose(200, 1)
	if len(careless) == 0 {
		t.Error("a crawl that never syncs passes too: the proof proves nothing")
	}
}

// A disk records what a crawl did to a file, event by event.
type disk struct {
	t      testing.TB
	r      *rand.Rand
	before []byte
	events []diskEvent
	dir    string
}

// requireWrites requires a number of statements of safety, and enough writes and syncs for a proof.
func (d *disk) requireWrites(acks int) {
	d.t.Helper()
	kinds := map[diskKind]int{}
	for _, e := range d.events {
		kinds[e.kind]++
	}
	if kinds[diskSync] < 20 || kinds[diskWrite] < 50 || kinds[diskAck] < acks {
		d.t.Fatalf("too little was recorded: %v", kinds)
	}
}

// lose builds n images, each cut off at a random event. It returns what is wrong with them, at most
// limit, and the number of images that differ from the complete file.
func (d *disk) lose(n, limit int) (lost []string, torn int) {
	for i := range n {
		end := d.r.IntN(len(d.events) + 1)
		path := filepath.Join(d.dir, "image")
		acked, damaged := d.build(path, end)
		if damaged {
			torn++
		}
		if problem := d.judge(path, acked); problem != "" {
			lost = append(lost, fmt.Sprintf("image %d, after event %d: %s", i, end, problem))
			if len(lost) >= limit {
				break
			}
		}
	}
	return lost, torn
}

// build writes the image of a power loss after end events, and returns the number of visits that
// were called safe by then.
func (d *disk) build(path string, end int) (acked int64, damaged bool) {
	synced := 0
	for i, e := range d.events[:end] {
		switch e.kind {
		case diskSync:
			synced = i + 1
		case diskAck:
			acked = e.at
		}
	}
	image := diskImage{data: append([]byte{}, d.before...), size: int64(len(d.before))}
	for _, e := range d.events[:synced] {
		image.apply(e)
	}
	for _, e := range d.events[synced:end] {
		switch fate := d.r.IntN(4); {
		case e.kind > diskResize:
		case fate == 0:
			damaged = true
		case fate == 1 && e.kind == diskWrite:
			damaged = true
			for at := 0; at < len(e.data); at += sector {
				if d.r.IntN(2) == 0 {
					image.apply(diskEvent{at: e.at + int64(at), data: e.data[at:min(at+sector, len(e.data))]})
				}
			}
		default:
			image.apply(e)
		}
	}
	if err := image.write(path); err != nil {
		d.t.Fatal(err)
	}
	return acked, damaged
}

// A diskImage is a file whose end may be a hole.
type diskImage struct {
	data []byte
	size int64
}

func (m *diskImage) apply(e diskEvent) {
	switch e.kind {
	case diskResize:
		m.size = e.at
		if m.size < int64(len(m.data)) {
			m.data = m.data[:m.size]
		}
	case diskWrite:
		end := e.at + int64(len(e.data))
		if end > int64(len(m.data)) {
			m.data = append(m.data, make([]byte, end-int64(len(m.data)))...)
		}
		copy(m.data[e.at:], e.data)
		m.size = max(m.size, end)
	}
}

func (m *diskImage) write(path string) error {
	if err := os.WriteFile(path, m.data, 0o600); err != nil {
		return err
	}
	return os.Truncate(path, m.size)
}

// judge returns what is wrong with an image.
func (d *disk) judge(path string, acked int64) string {
	var problem string
	note := func(p string) { problem = p }
	if err := kv.Check(path, note); err != nil {
		return err.Error()
	}
	store, err := kv.Open(path, kv.Options{})
	if err != nil {
		return err.Error()
	}
	defer store.Close()
	if have := int64(store.LastSeq()); have < acked {
		return fmt.Sprintf("%d visits of %d that were called safe", have, acked)
	}
	s, err := survey.New(store)
	if errors.Is(err, survey.ErrNoRun) && acked == 0 {
		return problem
	}
	if err == nil {
		err = survey.Check(s, note)
	}
	if err == nil {
		err = store.Update(func(tx *kv.Tx) error { return tx.Runs.Put(s.Run()) })
	}
	if err != nil {
		return err.Error()
	}
	return problem
}
