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

// A Pool holds clients that several users share where their configurations are
// equal. The zero value is ready. A pool may be used from many goroutines.
type Pool struct {
	Resolver *Resolver // of all clients that name none; nil: each has its own
	MaxConns int       // connections that its clients keep together, open and idle; 0: no bound
	MaxOpen  int       // requests that they have open; 0: no bound

	mu      sync.Mutex
	clients map[string]*pooled
	bodies  *Budget      // of clients that name none; nil: no bound
	conns   atomic.Int64 // open, of all clients
}

// A pooled is a client, and how many use it.
type pooled struct {
	client *Client
	users  int
}

// Client returns a client for a configuration. Each user closes it once; the last
// one ends its connections.
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
		key += fmt.Sprint(" ", p.bodies.size) // who has another limit now waits for it
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

// LimitBodies bounds the memory that large bodies have together, in bytes. It is for
// clients that are made from then on.
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

// opened counts connections. When they are too many, the one that has been idle longest goes.
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

// CloseIdle closes the connections that no request uses.
func (p *Pool) CloseIdle() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.clients {
		c.client.CloseIdle()
	}
}

// Renew drops what belongs to the network that this machine was in: idle connections
// and the answers of name servers. Of connections that are in use, what was not
// delivered is not sent any more once they are closed.
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

// keyOf is the same for configurations that make equal clients. A file of trust
// anchors counts by what is in it.
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
