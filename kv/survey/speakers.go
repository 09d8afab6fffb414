package survey

import (
	"strings"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
	"github.com/sumi-ripple/ripple/schema/scope"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// Speakers holds, by sitemap, the hosts and origins that it speaks for besides its own host (their vouchers, see
// [kv.Vouchers]): those that vouch for it, or for an index or a redirect that leads to it (sitemaps.org, "Sitemaps &
// Cross Submits").
type Speakers map[schema.ID]map[string]bool

// Add adds vouchers of a sitemap, and reports whether one of them is new.
func (s Speakers) Add(sitemap schema.ID, vouchers ...string) (grown bool) {
	for _, v := range vouchers {
		if s[sitemap][v] {
			continue
		}
		if s[sitemap] == nil {
			s[sitemap] = map[string]bool{}
		}
		s[sitemap][v], grown = true, true
	}
	return grown
}

// PassOn gives a file the vouchers of the index or redirect that leads to it, and reports whether one
// of them is new to it.
func (s Speakers) PassOn(from, to schema.ID) (grown bool) {
	for v := range s[from] {
		grown = s.Add(to, v) || grown
	}
	return grown
}

// Vouchers returns the vouchers of a sitemap that concern a host.
func (s Speakers) Vouchers(t *scope.Scope, sitemap schema.ID, host string) (names []string) {
	all := s[sitemap]
	if len(all) == 0 {
		return nil
	}
	if all[host] {
		names = append(names, host)
	}
	for _, n := range t.OriginsOf(host) {
		if v := OriginVoucher(t.Origins()[n].Name); all[v] {
			names = append(names, v)
		}
	}
	return names
}

// OriginVoucher is the voucher of an origin whose configuration names a sitemap.
func OriginVoucher(domain string) string { return "=" + domain }

// IsOriginVoucher reports whether a voucher is that of an origin, and not a host.
func IsOriginVoucher(voucher string) bool { return strings.HasPrefix(voucher, "=") }

// ReadSpeakers returns the speakers of a run: what hosts and other shards have vouched for in it,
// what the configuration names, and everything that the files of the run lead to. files calls its
// argument for every sitemap that the run has read.
func ReadSpeakers(tx *kv.Tx, store *kv.Store, cfg *config.Config, run schema.RunID,
	files func(f func(sitemap schema.ID, links []schema.Link)) error) (Speakers, error) {
	s := Speakers{}
	err := tx.Vouchers.Each(func(sitemap schema.ID, voucher string, last schema.RunID) error {
		if last >= run {
			s.Add(sitemap, voucher)
		}
		return nil
	})
	if err == nil {
		err = s.addConfigured(tx, store, cfg)
	}
	if err != nil {
		return nil, err
	}
	leads := map[schema.ID][]schema.ID{}
	var work []schema.ID
	err = files(func(sitemap schema.ID, links []schema.Link) {
		for _, l := range links {
			leads[sitemap] = append(leads[sitemap], l.To)
		}
		if len(links) > 0 && len(s[sitemap]) > 0 {
			work = append(work, sitemap)
		}
	})
	for len(work) > 0 && err == nil {
		from := work[len(work)-1]
		work = work[:len(work)-1]
		for _, to := range leads[from] {
			if s.PassOn(from, to) {
				work = append(work, to)
			}
		}
	}
	return s, err
}

// addConfigured adds the origins that vouch for sitemaps in the configuration.
func (s Speakers) addConfigured(tx *kv.Tx, store *kv.Store, cfg *config.Config) error {
	for _, origin := range cfg.Scope().Origins() {
		for _, raw := range origin.Sitemaps {
			u, err := cfg.Rules().Parse(raw)
			if err != nil {
				continue // it was checked under the rules of its configuration
			}
			name, pathQuery := weburl.Split(u.Norm)
			host, known, err := tx.Hosts.Lookup(name)
			if err != nil {
				return err
			}
			if !known {
				continue
			}
			id, ok, err := tx.URLs.Lookup(store.Hash(schema.KindSitemap, u.Norm), host, schema.KindSitemap, pathQuery)
			if err != nil {
				return err
			}
			if ok {
				s.Add(id, OriginVoucher(origin.Name))
			}
		}
	}
	return nil
}
