package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"time"

	"github.com/sumi-ripple/ripple/crawl/cluster/hub"
	"github.com/sumi-ripple/ripple/crawl/cluster/strictjson"
	"github.com/sumi-ripple/ripple/crawl/cluster/transfer"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema/disk"
)

// What a node is told about a move, by the node that has the file. Only the last one is for that node itself, and by a
// command.
const (
	toBegin  = "begin"  // blocks of the file follow
	toFinish = "finish" // the copy is equal to the file
	toTake   = "take"   // the file is marked: the shard is to be taken
	toCancel = "cancel" // the shard stays where it is, unless it may have been taken
	toKeep   = "keep"   // a shard that was given away is to stay, if possible
)

// What a node answers.
const (
	ready     = "ready"
	whole     = "whole"     // the copy is on the disk
	taken     = "taken"     // the node has the file of the shard
	cancelled = "cancelled" // the copy will never be used
	nothing   = "nothing"   // the node knows nothing of the move
	busy      = "busy"      // ask again
	refused   = "refused"
)

// An order is a message to a node about a move.
type order struct {
	Do    string `json:"do"`
	Shard int    `json:"shard"`
	Move  string `json:"move"`
	Size  int64  `json:"size"` // of the file
}

// A response answers an order.
type response struct {
	State string `json:"state"`
	Why   string `json:"why"`
}

// moveID is what the ID of a move looks like. It is part of the names of files.
var moveID = regexp.MustCompile(`^[A-Z2-7]{26}$`)

// The names of the copies of a shard's file end with the ID of the move and one of these.
const (
	partial  = ".part"      // it may differ from the file; removed when its node starts
	complete = ".whole"     // it is equal to the file
	unused   = ".cancelled" // empty: it was complete, and is never used
)

// spare is how much more room a file needs than it has when it begins to arrive. Files grow in steps of 64 MB.
const spare = 256 << 20

// A receiver takes the files that other nodes give to this one. A copy gets its final name only when the other file has
// been marked. A complete copy is never removed without a trace, so that the node with the marked file can tell a move
// that was cancelled from one whose file was taken and moved on.
type receiver struct {
	*Options
	shards int
	bucket *hub.Bucket
	ctx    context.Context   // of serve
	keep   func(shard int)   // makes this node keep a shard that it has given away
	mu     sync.Mutex        // guards the fields below
	open   map[int]*incoming // by shard
	came   map[int]bool      // shards whose files have come since the maker last looked
}

// An incoming file is being copied to this node.
type incoming struct {
	move  string
	path  string
	to    *transfer.Receiver
	conn  *hub.Conn
	stop  func()
	quiet *time.Timer // drops it when nothing was heard for long
}

// copyPath returns the path of the copy of a shard's file in a move.
func copyPath(folder string, shard int, move, state string) string {
	return FilePath(folder, shard) + "." + move + state
}

func (r *receiver) copyPath(o order, state string) string {
	return copyPath(r.Folder, o.Shard, o.Move, state)
}

