package kv

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sumi-ripple/ripple/schema"
)

// HostByName finds a host by its normalised name.
func (tx *Tx) HostByName(name string) (schema.HostID, bool, error) {
	if id, ok := tx.s.ids.get(name); ok {
		return id, true, nil
	}
	key := hostKey(name)
	r, err := tx.get(bHostNames, key)
	if errors.Is(err, ErrNotFound) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	id := schema.HostID(r.id())
	if r.bad || id == 0 || uint32(id) > tx.s.state.hosts {
		return 0, false, damaged(bHostNames, key, "names no host")
	}
	tx.s.ids.put(name, id, 1)
	tx.s.trim()
	return id, true, nil
}

// trim keeps the caches of names, which may shrink at any time, within bounds.
func (s *Store) trim() {
	s.ids.turn()
	s.names.turn()
}

// AddHost adds a host, whose name the caller has looked up, and returns its
// instance, to be used as that of [Tx.Host].
func (tx *Tx) AddHost(name string) (*schema.Host, error) {
	switch {
	case !tx.writable:
		return nil, ErrReadOnly
	case tx.s.state.hosts == 1<<32-1:
		return nil, fmt.Errorf("%w: no more host ids", ErrFull)
	case name == "" || len(name) > 1<<12:
		return nil, fmt.Errorf("kv: host name of %d bytes", len(name))
	}
	tx.s.state.hosts++
	id := schema.HostID(tx.s.state.hosts)
	w := tx.fields()
	w.uint(uint64(id))
	if err := tx.put(bHostNames, hostKey(name), w); err != nil {
		return nil, err
	}
	name = strings.Clone(name)
	tx.s.ids.put(name, id, 1)
	h := &schema.Host{ID: id, Name: name, Generation: tx.s.state.generation}
	tx.PutHost(h)
	return h, nil
}

// Host returns a host. In an update it is the one instance of this commit: it
// may be changed, must then be given to [Tx.PutHost], and is not used after the
// commit. In a view it belongs to the caller.
func (tx *Tx) Host(id schema.HostID) (*schema.Host, error) {
	if id == 0 || uint32(id) > tx.s.state.hosts {
		return nil, fmt.Errorf("%w: host %d", ErrNotFound, id)
	}
	if tx.writable {
		if h, ok := tx.s.hosts.get(id); ok {
			return h, nil
		}
	}
	h, err := tx.readHost(id)
	if err == nil && tx.writable {
		tx.s.hosts.put(id, h, hostCost(h))
	}
	return h, err
}

func (tx *Tx) readHost(id schema.HostID) (*schema.Host, error) {
	key := key32(uint32(id))
	r, err := tx.get(bHosts, key)
	if err != nil {
		return nil, missing(err, bHosts, key)
	}
	h := decodeHost(&r, id)
	if r.bad {
		return nil, damaged(bHosts, key, "cannot be decoded")
	}
	return h, nil
}

// hostCost weighs a host in the cache: one for every 512 bytes or so.
func hostCost(h *schema.Host) int { return 1 + len(h.Queues)/2 + len(h.Retries)/8 }

// PutHost marks a host as changed; it is written once, at the commit.
func (tx *Tx) PutHost(h *schema.Host) {
	if err := tx.change(); err != nil {
		tx.fail(err)
		return
	}
	if h.ID == 0 || uint32(h.ID) > tx.s.state.hosts {
		tx.fail(fmt.Errorf("%w: host %d", ErrNotFound, h.ID))
		return
	}
	if tx.dirty[h.ID] == h {
		return
	}
	if tx.dirty == nil {
		tx.dirty = make(map[schema.HostID]*schema.Host)
	}
	tx.dirty[h.ID] = h
	tx.s.hosts.put(h.ID, h, hostCost(h))
}

func (tx *Tx) flushHosts() error {
	for _, id := range slices.Sorted(maps.Keys(tx.dirty)) {
		w := tx.fields()
		encodeHost(w, tx.dirty[id])
		if err := tx.put(bHosts, key32(uint32(id)), w); err != nil {
			return err
		}
	}
	return nil
}

// EachHost calls f for the hosts from an id on, in order, until it returns
// false. A host is valid while f runs; what f changes it gives to [Tx.PutHost].
func (tx *Tx) EachHost(from schema.HostID, f func(*schema.Host) (bool, error)) error {
	for id := uint32(max(from, 1)); id != 0 && id <= tx.s.state.hosts; id++ {
		h, err := tx.visitingHost(schema.HostID(id))
		if err != nil {
			return err
		}
		if more, err := f(h); err != nil || !more {
			return err
		}
	}
	return nil
}

