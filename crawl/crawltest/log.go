package crawltest

import (
	"bytes"
	"log/slog"
	"sync"
	"testing"
)

// maxSaid is the maximum length of the log that a test prints, in bytes.
const maxSaid = 1 << 16

// Log returns a logger. If the test fails, the end of the log is printed.
func Log(t testing.TB) *slog.Logger {
	t.Helper()
	said := &said{}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("what was said:\n%s", said.end())
		}
	})
	return slog.New(slog.NewTextHandler(said, nil))
}

// A said holds the end of a log.
type said struct {
	mu   sync.Mutex
	text []byte
}

func (s *said) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.text = append(s.text, b...); len(s.text) > 2*maxSaid {
		s.text = append(s.text[:0], s.text[len(s.text)-maxSaid:]...)
	}
	return len(b), nil
}

func (s *said) end() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return bytes.Clone(s.text)
}