// serve receives files until ctx is done.
func (r *receiver) serve(ctx context.Context) error {
	r.tidy()
	r.ctx = ctx
	err := r.bucket.Serve(ctx, hub.Post{
		Node: r.ID, Held: func() bool { return true }, Lanes: map[string]int{forMove: maxQuestions},
		Answer: func(ctx context.Context, _ string, message []byte) ([]byte, error) {
			var o order
			if err := decode(message, &o); err != nil {
				return nil, err
			}
			if !moveID.MatchString(o.Move) || o.Shard < 0 || o.Shard >= r.shards || o.Size < 0 {
				return nil, fmt.Errorf("%w about shard %d", errMessage, o.Shard)
			}
			return strictjson.Encode(r.obey(ctx, o)), nil
		},
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	for shard := range r.open {
		r.drop(shard)
	}
	if ctx.Err() == nil {
		r.Log.Warn("no shard can be moved to this node", "error", err)
	}
	return nil
}

// tidy removes copies that will never be complete, and the content of those that will never be used.
func (r *receiver) tidy() {
	for _, path := range r.copies("shard-*.bolt", partial) {
		_ = os.Remove(path) // only a waste of room
	}
	for _, path := range r.copies("shard-*.bolt", unused) {
		_ = os.Truncate(path, 0)
	}
}

// copies returns the paths of the copies of files, with a state.
func (r *receiver) copies(files, state string) []string {
	paths, _ := filepath.Glob(filepath.Join(r.Folder, files+".*"+state)) // the pattern is well formed
	return paths
}

func (r *receiver) obey(ctx context.Context, o order) response {
	r.mu.Lock()
	defer r.mu.Unlock()
	if in := r.open[o.Shard]; in != nil && in.move == o.Move {
		in.quiet.Reset(r.quietTime())
	}
	switch o.Do {
	case toBegin:
		return r.begin(ctx, o)
	case toFinish:
		return r.finish(o)
	case toTake:
		return r.take(o)
	case toCancel:
		return r.cancel(o)
	case toKeep:
		r.keep(o.Shard)
		return response{State: ready}
	}
	return response{refused, "unknown order"}
}

// quietTime is how long a node that copies a file may be silent.
func (r *receiver) quietTime() time.Duration { return 4 * r.Timing.Patience() }

// begin gets ready for the blocks of a file, on a connection of their own.
func (r *receiver) begin(ctx context.Context, o order) response {
	if in := r.open[o.Shard]; in != nil {
		if in.move == o.Move {
			return response{State: ready}
		}
		r.drop(o.Shard)
	}
	if _, err := os.Lstat(FilePath(r.Folder, o.Shard)); err == nil {
		return response{busy, "it has a file of this shard"} // which it is perhaps about to put away after a move
	}
	// The node with the file holds the shard, so earlier moves are over.
	for _, state := range []string{partial, complete, unused} {
		for _, path := range r.copies(filepath.Base(FilePath("", o.Shard)), state) {
			if err := os.Remove(path); err != nil {
				return response{refused, err.Error()}
			}
		}
	}
	need := uint64(o.Size) + uint64(o.Size)/8 + spare
	if free, known := disk.Free(r.Folder); known && free < need {
		return response{refused, fmt.Sprintf("its disk has %d MB of room, and the file needs %d", free>>20, need>>20)}
	}
	in := &incoming{move: o.Move, path: r.copyPath(o, partial)}
	f, err := os.OpenFile(in.path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return response{refused, err.Error()}
	}
	in.to = transfer.NewReceiver(f, 2*o.Size+4*spare)
	var bucket *hub.Bucket
	if in.conn, err = r.Hub.Another(ctx); err == nil {
		if bucket, err = in.conn.Bucket(ctx, r.bucket.Terrain()); err != nil {
			in.conn.Close()
		}
	}
	if err != nil {
		return response{refused, errors.Join(err, in.to.Close(), os.Remove(in.path)).Error()}
	}
	in.quiet = time.AfterFunc(r.quietTime(), func() { r.forget(o.Shard, in) })
	in.stop = aside(r.ctx, func(ctx context.Context) error {
		return bucket.Serve(ctx, hub.Post{
			Node: o.Move, Held: func() bool { return true }, Lanes: map[string]int{forMove: 1},
			Answer: func(_ context.Context, _ string, question []byte) ([]byte, error) {
				in.quiet.Reset(r.quietTime())
				return in.to.Answer(question)
			},
		})
	})
	r.open[o.Shard] = in
	r.OnMove(o.Shard, "begun")
	return response{State: ready}
}

// forget drops an incoming file of which nothing was heard for long.
func (r *receiver) forget(shard int, in *incoming) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open[shard] == in {
		r.Log.Warn("a shard was to be moved to this node, and nothing more was heard of it", "shard", shard)
		r.drop(shard)
	}
}

// close ends the copying of a file.
func (in *incoming) close() error {
	in.quiet.Stop()
	in.stop()
	in.conn.Close()
	return in.to.Close()
}

// drop removes the incoming file of a shard.
func (r *receiver) drop(shard int) {
	in := r.open[shard]
	delete(r.open, shard)
	if err := errors.Join(in.close(), os.Remove(in.path)); err != nil {
		r.Log.Warn("a copy that is not used could not be removed", "path", in.path, "error", err)
	}
}

// finish puts a copy on the disk, for good.
func (r *receiver) finish(o order) response {
	in := r.open[o.Shard]
	if in == nil || in.move != o.Move {
		if exists(r.copyPath(o, complete)) {
			return response{State: whole}
		}
		return response{State: nothing}
	}
	delete(r.open, o.Shard)
	if err := in.close(); err != nil {
		return response{refused, errors.Join(err, os.Remove(in.path)).Error()}
	}
	r.OnMove(o.Shard, "equal")
	if err := kv.Rename(in.path, r.copyPath(o, complete)); err != nil {
		return response{refused, err.Error()}
	}
	r.OnMove(o.Shard, "whole")
	return response{State: whole}
}

// take gives a complete copy its name, so that this node takes the shard.
func (r *receiver) take(o order) response {
	copied, file := r.copyPath(o, complete), FilePath(r.Folder, o.Shard)
	switch {
	case exists(r.copyPath(o, unused)):
		return response{State: cancelled}
	case exists(file):
		if exists(copied) {
			return response{refused, file + " is in the way"}
		}
		return response{State: taken}
	case !exists(copied):
		return response{State: nothing}
	}
	if err := kv.Rename(copied, file); err != nil {
		return response{refused, err.Error()}
	}
	r.came[o.Shard] = true
	r.OnMove(o.Shard, "taken")
	return response{State: taken}
}

// cancel makes a copy useless.
func (r *receiver) cancel(o order) response {
	copied, useless := r.copyPath(o, complete), r.copyPath(o, unused)
	in := r.open[o.Shard]
	switch {
	case in != nil && in.move == o.Move:
		r.drop(o.Shard)
		return response{State: cancelled}
	case exists(copied):
		if err := kv.Rename(copied, useless); err != nil {
			return response{refused, err.Error()}
		}
		r.OnMove(o.Shard, "cancelled")
		_ = os.Truncate(useless, 0) // later, if it fails
		return response{State: cancelled}
	case exists(useless):
		return response{State: cancelled}
	case exists(FilePath(r.Folder, o.Shard)):
		return response{State: taken}
	}
	return response{State: nothing}
}

// arrived reports whether the file of a shard has come by a move since the last call.
func (r *receiver) arrived(shard int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	came := r.came[shard]
	delete(r.came, shard)
	return came
}

// exists reports whether there is a file, or may be one.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, os.ErrNotExist)
}
