// Package exchange tells the shards of a terrain about each other's URLs, so that a URL which one of
// them meets is visited by its owner, whatever is lost on the way.
//
// A [Sender] tells another shard what stands in the outbox of its own, in letters of at
// most 384 KiB that are made from committed state; a [Receiver] applies a letter and answers
// it after the commit. Only an answer takes a URL out of the outbox, and only if nothing has
// changed since the letter was made. So a letter that is lost is made again; and since it
// consists of minima and sets, one that comes twice, late or after a younger one does no harm.
//
// # When a file goes back
//
// A receiver's file may be an older copy of what it was, or a new one. So an answer names
// the opening of the file and its commit, and the sender keeps the highest. Before the first
// letter of every session, and whenever the opening has changed, it asks whether
// the file contains that commit. If not, it forgets that commit, and tells everything again that it knows of
// the shard: a cursor in its own file says how far that has come, across restarts. An
// answer counts only in the opening that was asked about last, and a receiver takes only
// letters that are addressed to its present opening.
//
// # Runs and configurations
//
// Distances hold under one run and one configuration of the terrain. A receiver that is
// behind a letter's answers "later", one that is ahead "older": neither acknowledges
// anything. "Later" is also the answer of a shard that does not crawl, because its run has not
// begun or is over.
//
// # Errands
//
// If the robots.txt of a host redirects to a host of another shard, or scripts want
// something from one, [Inquire] has that shard make the request. It answers "busy" as long as it has nothing
// to report; the report then comes in pieces that fit into letters. None of it is kept in a file:
// after a restart it is asked for again.
//
// # Who may call
//
// Sender and Receiver reach the file through a [Shard] alone, which serves one call at a
// time. A [Carrier] only carries.
package exchange

import (
	"context"
	"errors"

	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// MaxLetter is the size of a letter at most, in bytes: a URL with all of its forms fits, and so
// does what answers an errand. A server of NATS takes 1 MB unless it is told otherwise.
const MaxLetter = 384 << 10

// ErrNobody reports that nobody has answered a letter. Whether it was applied is not known.
var ErrNobody = errors.New("no answer")

// A Carrier brings letters to shards. It may lose them, or their answers, bring them twice,
// late and in any order. It may be used by several goroutines at a time.
type Carrier interface {
	// Ask brings a letter to a shard and returns the answer to it, or [ErrNobody]. It
	// does not keep the letter.
	Ask(ctx context.Context, shard int, letter []byte) (answer []byte, err error)
}

// A Shard is a state file with the recorder that writes it.
type Shard interface {
	Recipient
	// Update returns when a commit holds what f does, perhaps with what others do.
	Update(f func(*kv.Tx) error) error
	// Referral makes the referral of a foreign URL, in a View.
	Referral(tx *kv.Tx, id schema.ID) (ring.Referral, error)
	// MarkAgain looks at so many URLs, from one on, and marks those that another shard has to know of, in
	// an Update. It returns the first URL that is left; 0: none is.
	MarkAgain(tx *kv.Tx, shard int, from schema.ID, most int) (next schema.ID, err error)
}

// A Recipient is a shard that letters are for.
type Recipient interface {
	// View has f read the last commit.
	View(f func(*kv.Tx) error) error
	// Apply returns when a commit holds the referrals, but for those that name no URL of
	// this shard.
	Apply(referrals []ring.Referral) error
	// Errand returns what has come of a request that another shard wants to be made, with a piece
	// of the body from a byte on, of so many at most, or has the recorder make it.
	Errand(e ring.Errand, at, most int) (piece ring.Report, known bool, err error)
}
