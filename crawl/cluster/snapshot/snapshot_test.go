package snapshot

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// A text is a file in memory.
type text struct {
	content []byte
	commit  atomic.Uint64
	made    atomic.Int64 // copies
	err     error
	blocks  chan struct{} // receives while a copy is being made; nil: it does not wait
}

func (s *text) Snapshot(w io.Writer) (int64, error) {
	s.made.Add(1)
	if s.blocks != nil {
		<-s.blocks
	}
	n, err := io.Copy(w, bytes.NewReader(s.content))
	return n, errors.Join(err, s.err)
}

func (s *text) Size() int64    { return int64(len(s.content)) }
func (s *text) Commit() uint64 { return s.commit.Load() }

// random returns a text that takes several chunks.
func random(size int) *text {
	r := rand.New(rand.NewPCG(1, 2))
	s := &text{content: make([]byte, size)}
	for i := range s.content {
		s.content[i] = byte(r.Uint32())
	}
	return s
}

func newCopier(t *testing.T, s *text) *Copier {
	t.Helper()
	c := New(filepath.Join(t.TempDir(), "shard-000.bolt"), s, func() bool { return true })
	t.Cleanup(func() {
		c.Close()
		if left, err := filepath.Glob(c.path + "*"); err != nil || left != nil {
			t.Errorf("%q is left, %v", left, err)
		}
	})
	return c
}

func fetcher(c *Copier) *Fetcher {
	return &Fetcher{
		Ask:  func(_ context.Context, q []byte) ([]byte, error) { return c.Answer(q) },
		Fits: func(int64) error { return nil },
	}
}

func fetch(t *testing.T, f *Fetcher) (content []byte, live bool, err error) {
	t.Helper()
	to, err := os.Create(filepath.Join(t.TempDir(), "copy"))
	if err != nil {
		t.Fatal(err)
	}
	defer to.Close()
	live, err = f.Fetch(t.Context(), to)
	content, err2 := os.ReadFile(to.Name())
	if err2 != nil {
		t.Fatal(err2)
	}
	return content, live, err
}

// A copy is the file, even if answers are lost, and it is removed once it was read.
func TestFetch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := random(3*MaxChunk + 17)
		c := newCopier(t, s)
		f := fetcher(c)
		asked, seen := 0, int64(0)
		f.Ask = func(_ context.Context, q []byte) ([]byte, error) {
			answer, err := c.Answer(q)
			if asked++; asked%3 == 0 {
				return nil, errors.New("lost")
			}
			return answer, err
		}
		f.See = func(done, total int64) {
			if done <= seen || done > total {
				t.Errorf("%d of %d after %d", done, total, seen)
			}
			seen = done
		}
		content, live, err := fetch(t, f)
		if err != nil || !live || !bytes.Equal(content, s.content) {
			t.Errorf("%d bytes, live %t, %v", len(content), live, err)
		}
		if seen == 0 || c.now != nil || s.made.Load() != 1 {
			t.Errorf("after %d bytes %d copies were made; left: %+v", seen, s.made.Load(), c.now)
		}
	})
}

// ask asks a copier, and returns the state of the copy once it is known.
func ask(t *testing.T, c *Copier, reader string) state {
	t.Helper()
	p := &parcel{Fetcher: fetcher(c), ctx: t.Context(), reader: reader}
	s, err := p.ready()
	if err != nil {
		t.Errorf("%s: %v", reader, err)
	}
	return s
}

// Readers share a copy until the shard commits; who comes later waits until it was read, or its readers have gone.
func TestShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := random(100)
		c := newCopier(t, s)
		ask(t, c, "one")
		ask(t, c, "two")
		if s.made.Load() != 1 {
			t.Errorf("%d copies for two readers", s.made.Load())
		}
		s.commit.Add(1)
		s.content = append(s.content, "more"...)
		begun := time.Now()
		three := ask(t, c, "three")
		if took := time.Since(begun); three.Size != s.Size() || took < idle || took > 2*idle {
			t.Errorf("after %v the size is %d, want %d", took, three.Size, s.Size())
		}
		if _, err := c.Answer([]byte(`{"reader": "one", "offset": 0}`)); !errors.Is(err, errUnread) {
			t.Errorf("a reader that has gone: %v", err)
		}
	})
}

// A copier that is closed does not wait for a copy that takes long, and answers nobody.
func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := random(100)
		s.blocks = make(chan struct{})
		c := newCopier(t, s)
		var err error
		go func() { _, _, err = fetch(t, fetcher(c)) }()
		synctest.Wait()
		closed := make(chan struct{})
		go func() { c.Close(); close(closed) }()
		synctest.Wait()
		s.blocks <- struct{}{}
		<-closed
		time.Sleep(time.Minute)
		synctest.Wait()
		if !errors.Is(err, errUnread) {
			t.Errorf("the reader is told %v", err)
		}
	})
}

// A slowText is a text that takes long to say its size.
type slowText struct {
	*text
	asked, sizes chan struct{}
}

