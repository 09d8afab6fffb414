package fetch

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// A Pool shares clients between users with equal configurations. The zero value is ready to use. It is safe
// for concurrent use.
type Pool struct {
	Resolver *Resolver // for clients without one; nil: each has its own
	MaxConns int       // connections of all its clients, open and idle; 0: no limit
	MaxOpen  int       // open requests of each client; 0: no limit

	mu      sync.Mutex
	clients map[string]*pooled
	bodies  *Budget      // for clients without one; nil: no limit
	conns   atomic.Int64 // open connections of all clients
}

// A pooled is a client with its number of users.
type pooled struct {
	client *Client
	users  int
}

// Client returns a client for a configuration. Each user must close it once; the last Close ends its
// connections.
func (p *Pool) Client(cfg Config) (*Client, error) {
	if cfg.Resolver == nil {
		cfg.Resolver = p.Resolver
	}
	cfg.MaxConns = p.MaxConns
	if p.MaxOpen > 0 {
		cfg.MaxOpen = min(cfg.MaxOpen, p.MaxOpen)
	}
	key, err := keyOf(&cfg)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if cfg.Bodies == nil && p.bodies != nil {
		cfg.Bodies = p.bodies
		key += fmt.Sprint(" ", p.bodies.size) // a new limit needs a new client
	}
	if c := p.clients[key]; c != nil {
		c.users++
		return c.client, nil
	}
	client, err := New(cfg)
	if err != nil {
		return nil, err
	}
	client.dialler.opened = p.opened
	client.leave = func() (last bool) { return p.leave(key) }
	if p.clients == nil {
		p.clients = map[string]*pooled{}
	}
	p.clients[key] = &pooled{client, 1}
	return client, nil
}

// LimitBodies limits the memory of all large bodies together, in bytes. It applies to clients made from now
// on.
func (p *Pool) LimitBodies(size int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bodies == nil || p.bodies.size != size {
		p.bodies = NewBudget(size)
	}
}

func (p *Pool) leave(key string) (last bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.clients[key]
	if c.users--; c.users > 0 {
		return false
	}
	delete(p.clients, key)
	return true
}

// opened counts connections. If there are too many, it closes the one that has been idle longest.
func (p *Pool) opened(n int) {
	if now := p.conns.Add(int64(n)); n > 0 && p.MaxConns > 0 && now > int64(p.MaxConns) {
		p.shed()
	}
}

func (p *Pool) shed() {
	p.mu.Lock()
	defer p.mu.Unlock()
	var longest *dialler
	var since time.Time
	for _, c := range p.clients {
		if at := c.client.dialler.idleSince(); !at.IsZero() && (longest == nil || at.Before(since)) {
			longest, since = c.client.dialler, at
		}
	}
	if longest != nil {
		longest.shed()
	}
}

// CloseIdle closes all unused connections.
func (p *Pool) CloseIdle() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.clients {
		c.client.CloseIdle()
	}
}

// Renew drops everything that depends on this machine's previous network: idle connections and
// answers of name servers. Busy connections stay, but data that they have not delivered is not sent
// after they are closed.
func (p *Pool) Renew() {
	if p.Resolver != nil {
		p.Resolver.Forget()
	}
	p.mu.Lock()
	for _, c := range p.clients {
		c.client.dialler.abort()
	}
	p.mu.Unlock()
	p.CloseIdle()
}

// keyOf returns the same key for configurations that make equal clients. A file of trust anchors is
// identified by its content.
func keyOf(cfg *Config) (string, error) {
	named := *cfg
	named.Resolver, named.Bodies = nil, nil
	if cfg.CAFile != "" {
		pem, err := os.ReadFile(cfg.CAFile)
		if err != nil {
			return "", fmt.Errorf("ca-file: %w", err)
		}
		named.CAFile = fmt.Sprintf("%x", sha256.Sum256(pem))
	}
	text, err := json.Marshal(named)
	return string(text), err
}
