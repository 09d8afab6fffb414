package schema

import "time"

// A Part says which part of a terrain a state file holds that is split over several, and
// how far the terrain has come as the file knows it: one shard, or all that were united but
// some. The zero value is that of a file that holds a whole terrain.
type Part struct {
	Terrain       [16]byte // id, given when it was split
	Rule          int      // version of the rule that says which site belongs to which shard
	Shard, Shards int      // its number, from 0 on, and how many there are; 0 of what was united
	Without       Shards   // that were not united with the others; none: the file holds the one shard
	Run           uint64   // number of the terrain's run, which every shard counts alike
	Configuration uint64   // number of its configuration likewise
}

// United reports whether the file holds several shards, and is only read.
func (p *Part) United() bool { return p.Without != Shards{} }

// Foreign reports whether the file does not hold a shard of the terrain.
func (p *Part) Foreign(shard int) bool {
	if p.United() {
		return p.Without.Has(shard)
	}
	return shard != p.Shard
}

// An Inbound is what other shards have told of a URL: the smallest numbers that any of
// them did. Depths, hops and what sitemaps say hold under one run and one configuration
// of the terrain.
type Inbound struct {
	Run, Configuration uint64
	Depth, Hops        uint8 // 255: none
	Listed             bool  // a sitemap names it
	Own                bool  // what was told makes it its host's own
	Changed            time.Time
}

// Counts reports whether what was told holds in a file that has come so far.
func (in *Inbound) Counts(part Part) bool {
	return in.Run == part.Run && in.Configuration == part.Configuration
}

// A Peer is what a shard knows of another one that it sends referrals to.
type Peer struct {
	Opening Opening // of the last answer that counted
	Commit  uint64  // the highest that was answered in it; 0: none
	Cursor  ID      // from here on all that belongs to the peer is to be marked anew; 0: nothing is
}
