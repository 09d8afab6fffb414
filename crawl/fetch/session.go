package fetch

import "crypto/tls"

const (
	leastSessions = 512
	sessionBytes  = 6 << 10  // of a resumable TLS session, mostly the server's certificate
	mostOfSession = 32 << 10 // largest session that is kept
)

// sessions returns the number of resumable TLS sessions to keep. They are for many times as many
// hosts as there may be open requests, limited to an eighth of the memory for large bodies.
func sessions(cfg *Config) int {
	room := leastSessions
	if cfg.Bodies != nil {
		room = int(cfg.Bodies.size / 8 / sessionBytes)
	}
	return max(leastSessions, min(32*cfg.MaxOpen, room))
}

// A sessionCache keeps TLS sessions, except for unusually large ones: a ticket may have 64 kB (RFC 8446
// section 4.6.1), and certificates even more.
type sessionCache struct{ tls.ClientSessionCache }

func newSessionCache(cfg *Config) tls.ClientSessionCache {
	return sessionCache{tls.NewLRUClientSessionCache(sessions(cfg))}
}

// Put stores a session, or removes it if session is nil or too large.
func (c sessionCache) Put(key string, session *tls.ClientSessionState) {
	if session != nil && sessionSize(session) > mostOfSession {
		session = nil
	}
	c.ClientSessionCache.Put(key, session)
}

// sessionSize returns the size in bytes of a session's data from the server; verified certificates count
// twice.
func sessionSize(session *tls.ClientSessionState) int {
	ticket, state, err := session.ResumptionState()
	if err != nil || state == nil {
		return 0 // nothing is stored
	}
	text, err := state.Bytes()
	if err != nil {
		return mostOfSession + 1 // unknown
	}
	return len(ticket) + len(text)
}
