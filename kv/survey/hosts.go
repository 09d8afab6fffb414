package survey

import (
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// Hosts are the hosts of a survey.
type Hosts struct {
	core     *core
	known    *hosts
	coverage *coverage
}

// Count returns the largest id of a host, which bounds arrays that are indexed by id.
func (hs *Hosts) Count() int { return hs.core.store.Hosts() }

// Of returns the host of a URL.
func (hs *Hosts) Of(id schema.ID) schema.HostID { return hs.core.store.HostOf(id) }

// ShardOf returns the shard that a host or site belongs to, known or not.
func (hs *Hosts) ShardOf(name string) int { return hs.core.store.ShardOfName(name) }

// Noted returns the notes of people about a host, known or not, as of now.
func (hs *Hosts) Noted(name string) schema.HostNote { return hs.core.notes.Of(name) }

// Name returns the name of a host.
func (hs *Hosts) Name(id schema.HostID) (string, error) {
	if int(id) < len(hs.known.byID) && hs.known.byID[id] != nil {
		return hs.known.byID[id].name, nil
	}
	var name string
	err := hs.core.view(func(tx *kv.Tx) (err error) {
		name, err = tx.Hosts.Name(id)
		return err
	})
	return name, err
}

// Lookup finds a host by its name.
func (hs *Hosts) Lookup(name string) (id schema.HostID, ok bool, err error) {
	err = hs.core.view(func(tx *kv.Tx) (err error) {
		id, ok, err = tx.Hosts.Lookup(name)
		return err
	})
	return id, ok, err
}

// Record returns the record of a host; nil: there is none, or it cannot be read.
func (hs *Hosts) Record(name string) (h *schema.Host) {
	_ = hs.core.view(func(tx *kv.Tx) error {
		h = RecordOf(tx, name)
		return nil
	})
	return h
}

// RecordOf returns the record of a host; nil: there is none, or it cannot be read.
func RecordOf(tx *kv.Tx, name string) *schema.Host {
	id, known, err := tx.Hosts.Lookup(name)
	if err != nil || !known {
		return nil
	}
	h, err := tx.Hosts.At(id)
	if err != nil {
		return nil
	}
	return h
}

// Robots returns the copy of a host's robots.txt; zero: there is none.
func (hs *Hosts) Robots(id schema.HostID) (schema.RobotsCopy, error) {
	var c schema.RobotsCopy
	err := hs.core.view(func(tx *kv.Tx) (err error) {
		c, _, err = tx.Hosts.Robots(id)
		return err
	})
	return c, err
}

// Maps reports whether a host belongs to the run's map. One that only later runs or the archives of another run know
// does not.
func (hs *Hosts) Maps(id schema.HostID) (ok bool, err error) {
	err = hs.core.view(func(tx *kv.Tx) error {
		maps, err := hs.coverage.mapped(tx)
		if err != nil {
			return err
		}
		r, err := tx.Hosts.At(id)
		ok = err == nil && maps(r)
		return err
	})
	return ok, err
}

// Each calls f for every host of the run's map by id. A report is valid while f runs. An error
// of f ends it.
func (hs *Hosts) Each(f func(*HostReport) error) error { return hs.coverage.each(f) }

// EachUntitled is [Hosts.Each] without titles, which would need look-ups of the front pages of all
// hosts.
func (hs *Hosts) EachUntitled(f func(*HostReport) error) error { return hs.coverage.untitled(f) }

// Report returns the report on a host.
func (hs *Hosts) Report(id schema.HostID) (*HostReport, error) { return hs.coverage.of(id) }
