package hub

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/sumi-ripple/ripple/schema"
)

const (
	probeName = "ripple.probe"
	probeSize = 1 << 20 // bytes; the records of a terrain take less
)

// ailing returns why the NATS server accepts no more records; empty: it accepts them. After its first failed
// write the server keeps the error forever and answers no other write, while everything remains readable.
func (s *Server) ailing() string {
	for _, e := range s.nats.Healthz(&server.HealthzOptions{Details: true}).Errors {
		switch e.Type {
		case server.HealthzErrorJetStream:
			return e.Error
		case server.HealthzErrorStream: // also while one is being created, which only the text shows
			if strings.Contains(e.Error, "write error") {
				return e.Error
			}
		}
	}
	return ""
}

// mend stops the NATS server, and starts another one on the same store once that can be written, unless ctx
// is done before. A failed write may have been read, and the restart may undo it: a lease begins only with a claim
// that was acknowledged, see [lease].
func (s *Server) mend(ctx context.Context, why string) {
	s.say("the store cannot be written; nodes find no hub until it can", why)
	s.end()
	for last := ""; ; {
		select {
		case <-ctx.Done():
			return
		case <-time.After(s.options.rest):
		}
		err := s.again()
		if err == nil {
			s.say("the hub is available again", "")
			return
		}
		if text := err.Error(); text != last {
			s.say("the hub cannot be there again yet", text)
			last = text
		}
	}
}

// again starts another NATS server, if the store can be written.
func (s *Server) again() error {
	if err := probe(s.options.Store); err != nil {
		return fmt.Errorf("the store cannot be written: %w", err)
	}
	settings, err := s.options.settings()
	if err != nil {
		return err
	}
	return s.begin(settings)
}

// probe returns why a folder has no room for a hub's data.
func probe(folder string) error {
	path := filepath.Join(folder, probeName)
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, probeSize))
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close(), os.Remove(path))
}

// say logs a message about the store; why is empty if nothing is wrong.
func (s *Server) say(text, why string) {
	switch log := s.options.Log; {
	case log == nil:
	case why == "":
		log.Info(text, "store", s.options.Store)
	default:
		log.Error(text, "store", s.options.Store, "error", schema.Clean(why, maxLine))
	}
}
