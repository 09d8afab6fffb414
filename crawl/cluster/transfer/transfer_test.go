package transfer

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sumi-ripple/ripple/crawl/cluster/strictjson"
)

// newCopy returns a receiver, and the path of its file.
func newCopy(t testing.TB, content []byte) (*Receiver, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "copy")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return NewReceiver(f, 1<<30), path
}

// The copy becomes equal to the original, whatever it was before, and only blocks that differ are sent.
func TestSend(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	random := func(n int) []byte {
		text := make([]byte, n)
		for i := range text {
			text[i] = byte(r.Uint32())
		}
		return text
	}
	large := random(rangeSize*blockSize + 3*blockSize/2)
	changed := bytes.Clone(large)
	changed[0]++
	changed[len(changed)-1]++
	for _, tt := range []struct {
		name      string
		from, was []byte
		want      int64 // bytes to send
	}{
		{"nothing", nil, nil, 0},
		{"a byte", []byte("a"), nil, 1},
		{"zeros only", make([]byte, 3*blockSize), nil, 0},
		{"new", large, nil, int64(len(large))},
		{"equal", large, large, 0},
		{"two blocks differ", changed, large, 3 * blockSize / 2},
		{"shorter", large[:blockSize], large, 0},
		{"longer", large[:2*blockSize], large[:blockSize], blockSize},
	} {
		t.Run(tt.name, func(t *testing.T) {
			to, path := newCopy(t, tt.was)
			asked, done := 0, int64(0)
			ask := func(_ context.Context, q []byte) ([]byte, error) {
				if asked++; len(q) > 256<<10 {
					t.Errorf("a question of %d bytes", len(q))
				}
				_, err := to.Answer(q)
				if err != nil {
					return nil, err
				}
				return to.Answer(q) // the first answer is lost
			}
			sent, err := Send(t.Context(), bytes.NewReader(tt.from), int64(len(tt.from)), ask, func(n int64) { done = n })
			if err != nil || sent != tt.want || done != int64(len(tt.from)) {
				t.Errorf("%d bytes are sent, want %d; %d of %d are done, %v", sent, tt.want, done, len(tt.from), err)
			}
			got, err := os.ReadFile(path)
			if len(tt.from) == 0 && asked == 0 {
				return
			}
			if err != nil || !bytes.Equal(got, tt.from) {
				t.Errorf("the copy differs, %v", err)
			}
		})
	}
}

// The sender learns why the copy cannot be written.
func TestSendFails(t *testing.T) {
	to, _ := newCopy(t, nil)
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
	ask := func(_ context.Context, q []byte) ([]byte, error) { return to.Answer(q) }
	_, err := Send(t.Context(), bytes.NewReader([]byte("a")), 1, ask, nil)
	if err == nil || !strings.Contains(err.Error(), "file already closed") {
		t.Error(err)
	}
}

// A receiver accepts only questions about blocks of a file that is not too large, and never writes outside of it.
func FuzzAnswer(f *testing.F) {
	f.Add(strictjson.Encode(question{Size: 5, Data: []byte("hello")}))
	f.Add(strictjson.Encode(question{Size: 3 * blockSize, At: blockSize}))
	f.Add(strictjson.Encode(question{Size: 1 << 62, At: 1 << 61}))
	f.Add([]byte(`{"size": -1, "at": -131072}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, path := newCopy(t, []byte("before"))
		r.most = 4 * blockSize
		answer, err := r.Answer(text)
		info, err2 := os.Stat(path)
		if err2 != nil || info.Size() > r.most {
			t.Errorf("the copy has %d bytes, %v", info.Size(), err2)
		}
		if err == nil && len(answer) > maxQuestion {
			t.Errorf("an answer of %d bytes", len(answer))
		}
	})
}
