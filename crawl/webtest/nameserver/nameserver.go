// Package nameserver provides a DNS server for tests that look up names.
package nameserver

import (
	"context"
	"net"
	"strings"
	"sync"

	"golang.org/x/net/dns/dnsmessage"
)

// An Answer is the server's answer for a name. Without an address and a code it means that the name has
// no addresses.
type Answer struct {
	IPv4   [][4]byte
	Code   dnsmessage.RCode
	Silent bool // sends no answer
	Mute6  bool // sends no answer for IPv6
}

// At returns the answer for a name with these addresses.
func At(addresses ...[4]byte) Answer { return Answer{IPv4: addresses} }

// Unknown returns the answer for a name that does not exist.
func Unknown() Answer { return Answer{Code: dnsmessage.RCodeNameError} }

// A Server answers queries until it is closed.
type Server struct {
	conn   net.PacketConn
	answer func(name string) Answer
	done   chan struct{}

	mu    sync.Mutex
	asked []net.Conn // connections of resolvers
}

// Serve answers queries on conn, which the server then owns. The names passed to answer have no
// trailing dot.
func Serve(conn net.PacketConn, answer func(name string) Answer) *Server {
	s := &Server{conn: conn, answer: answer, done: make(chan struct{})}
	go s.serve()
	return s
}

// Close returns when the server and its resolvers have ended.
func (s *Server) Close() error {
	err := s.conn.Close()
	<-s.done
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.asked { // Go's resolver waits for an answer for longer than its caller does
		c.Close()
	}
	return err
}

// Resolver returns a resolver that uses only this server.
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

// reply returns nil if no answer is sent.
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
