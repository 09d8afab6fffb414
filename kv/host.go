package kv

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sumi-ripple/ripple/schema"
)

// Hosts owns the buckets hosts, hostnames and robots.
type Hosts struct {
	tx    *base
	dirty map[schema.HostID]*schema.Host
}

// Lookup finds a host by its normalised name.
func (hs *Hosts) Lookup(name string) (schema.HostID, bool, error) {
	if id, ok := hs.tx.s.ids.get(name); ok {
		return id, true, nil
	}
	key := hostKey(name)
	r, ok, err := hs.tx.find(bHostNames, key)
	if !ok {
		return 0, false, err
	}
	id := schema.HostID(r.id())
	if r.bad || id == 0 || uint32(id) > hs.tx.s.state.hosts {
		return 0, false, damaged(bHostNames, key, "names no host")
	}
	hs.tx.s.ids.put(name, id, 1)
	hs.trim()
	return id, true, nil
}

// trim limits the caches of names; it may be called at any time.
func (hs *Hosts) trim() {
	hs.tx.s.ids.turn()
	hs.tx.s.names.turn()
}

// Add adds a host, whose name the caller has looked up, and returns its instance, to be used like that of
// [Hosts.At].
func (hs *Hosts) Add(name string) (*schema.Host, error) {
	switch {
	case !hs.tx.writable:
		return nil, ErrReadOnly
	case hs.tx.s.state.hosts == 1<<32-1:
		return nil, fmt.Errorf("%w: no more host ids", ErrFull)
	case name == "" || len(name) > 1<<12:
		return nil, fmt.Errorf("kv: host name of %d bytes", len(name))
	}
	hs.tx.s.state.hosts++
	id := schema.HostID(hs.tx.s.state.hosts)
	w := hs.tx.fields()
	w.uint(uint64(id))
	if err := hs.tx.put(bHostNames, hostKey(name), w); err != nil {
		return nil, err
	}
	name = strings.Clone(name)
	hs.tx.s.ids.put(name, id, 1)
	hs.tx.s.settle(name)
	h := &schema.Host{ID: id, Name: name, Generation: hs.tx.s.state.generation}
	hs.Put(h)
	return h, nil
}

// At returns a host. In an update it is the only instance in this commit: it may be changed, must then be
// passed to [Hosts.Put], and must not be used after the commit. In a view it belongs to the caller.
func (hs *Hosts) At(id schema.HostID) (*schema.Host, error) {
	if id == 0 || uint32(id) > hs.tx.s.state.hosts {
		return nil, fmt.Errorf("%w: host %d", ErrNotFound, id)
	}
	if hs.tx.writable {
		if h, ok := hs.tx.s.hosts.get(id); ok {
			return h, nil
		}
	}
	h, err := hs.read(id)
	if err == nil && hs.tx.writable {
		hs.tx.s.hosts.put(id, h, hostCost(h))
	}
	return h, err
}

func (hs *Hosts) read(id schema.HostID) (*schema.Host, error) {
	key := key32(uint32(id))
	r, err := hs.tx.get(bHosts, key)
	if err != nil {
		return nil, missing(err, bHosts, key)
	}
	h := decodeHost(&r, id)
	if r.bad {
		return nil, damaged(bHosts, key, "cannot be decoded")
	}
	return h, nil
}

// hostCost returns the weight of a host in the cache: one for about every 512 bytes.
func hostCost(h *schema.Host) int { return 1 + len(h.Queues)/2 + len(h.Retries)/8 }

// Put marks a host as changed; it is written once, at the commit.
func (hs *Hosts) Put(h *schema.Host) {
	if err := hs.tx.change(); err != nil {
		hs.tx.fail(err)
		return
	}
	if h.ID == 0 || uint32(h.ID) > hs.tx.s.state.hosts {
		hs.tx.fail(fmt.Errorf("%w: host %d", ErrNotFound, h.ID))
		return
	}
	if hs.dirty[h.ID] == h {
		return
	}
	if hs.dirty == nil {
		hs.dirty = make(map[schema.HostID]*schema.Host)
	}
	hs.dirty[h.ID] = h
	hs.tx.s.hosts.put(h.ID, h, hostCost(h))
}

func (hs *Hosts) flush() error {
	for _, id := range slices.Sorted(maps.Keys(hs.dirty)) {
		w := hs.tx.fields()
		encodeHost(w, hs.dirty[id])
		if err := hs.tx.put(bHosts, key32(uint32(id)), w); err != nil {
			return err
		}
	}
	return nil
}

