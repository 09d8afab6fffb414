package schema

import "time"

// A Part describes the part of a terrain in a state file, if the terrain is split over several
// files, and the progress of the terrain as known to this file. The file holds one shard, or all
// merged shards except those in Without. The zero value means that the file holds a whole terrain.
type Part struct {
	Terrain       [16]byte // id, assigned when the terrain was split
	Rule          int      // version of the rule that assigns sites to shards
	Shard, Shards int      // the shard's number, from 0, and how many there are; 0 in a merged file
	Without       Shards   // the shards missing from a merged file; empty if the file holds one shard
	Run           uint64   // number of the terrain's run, the same in every shard
	Configuration uint64   // number of its configuration, the same in every shard
}

// Merged reports whether the file holds several shards and is therefore read-only.
func (p *Part) Merged() bool { return p.Without != Shards{} }

// Foreign reports whether the file does not hold a shard of the terrain.
func (p *Part) Foreign(shard int) bool {
	if p.Merged() {
		return p.Without.Has(shard)
	}
	return shard != p.Shard
}

// An Inbound is what other shards reported about a URL: the smallest of the reported numbers. Depths,
// hops and sitemap entries are valid for one run and one configuration of the terrain.
type Inbound struct {
	Run, Configuration uint64
	Depth, Hops        uint8 // 255: none
	Listed             bool  // a sitemap names the URL
	Own                bool  // the reports make the URL its host's own
	Changed            time.Time
}

// Counts reports whether the report is valid in a file at this point of the terrain.
func (in *Inbound) Counts(part Part) bool {
	return in.Run == part.Run && in.Configuration == part.Configuration
}

// A Peer is what a shard knows about another shard that it sends referrals to.
type Peer struct {
	Opening Opening // of the last answer accepted
	Commit  uint64  // the highest commit acknowledged in that opening; 0: none
	Cursor  ID      // from here on, everything that belongs to the peer must be marked again; 0: nothing
}
