package fetch

import (
	"errors"
	"net"
	"os"
	"sync"
	"time"
)

// A look-up that waits for a silent name server has no time left for the next one. So a server that
// was silent the last time gets less time. If another one answers, the silent one is skipped for a
// while.
const (
	silentTime = 2 * time.Second
	silentFor  = time.Minute
	maxHurried = 8 // after this many times it is clear that there is no other server
)

var errPassedOver = errors.New("the name server said nothing, and another one answers")

// servers are the name servers of a resolver, which queries them in order until one answers.
type servers struct {
	mu      sync.Mutex
	last    map[string]sign // results of the last queries
	hurried int             // how often the only server has got less time
}

// A sign is the result of the last query to a name server: whether it was silent or answered, and
// when, and since when the server is skipped. It is zero for a server that was never waited for,
// that does not exist, or that is no longer silent.
type sign struct {
	silent, answers bool
	at, since       time.Time
}

// meet records that a name server is queried.
func (s *servers) meet(address string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last == nil {
		s.last = map[string]sign{}
	}
	if _, met := s.last[address]; !met {
		s.last[address] = sign{}
	}
}

// note records the result of a query to a name server.
func (s *servers) note(address string, answer []byte, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		s.last[address] = sign{silent: true, at: now, since: now}
	case err == nil && tells(answer):
		s.last[address] = sign{answers: true, at: now}
	case err != nil || s.last[address].silent: // it does not exist, or is no longer silent
		s.last[address] = sign{}
	}
}

// tells reports whether an answer says that a name exists or does not. A server that refuses or
// fails is no more useful than a silent one.
func tells(answer []byte) bool {
	const success, noName = 0, 3
	if len(answer) < 4 {
		return false
	}
	code := answer[3] & 0xf
	return code == success || code == noName
}

// hurries reports whether a name server gets less time, because another one that may answer exists,
// or could exist.
func (s *servers) hurries(address string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.last[address].silent {
		return false
	}
	if len(s.last) == 1 {
		s.hurried++
		return s.hurried <= maxHurried
	}
	for _, other := range s.last {
		if !other.silent {
			return true
		}
	}
	return false
}

// passesOver reports whether a name server is skipped, because it was silent and another one has
// answered since. A server that answered earlier may belong to another network. A skipped server is
// still queried now and then.
func (s *servers) passesOver(address string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.last[address]
	if !was.silent {
		return false
	}
	if time.Since(was.since) >= silentFor {
		was.since = time.Now()
		s.last[address] = was
		return false
	}
	for _, other := range s.last {
		if other.answers && !other.at.Before(was.at) {
			return true
		}
	}
	return false
}

// A watchedConn is a connection to a name server.
type watchedConn struct {
	*net.UDPConn
	fault   *fault
	servers *servers
	address string
}

func (c *watchedConn) SetDeadline(t time.Time) error {
	if soon := time.Now().Add(silentTime); t.After(soon) && c.servers.hurries(c.address) {
		t = soon
	}
	return c.UDPConn.SetDeadline(t)
}

func (c *watchedConn) Read(b []byte) (int, error) {
	n, err := c.UDPConn.Read(b)
	c.servers.note(c.address, b[:max(n, 0)], err)
	if err == nil {
		c.fault.reached()
	} else {
		c.fault.note(ownServer(err))
	}
	return n, err
}

func (c *watchedConn) Write(b []byte) (int, error) {
	n, err := c.UDPConn.Write(b)
	if err != nil {
		c.fault.note(ownServer(err))
	}
	return n, err
}