// visitingHost returns the instance of a host if there is one and does not make
// it one otherwise, so that a scan leaves the cache alone.
func (tx *Tx) visitingHost(id schema.HostID) (*schema.Host, error) {
	if tx.writable {
		if h, ok := tx.s.hosts.get(id); ok {
			return h, nil
		}
	}
	return tx.readHost(id)
}

// HostName returns the name of a host.
func (tx *Tx) HostName(id schema.HostID) (string, error) {
	if name, ok := tx.s.names.get(id); ok {
		return name, nil
	}
	if h, ok := tx.dirty[id]; ok {
		return h.Name, nil
	}
	if id == 0 || uint32(id) > tx.s.state.hosts {
		return "", fmt.Errorf("%w: host %d", ErrNotFound, id)
	}
	key := key32(uint32(id))
	r, err := tx.get(bHosts, key)
	if err != nil {
		return "", missing(err, bHosts, key)
	}
	name := r.string() // its first field
	if r.bad {
		return "", damaged(bHosts, key, "cannot be decoded")
	}
	tx.s.names.put(id, name, 1)
	tx.s.trim()
	return name, nil
}

// HostsBelow calls f for a host, its ports and every name below it, as far as
// they are known, until f returns false.
func (tx *Tx) HostsBelow(host string, f func(name string, id schema.HostID) bool) error {
	prefix := string(hostKey(host))
	return tx.each(bHostNames, []byte(prefix), func(key []byte, r *reader) (bool, error) {
		if !strings.HasPrefix(string(key), prefix) {
			return false, nil
		}
		id := schema.HostID(r.id())
		if r.bad {
			return true, nil // reported by each
		}
		return f(hostOfKey(string(key)), id), nil
	})
}

// hostKey is a host name with its labels reversed, each followed by a comma,
// and then the port with its colon: what is below a name begins with its key.
// Addresses are one label.
func hostKey(name string) []byte {
	name, port := cutPort(name)
	key := make([]byte, 0, len(name)+len(port)+1)
	if isAddress(name) {
		key = append(append(key, name...), ',')
		return append(key, port...)
	}
	for end := len(name); end >= 0; {
		dot := strings.LastIndexByte(name[:end], '.')
		key = append(append(key, name[dot+1:end]...), ',')
		end = dot
	}
	return append(key, port...)
}

func hostOfKey(key string) string {
	end := strings.LastIndexByte(key, ',')
	if end < 0 {
		return key
	}
	labels := strings.Split(key[:end], ",")
	slices.Reverse(labels)
	return strings.Join(labels, ".") + key[end+1:]
}

// cutPort splits a host before the colon of its port.
func cutPort(host string) (name, port string) {
	if i := strings.LastIndexByte(host, ':'); i >= 0 && !strings.HasSuffix(host, "]") {
		return host[:i], host[i:]
	}
	return host, ""
}

// isAddress reports whether a host is an IP address: in brackets, or with a
// number as its last label.
func isAddress(name string) bool {
	last := name[strings.LastIndexByte(name, '.')+1:]
	return strings.HasPrefix(name, "[") || last != "" && strings.Trim(last, "0123456789") == ""
}

// Robots returns a host's robots.txt as it was last fetched.
func (tx *Tx) Robots(id schema.HostID) (schema.RobotsCopy, bool, error) {
	key := key32(uint32(id))
	r, err := tx.get(bRobots, key)
	if errors.Is(err, ErrNotFound) {
		return schema.RobotsCopy{}, false, nil
	}
	if err != nil {
		return schema.RobotsCopy{}, false, err
	}
	c := schema.RobotsCopy{At: r.millis(), Status: int(r.int())}
	if !r.bool() {
		if r.bad {
			err = damaged(bRobots, key, "cannot be decoded")
		}
		return c, err == nil, err
	}
	if c.Text, err = tx.s.zip.unpack(&r); err != nil {
		return c, false, damaged(bRobots, key, err.Error())
	}
	if c.Text == nil {
		c.Text = []byte{}
	}
	return c, true, nil
}

// PutRobots stores a host's robots.txt.
func (tx *Tx) PutRobots(id schema.HostID, c schema.RobotsCopy) error {
	if err := tx.change(); err != nil {
		return err
	}
	if id == 0 || uint32(id) > tx.s.state.hosts {
		return fmt.Errorf("%w: host %d", ErrNotFound, id)
	}
	w := tx.fields()
	w.millis(c.At)
	w.int(int64(c.Status))
	w.bool(c.Text != nil)
	if c.Text != nil {
		if err := tx.s.zip.pack(w, c.Text); err != nil {
			return err
		}
	}
	return tx.put(bRobots, key32(uint32(id)), w)
}