// Each calls f for the hosts from an id on, in order, until f returns false. A host is valid while f runs; if
// f changes it, f must call [Hosts.Put].
func (hs *Hosts) Each(from schema.HostID, f func(*schema.Host) (bool, error)) error {
	for id := uint32(max(from, 1)); id != 0 && id <= hs.tx.s.state.hosts; id++ {
		h, err := hs.visiting(schema.HostID(id))
		if err != nil {
			return err
		}
		if more, err := f(h); err != nil || !more {
			return err
		}
	}
	return nil
}

// visiting returns the instance of a host, if there is one. It does not make a host that it reads an
// instance, so that a scan does not fill the cache.
func (hs *Hosts) visiting(id schema.HostID) (*schema.Host, error) {
	if hs.tx.writable {
		if h, ok := hs.tx.s.hosts.get(id); ok {
			return h, nil
		}
	}
	return hs.read(id)
}

// Name returns the name of a host.
func (hs *Hosts) Name(id schema.HostID) (string, error) {
	if name, ok := hs.tx.s.names.get(id); ok {
		return name, nil
	}
	if h, ok := hs.dirty[id]; ok {
		return h.Name, nil
	}
	if id == 0 || uint32(id) > hs.tx.s.state.hosts {
		return "", fmt.Errorf("%w: host %d", ErrNotFound, id)
	}
	key := key32(uint32(id))
	r, err := hs.tx.get(bHosts, key)
	if err != nil {
		return "", missing(err, bHosts, key)
	}
	name := r.string() // its first field
	if r.bad {
		return "", damaged(bHosts, key, "cannot be decoded")
	}
	hs.tx.s.names.put(id, name, 1)
	hs.trim()
	return name, nil
}

// Below calls f for a host, its ports and every known name below it, until f returns false.
func (hs *Hosts) Below(host string, f func(name string, id schema.HostID) bool) error {
	prefix := string(hostKey(host))
	return hs.tx.each(bHostNames, []byte(prefix), func(key []byte, r *reader) (bool, error) {
		if !strings.HasPrefix(string(key), prefix) {
			return false, nil
		}
		id := schema.HostID(r.id())
		if r.bad || id == 0 || uint32(id) > hs.tx.s.state.hosts {
			return false, damaged(bHostNames, key, "names no host")
		}
		return f(hostOfKey(string(key)), id), nil
	})
}

// Knows reports whether a host has a record or, of a domain, any host below it.
func (hs *Hosts) Knows(host string, domain bool) (known bool, err error) {
	if !domain {
		_, known, err = hs.Lookup(host)
		return known, err
	}
	err = hs.Below(host, func(string, schema.HostID) bool {
		known = true
		return false
	})
	return known, err
}

// hostKey returns a host name with its labels reversed, each followed by a comma, and then the port with its
// colon: the keys of names below a name begin with its key. An address is one label.
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

// isAddress reports whether a host is an IP address: in brackets, or with a number as its last label.
func isAddress(name string) bool {
	last := name[strings.LastIndexByte(name, '.')+1:]
	return strings.HasPrefix(name, "[") || last != "" && strings.Trim(last, "0123456789") == ""
}

// Robots returns the last fetched copy of a host's robots.txt.
func (hs *Hosts) Robots(id schema.HostID) (schema.RobotsCopy, bool, error) {
	key := key32(uint32(id))
	r, ok, err := hs.tx.find(bRobots, key)
	if !ok {
		return schema.RobotsCopy{}, false, err
	}
	c := schema.RobotsCopy{At: r.millis(), Status: int(r.int())}
	if !r.bool() {
		if r.bad {
			err = damaged(bRobots, key, "cannot be decoded")
		}
		return c, err == nil, err
	}
	if c.Text, err = unzip(&r, nil, maxRobots); err != nil {
		return c, false, damaged(bRobots, key, err.Error())
	}
	return c, true, nil
}

// PutRobots stores a host's robots.txt.
func (hs *Hosts) PutRobots(id schema.HostID, c schema.RobotsCopy) error {
	if err := hs.tx.change(); err != nil {
		return err
	}
	if id == 0 || uint32(id) > hs.tx.s.state.hosts {
		return fmt.Errorf("%w: host %d", ErrNotFound, id)
	}
	w := hs.tx.fields()
	w.millis(c.At)
	w.int(int64(c.Status))
	w.bool(c.Text != nil)
	if c.Text != nil {
		if err := zip(w, c.Text, maxRobots); err != nil {
			return err
		}
	}
	return hs.tx.put(bRobots, key32(uint32(id)), w)
}
