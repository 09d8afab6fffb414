package kv

import (
	"encoding/binary"
	"errors"

	"github.com/sumi-ripple/ripple/schema"
)

// MaxVouchers is the number of vouchers kept per sitemap.
const MaxVouchers = 100

// Vouchers owns the bucket vouchers: for whom a sitemap may speak. A voucher is the name of a host whose
// robots.txt names the sitemap, or "=" and the domain of an origin whose configuration does.
type Vouchers struct{ tx *base }

// Add records that a sitemap was vouched for in a run, and reports whether that is new in this run. If a
// sitemap has the maximum number of vouchers, one from an earlier run is replaced.
func (vs *Vouchers) Add(sitemap schema.ID, voucher string, run schema.RunID) (bool, error) {
	if err := errors.Join(vs.tx.change(), vs.tx.known(sitemap)); err != nil {
		return false, err
	}
	n, old := 0, []byte(nil)
	known := schema.RunID(0)
	err := vs.each(sitemap, func(name string, last schema.RunID) {
		if n++; name == voucher {
			known = last
		} else if last < run {
			old = voucherKey(sitemap, name)
		}
	})
	switch {
	case err != nil || known == run:
		return false, err
	case known == 0 && n >= MaxVouchers && old == nil:
		return false, nil
	case known == 0 && n >= MaxVouchers:
		if err := vs.tx.delete(bVouchers, old); err != nil {
			return false, err
		}
	}
	return true, vs.Put(sitemap, voucher, run)
}

// Put stores a voucher of a sitemap with the last run in which it vouched.
func (vs *Vouchers) Put(sitemap schema.ID, voucher string, run schema.RunID) error {
	w := vs.tx.fields()
	w.uint(uint64(run))
	return vs.tx.put(bVouchers, voucherKey(sitemap, voucher), w)
}

// Each calls f for every voucher, by sitemap and name, with the last run in which it vouched.
func (vs *Vouchers) Each(f func(sitemap schema.ID, voucher string, run schema.RunID) error) error {
	return vs.tx.each(bVouchers, nil, func(key []byte, r *reader) (bool, error) {
		id, name, run, err := vs.decode(key, r)
		if err == nil {
			err = f(id, name, run)
		}
		return err == nil, err
	})
}

// each calls f for the vouchers of a sitemap.
func (vs *Vouchers) each(sitemap schema.ID, f func(voucher string, run schema.RunID)) error {
	return vs.tx.each(bVouchers, key32(uint32(sitemap)), func(key []byte, r *reader) (bool, error) {
		id, name, run, err := vs.decode(key, r)
		if err != nil || id != sitemap {
			return false, err
		}
		f(name, run)
		return true, nil
	})
}

func (vs *Vouchers) decode(key []byte, r *reader) (id schema.ID, voucher string, run schema.RunID, err error) {
	if len(key) < 5 {
		return 0, "", 0, damaged(bVouchers, key, "names no sitemap")
	}
	id, run = schema.ID(binary.BigEndian.Uint32(key)), schema.RunID(r.id())
	if r.bad || vs.tx.known(id) != nil || vs.tx.s.Kind(id) != schema.KindSitemap {
		return 0, "", 0, damaged(bVouchers, key, "cannot be decoded, or names no sitemap")
	}
	return id, string(key[4:]), run, nil
}

func (vs *Vouchers) check() error {
	return vs.Each(func(schema.ID, string, schema.RunID) error { return nil })
}

func voucherKey(sitemap schema.ID, voucher string) []byte {
	return append(key32(uint32(sitemap)), voucher...)
}
