package ring

import "github.com/sumi-ripple/ripple/schema"

// A Referral is what one shard of a terrain tells another of a URL that belongs to it.
// Numbers are minima and the rest are sets: referrals may be applied in any order, and
// again, and give the same map.
type Referral struct {
	Kind  schema.URLKind
	URL   string   // identity
	Forms []string // at least one
	Own   int      // of these: the first, which are own ones, see [schema.Forms]
	HTTPS bool     // its host was named with https
	Told  schema.Inbound

	// What its owner judges whether the URL is its host's own by.
	FromOrigin bool     // an origin's page links to it
	Sitemap    string   // host of a sitemap that names it; empty: none does
	Vouchers   []string // of that sitemap, as far as they concern the host; of a sitemap, all: see [kv.Vouchers]
}
