// Package exchange tells the shards of a terrain about each other's URLs, so that every URL found by any
// shard is visited by its owner, whatever is lost on the way.
//
// A [Sender] sends the content of its shard's outbox to another shard, in letters of at most 384 KiB that are
// made from committed state. A [Receiver] applies a letter and answers it after the commit. Only an answer
// removes a URL from the outbox, and only if the URL has not changed since the letter was made; a lost letter
// is therefore made again. Letters consist of minima and sets, so one that arrives twice, late or out of
// order does no harm.
//
// # When a file goes back
//
// A receiver's file may have been replaced by an older copy or a new file. An answer therefore names the
// opening of the file and its commit, and the sender keeps the highest. Before the first letter of every
// session, and whenever the opening has changed, the sender asks whether the file contains that commit. If
// not, it forgets the commit and sends again everything that it knows about the shard: a cursor in its own
// file records the progress across restarts. An answer counts only in the opening last asked about, and a
// receiver accepts only letters addressed to its current opening.
//
// # Runs and configurations
//
// Distances are valid for one run and one configuration of the terrain. A receiver that is behind a letter's
// answers "later", and one that is ahead answers "older": neither acknowledges anything. "Later" is also the
// answer of a shard that is not crawling because its run has not begun or is over.
//
// # Errands
//
// If the robots.txt of a host redirects to a host of another shard, or scripts request something from one,
// [Inquire] makes that shard send the request. It answers "busy" until it has a report, which then comes in
// pieces that fit into letters. With "busy" it names the host whose robots.txt the request waits for, if any.
// Errands are not stored in a file: after a restart they are sent again.
//
// # Who may call
//
// Sender and Receiver access the file only through a [Shard], which serves one call at a time. A [Carrier]
// only transports.
package exchange

import (
	"context"
	"errors"

	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// MaxLetter is the maximum size of a letter, in bytes. A URL with all its forms fits, as does the answer to
// an errand. A NATS server accepts 1 MB unless configured otherwise.
const MaxLetter = 384 << 10

// ErrNobody reports that a letter was not answered. It may or may not have been applied.
var ErrNobody = errors.New("no answer")

// A Carrier delivers letters to shards. It may lose letters or answers, and deliver them repeatedly, late and
// in any order. It is safe for concurrent use.
type Carrier interface {
	// Ask delivers a letter to a shard and returns the answer, or [ErrNobody]. It does not retain the letter.
	Ask(ctx context.Context, shard int, letter []byte) (answer []byte, err error)
}

// A Shard is a state file with the recorder that writes it.
type Shard interface {
	Recipient
	// Update returns when a commit contains the effects of f, possibly with those of other calls.
	Update(f func(*kv.Tx) error) error
	// Referral makes the referral of a foreign URL, in a View.
	Referral(tx *kv.Tx, id schema.ID) (ring.Referral, error)
	// MarkAgain looks at up to most URLs, starting with from, and marks those that another shard has to know,
	// in an Update. It returns the first URL left; 0: none.
	MarkAgain(tx *kv.Tx, shard int, from schema.ID, most int) (next schema.ID, err error)
}

// A Recipient is a shard that receives letters.
type Recipient interface {
	// View calls f with the last commit.
	View(f func(*kv.Tx) error) error
	// Apply returns when a commit contains the referrals, except those that name no URL of this shard.
	Apply(referrals []ring.Referral) error
	// Errand returns the report of another shard's errand, with at most most bytes of the body, starting at
	// byte at. If there is no report yet, it makes the recorder send the request.
	Errand(e ring.Errand, at, most int) (piece ring.Report, known bool, err error)
}
