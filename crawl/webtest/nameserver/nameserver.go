// Package nameserver is a name server, for tests that let names be looked up.
package nameserver

import (
	"context"
	"net"
	"strings"
	"sync"

	"golang.org/x/net/dns/dnsmessage"
)

// An Answer is what the server says of a name. Without an address and a code it says
// that the name has no addresses.
type Answer struct {
	IPv4   [][4]byte
	Code   dnsmessage.RCode
	Silent bool // says nothing
	Mute6  bool // says nothing of IPv6
}

// At is the answer of a name that has these addresses.
func At(addresses ...[4]byte) Answer { return Answer{IPv4: addresses} }

// Unknown is the answer of a name that there is not.
func Unknown() Answer { return Answer{Code: dnsmessage.RCodeNameError} }

// A Server answers questions until it is closed.
type Server struct {
	conn   net.PacketConn
	answer func(name string) Answer
	done   chan struct{}

	mu    sync.Mutex
	asked []net.Conn // of resolvers
}

// Serve answers what comes in at conn, which is the server's from then on. The names
// that answer is given have no dot at their end.
func Serve(conn net.PacketConn, answer func(name string) Answer) *Server {
	s := &Server{conn: conn, answer: answer, done: make(chan struct{})}
	go s.serve()
	return s
}

// Close returns when nothing of the server, and of its resolvers, runs any more.
func (s *Server) Close() error {
	err := s.conn.Close()
	<-s.done
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.asked { // Go's resolver waits for an answer longer than its caller
		c.Close()
	}
	return err
}

// Resolver asks this server alone.
func (s *Server) Resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		c, err := new(net.Dialer).DialContext(ctx, "udp", s.conn.LocalAddr().String())
		if err == nil {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.asked = append(s.asked, c)
		}
		return c, err
	}}
}

func (s *Server) serve() {
	defer close(s.done)
	for buf := make([]byte, 512); ; {
		n, from, err := s.conn.ReadFrom(buf)
		if err != nil {
			return
		}
		if message := s.reply(buf[:n]); message != nil {
			_, _ = s.conn.WriteTo(message, from)
		}
	}
}

// reply returns nil where nothing is said.
func (s *Server) reply(question []byte) []byte {
	var p dnsmessage.Parser
	h, _ := p.Start(question)
	q, err := p.Question()
	if err != nil {
		return nil
	}
	a := s.answer(strings.TrimSuffix(q.Name.String(), "."))
	if a.Silent || a.Mute6 && q.Type == dnsmessage.TypeAAAA {
		return nil
	}
	b := dnsmessage.NewBuilder(nil,
		dnsmessage.Header{ID: h.ID, Response: true, RCode: a.Code, RecursionAvailable: true})
	_ = b.StartQuestions()
	_ = b.Question(q)
	_ = b.StartAnswers()
	for _, address := range a.IPv4 {
		if q.Type == dnsmessage.TypeA {
			_ = b.AResource(dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, TTL: 60},
				dnsmessage.AResource{A: address})
		}
	}
	message, _ := b.Finish()
	return message
}
