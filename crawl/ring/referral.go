package ring

import "github.com/sumi-ripple/ripple/schema"

// A Referral tells one shard of a terrain what another knows about a URL that belongs to it. Numbers are
// minima and the rest are sets: referrals may be applied in any order, and repeatedly, and give the same map.
type Referral struct {
	Kind  schema.URLKind
	URL   string   // identity
	Forms []string // at least one
	Own   int      // number of leading forms that are own, see [schema.Forms]
	HTTPS bool     // its host was named with https
	Told  schema.Inbound

	// The owner uses these to judge whether the URL is its host's own.
	FromOrigin bool     // an origin's page links to it
	Sitemap    string   // host of a sitemap that names it; empty: none
	Vouchers   []string // of that sitemap, those for the host; of a sitemap, all: see [kv.Vouchers]
}