func (s slowText) Size() int64 {
	close(s.asked)
	<-s.sizes
	return s.text.Size()
}

// A copier that is closed reads nothing more from its source, although a question came just before.
func TestCloseWhileAsked(t *testing.T) {
	s := slowText{random(100), make(chan struct{}), make(chan struct{})}
	s.blocks = make(chan struct{}, 1)
	c := New(filepath.Join(t.TempDir(), "shard-000.bolt"), s, func() bool { return true })
	go func() { _, _ = c.Answer([]byte(`{"reader": "one", "offset": -1}`)) }()
	<-s.asked
	closed := make(chan struct{})
	go func() { c.Close(); close(closed) }()
	time.Sleep(50 * time.Millisecond) // enough for Close to begin
	close(s.sizes)
	select {
	case <-closed:
		t.Error("it is closed while a copy is being made")
	case <-time.After(100 * time.Millisecond):
	}
	s.blocks <- struct{}{}
	<-closed
}

// A reader is told why there is no copy, and does not take another size or content than was promised.
func TestRefused(t *testing.T) {
	full := errors.New("the disk of the reader is full")
	answers := func(states ...string) func(context.Context, []byte) ([]byte, error) {
		return func(context.Context, []byte) ([]byte, error) {
			next := states[0]
			if len(states) > 1 {
				states = states[1:]
			}
			return []byte(next), nil
		}
	}
	const busy = `{"busy": true, "packed": -1, "size": 0, "live": false, "failed": ""}`
	for name, tt := range map[string]struct {
		change func(*text, *Fetcher)
		want   error
	}{
		"no room":       {func(_ *text, f *Fetcher) { f.Fits = func(int64) error { return full } }, full},
		"not copied":    {func(s *text, _ *Fetcher) { s.err = errors.New("damaged") }, ErrFailed},
		"busy":          {func(_ *text, f *Fetcher) { f.Ask = answers(busy) }, ErrBusy},
		"no state":      {func(_ *text, f *Fetcher) { f.Ask = answers("[]") }, errAnswer},
		"no chunk":      {func(_ *text, f *Fetcher) { f.Ask = answers(`{"packed": 9, "size": 9}`, "short") }, errAnswer},
		"no compressed": {func(_ *text, f *Fetcher) { f.Ask = answers(`{"packed": 5, "size": 9}`, "short") }, errAnswer},
		"short":         {func(_ *text, f *Fetcher) { f.Ask = answers(`{"packed": 0, "size": 9}`) }, errAnswer},
		"negative size": {func(_ *text, f *Fetcher) { f.Ask = answers(`{"packed": 0, "size": -1}`) }, errAnswer},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := random(100)
				f := fetcher(newCopier(t, s))
				tt.change(s, f)
				if _, _, err := fetch(t, f); !errors.Is(err, tt.want) {
					t.Errorf("%v, want %v", err, tt.want)
				}
			})
		})
	}
}

// FuzzAnswer asks anything: no answer is longer than a chunk, and the copy can be read afterwards.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte(`{"reader": "a", "offset": -1}`), []byte(`{"reader": "a", "offset": 0}`))
	f.Add([]byte(`{"reader": "a", "offset": -2}`), []byte(`{"reader": "", "offset": 9}`))
	f.Fuzz(func(t *testing.T, first, second []byte) {
		synctest.Test(t, func(t *testing.T) {
			s := random(300)
			c := newCopier(t, s)
			for _, q := range [][]byte{first, second, first} {
				if answer, err := c.Answer(q); err == nil && len(answer) > MaxChunk {
					t.Errorf("%d bytes for %q", len(answer), q)
				}
			}
			if content, _, err := fetch(t, fetcher(c)); err != nil || !bytes.Equal(content, s.content) {
				t.Errorf("%d bytes, %v", len(content), err)
			}
		})
	})
}

// FuzzFetch reads what anybody may answer: never more is written than the size that was stated.
func FuzzFetch(f *testing.F) {
	f.Add([]byte(`{"packed": 3, "size": 2}`), []byte("abc"))
	f.Add([]byte(`{"packed": 13, "size": 2}`), []byte("\x28\xb5\x2f\xfd\x04\x00\x11\x00\x00\x61\x62\xc5\x80"))
	f.Fuzz(func(t *testing.T, first, chunk []byte) {
		asked, size := 0, int64(0)
		r := &Fetcher{Fits: func(n int64) error { size = n; return nil }}
		r.Ask = func(context.Context, []byte) ([]byte, error) {
			switch asked++; asked {
			case 1:
				return first, nil
			case 2:
				return chunk, nil
			}
			return nil, context.Canceled
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		to, err := os.Create(filepath.Join(t.TempDir(), "copy"))
		if err != nil {
			t.Fatal(err)
		}
		defer to.Close()
		_, err = r.Fetch(ctx, to)
		info, err2 := to.Stat()
		if err2 != nil || info.Size() > size+1 || err == nil && info.Size() != size {
			t.Errorf("%d bytes of %d: %v, %v", info.Size(), size, err, err2)
		}
	})
}
