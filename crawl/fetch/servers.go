package fetch

import (
	"errors"
	"net"
	"os"
	"sync"
	"time"
)

// A look-up that waits for a name server that says nothing has no time left to ask the next one. So who said nothing
// the last time gets less time and, where another one answers, is passed over for a while.
const (
	silentTime = 2 * time.Second
	silentFor  = time.Minute
	maxHurried = 8 // times, until it is known that there is no next one
)

var errPassedOver = errors.New("the name server said nothing, and another one answers")

// Servers are the name servers that a resolver asks, one after the other until one answers.
type servers struct {
	mu      sync.Mutex
	last    map[string]sign // what came of asking them
	hurried int             // times
}

// A sign is whether a name server said nothing the last time, or answered, when that was, and since when it is passed
// over. Of one that was never heard out, is not there, or was silent and is not any more, it is zero.
type sign struct {
	silent, answers bool
	at, since       time.Time
}

// meet notes that a name server is asked.
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

// note takes down what came of asking a name server.
func (s *servers) note(address string, answer []byte, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		s.last[address] = sign{silent: true, at: now, since: now}
	case err == nil && tells(answer):
		s.last[address] = sign{answers: true, at: now}
	case err != nil || s.last[address].silent: // it is not there, or not silent any more
		s.last[address] = sign{}
	}
}

// tells reports an answer by which there is a name, or none: who refuses to say, or cannot, is of no more use than who
// is silent.
func tells(answer []byte) bool {
	const success, noName = 0, 3
	if len(answer) < 4 {
		return false
	}
	code := answer[3] & 0xf
	return code == success || code == noName
}

// hurries reports whether a name server gets less time: there is another one that may say more, or may be one.
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

// passesOver reports whether a name server is not asked, because it said nothing and another one has answered since:
// one that did before may be that of another network. Now and then it is asked all the same.
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

// A watchedConn is the way to a name server.
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
