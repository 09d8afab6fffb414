package fetch

import "crypto/tls"

const (
	leastSessions = 512
	sessionBytes  = 6 << 10  // of a TLS session that can be resumed, most of it the server's certificate
	mostOfSession = 32 << 10 // that a server may have kept
)

// sessions is the number of TLS sessions kept to be resumed: for many times as many hosts as
// there are requests open, in an eighth of what large bodies may have of memory.
func sessions(cfg *Config) int {
	room := leastSessions
	if cfg.Bodies != nil {
		room = int(cfg.Bodies.size / 8 / sessionBytes)
	}
	return max(leastSessions, min(32*cfg.MaxOpen, room))
}

// A sessionCache keeps TLS sessions, but for those of which a server has made far more than is
// usual: its ticket may have 64 kB (RFC 8446 section 4.6.1), and its certificates even more.
type sessionCache struct{ tls.ClientSessionCache }

func newSessionCache(cfg *Config) tls.ClientSessionCache {
	return sessionCache{tls.NewLRUClientSessionCache(sessions(cfg))}
}

// Put keeps a session, or keeps none any more.
func (c sessionCache) Put(key string, session *tls.ClientSessionState) {
	if session != nil && sessionSize(session) > mostOfSession {
		session = nil
	}
	c.ClientSessionCache.Put(key, session)
}

// sessionSize is the size in bytes of what a server has sent of a session; certificates that were
// verified count twice.
func sessionSize(session *tls.ClientSessionState) int {
	ticket, state, err := session.ResumptionState()
	if err != nil || state == nil {
		return 0 // nothing is kept
	}
	text, err := state.Bytes()
	if err != nil {
		return mostOfSession + 1 // it is not known
	}
	return len(ticket) + len(text)
}
