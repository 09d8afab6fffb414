package webtest

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"time"
)

// A Down is how a host fails before it can receive a request.
type Down int

// The ways to be down. TLS faults depend on the name in the client's handshake.
const (
	Up            Down = iota
	DownSilent         // accepts and sends nothing
	DownHanging        // begins the handshake and never continues
	DownClosed         // closes at once
	DownReset          // resets at once
	DownRefused        // ends the handshake with an alert
	DownGarbled        // answers the handshake with something that is not TLS
	DownExpired        // expired certificate
	DownWrongName      // certificate for another name
	DownUnknownCA      // certificate of an untrusted authority
)

func downNames() []string {
	return []string{"up", "silent", "hanging", "closed", "reset", "refused", "garbled",
		"expired", "wrong-name", "unknown-ca"}
}

// String returns the mode's name, which [Server.Load] parses.
func (d Down) String() string { return nameOf(downNames(), int(d)) }

func nameOf(names []string, i int) string {
	if i < 0 || i >= len(names) {
		return "unknown"
	}
	return names[i]
}

// A sniRule is the rule for connections to a name.
type sniRule struct {
	down  Down
	http1 bool
}

var errDown = errors.New("host is down")

// setGate changes the rule for the host's name without port.
func (s *Server) setGate(host string, change func(*sniRule)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	rule := s.gates[bareHost(host)]
	change(&rule)
	s.gates[bareHost(host)] = rule
}

func (s *Server) gate(name string) (rule sniRule, known bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	_, ok := s.gates[name]
	return lookup(s.gates, name), ok || lookup(s.hosts, name) != nil || s.web(name) != nil
}

// tlsConfig returns the settings under which each handshake is handled by its name.
func (s *Server) tlsConfig() *tls.Config {
	both := s.leafConfig("h2", "http/1.1")
	one := s.leafConfig("http/1.1")
	if s.http1 {
		both = one
	}
	return &tls.Config{GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		rule, known := s.gate(hello.ServerName)
		if !known && s.refuseUnknown && hello.ServerName != "" {
			rule.down = DownRefused
		}
		if rule.down != Up {
			return s.fail(hello, rule.down)
		}
		if rule.http1 {
			return one, nil
		}
		return both, nil
	}}
}

func (s *Server) leafConfig(protocols ...string) *tls.Config {
	return &tls.Config{
		NextProtos: protocols,
		GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
			return s.ca.certificate(sniName(hello), false)
		},
	}
}

// sniName returns the requested name. Clients that dial an IP address send none.
func sniName(hello *tls.ClientHelloInfo) string {
	if hello.ServerName != "" {
		return hello.ServerName
	}
	return bareHost(hello.Conn.LocalAddr().String())
}

// fail plays the fault and logs the attempt, which fails as a connection fault or because of a
// certificate that the client rejects.
func (s *Server) fail(hello *tls.ClientHelloInfo, down Down) (*tls.Config, error) {
	arrived := time.Now()
	config, err := s.badCertificate(sniName(hello), down)
	ended := time.Now()
	if config == nil && err == nil {
		err = errDown
		ended = failConn(hello.Conn, down)
	}
	s.journal.tried(canonicalHost(hello.ServerName), arrived, ended)
	return config, err
}

// badCertificate returns nil if the mode does not concern certificates.
func (s *Server) badCertificate(name string, down Down) (*tls.Config, error) {
	ca, expired := s.ca, false
	switch down {
	case DownExpired:
		expired = true
	case DownWrongName:
		name = "somebody-else.test"
	case DownUnknownCA:
		var err error
		if ca, err = s.stranger(); err != nil {
			return nil, err
		}
	default:
		return nil, nil
	}
	cert, err := ca.certificate(name, expired)
	if err != nil {
		return nil, err
	}
	return &tls.Config{Certificates: []tls.Certificate{*cert}, NextProtos: []string{"http/1.1"}}, nil
}

// failConn plays a connection fault, except DownRefused, which is left to the caller, whose error
// becomes a TLS alert. It returns the time at which the connection ended: just before the client
// could see it, or when the client left.
func failConn(c net.Conn, down Down) (ended time.Time) {
	ended = time.Now()
	switch down {
	case DownSilent:
		drain(c)
		return time.Now()
	case DownHanging:
		// The start of a handshake record whose 122 bytes never arrive.
		_, _ = c.Write([]byte{22, 3, 3, 0, 122, 2})
		drain(c)
		return time.Now()
	case DownClosed:
		_ = c.Close()
	case DownReset:
		if sock, ok := c.(*socket); ok {
			sock.reset()
		}
	case DownGarbled:
		_, _ = io.WriteString(c, "SSH-2.0-OpenSSH_9.6\r\n")
		_ = c.Close()
	}
	return ended
}

// drain reads until the client gives up or the server closes.
func drain(c net.Conn) { _, _ = io.Copy(io.Discard, c) }
