package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/sumi-ripple/ripple/crawl/census"
	"github.com/sumi-ripple/ripple/crawl/cluster/hub"
	"github.com/sumi-ripple/ripple/crawl/cluster/lease"
	"github.com/sumi-ripple/ripple/crawl/cluster/strictjson"
	"github.com/sumi-ripple/ripple/crawl/cluster/transfer"
	"github.com/sumi-ripple/ripple/schema"
)

var (
	errMoving   = errors.New("the shard is being moved")
	errMoved    = errors.New("the shard was moved")
	errGiven    = errors.New("the shard was given to another node, which has not taken it yet")
	errNotMoved = errors.New("the shard was not moved")
)

// A wish is a message to the node that holds a shard: it is to be moved, or only asked about.
type wish struct {
	Move string `json:"move"` // its ID
	To   peer   `json:"to"`
	Ask  bool   `json:"ask"`
}

// A Progress is how far a move is.
type Progress struct {
	Done int64  `json:"done"` // bytes that are equal, in the present pass over the file
	Size int64  `json:"size"` // of the file
	Stop bool   `json:"stop"` // the shard is stopped, and the second pass has begun
	Over bool   `json:"over"` // the shard is not moved
	Why  string `json:"why"`  // the reason for that
}

// A handover is a move of a shard away from this node.
type handover struct {
	given
	mu  sync.Mutex
	now Progress
}

func (m *handover) progress(change func(*Progress)) Progress {
	m.mu.Lock()
	defer m.mu.Unlock()
	change(&m.now)
	return m.now
}

func (m *handover) look() Progress { return m.progress(func(*Progress) {}) }

// fail ends a move before the shard was given away.
func (m *handover) fail(err error) {
	m.progress(func(p *Progress) { p.Over, p.Why = true, schema.Clean(err.Error(), 300) })
}

// The handovers of a node are the last moves of its shards.
type handovers struct {
	mu   sync.Mutex
	last map[int]*handover
	kept map[int]bool // shards that were given away, and are to stay if possible
}

// keep makes the node keep a shard that it has given away, if that is still possible.
func (hs *handovers) keep(shard int) {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	hs.kept[shard] = true
}

// stays reports whether a shard is to stay.
func (hs *handovers) stays(shard int) bool {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	return hs.kept[shard]
}

// settled forgets that a shard was to stay.
func (hs *handovers) settled(shard int) {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	delete(hs.kept, shard)
}

// wished answers a wish for a move of the shard, and begins that move if it can.
func (h *holding) wished(message []byte) ([]byte, error) {
	var w wish
	if err := decode(message, &w); err != nil {
		return nil, err
	}
	if !moveID.MatchString(w.Move) {
		return nil, fmt.Errorf("%w about shard %d", errMessage, h.shard)
	}
	hs := &h.node.handovers
	hs.mu.Lock()
	defer hs.mu.Unlock()
	m := hs.last[h.shard]
	switch {
	case m != nil && m.Move == w.Move:
		return strictjson.Encode(m.look()), nil
	case w.Ask:
		return strictjson.Encode(Progress{Over: true, Why: "its machine was started again"}), nil
	case w.To.ID == h.node.ID:
		return strictjson.Encode(Progress{Over: true, Why: "that machine has it"}), nil
	}
	m = &handover{given: given{w.Move, w.To}}
	select {
	case h.wishes <- m:
		hs.last[h.shard] = m
		return strictjson.Encode(m.look()), nil
	default:
		return strictjson.Encode(Progress{Over: true, Why: "it is being moved already"}), nil
	}
}

// A sending is the copying of a file to another node, on a connection of its own, so that renewals of leases never wait
// for it.
type sending struct {
	*handover
	node   *node
	shard  int
	conn   *hub.Conn
	bucket *hub.Bucket
}

func (h *holding) newSending(ctx context.Context, m *handover) (*sending, error) {
	conn, err := h.node.Hub.Another(ctx)
	if err != nil {
		return nil, err
	}
	bucket, err := conn.Bucket(ctx, h.node.bucket.Terrain())
	if err != nil {
		conn.Close()
		return nil, err
	}
	return &sending{m, h.node, h.shard, conn, bucket}, nil
}

// order tells the other node to do something, and returns an error unless it answers as wanted.
func (s *sending) order(ctx context.Context, do string, size int64, wanted string) error {
	for began := time.Now(); ; {
		text, err := s.insist(ctx, s.To.ID, strictjson.Encode(order{do, s.shard, s.Move, size}))
		var r response
		if err == nil {
			err = decode(text, &r)
		}
		if err != nil || r.State == wanted {
			return err
		}
		if r.State != busy || time.Since(began) > s.node.Timing.Patience() {
			return fmt.Errorf("%s says %s: %s", schema.Clean(s.To.Name, 100), r.State, schema.Clean(r.Why, 200))
		}
		if err := sleep(ctx, s.node.Timing.Renew/10); err != nil {
			return err
		}
	}
}

// insist sends a message to a node until it is answered, for no longer than Patience.
func (s *sending) insist(ctx context.Context, to string, message []byte) ([]byte, error) {
	for began := time.Now(); ; {
		asking, cancel := context.WithTimeout(ctx, lookTime)
		text, err := s.bucket.AskNode(asking, forMove, to, message)
		cancel()
		switch {
		case err == nil:
			return text, nil
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case time.Since(began) > s.node.Timing.Patience():
			return nil, fmt.Errorf("%s does not answer: %w", schema.Clean(s.To.Name, 100), err)
		}
		if err := sleep(ctx, s.node.Timing.Renew/10); err != nil {
			return nil, err
		}
	}
}

// copy makes the copy equal to the file, and returns how many bytes differed.
func (s *sending) copy(ctx context.Context, f *file) (sent int64, err error) {
	from, size, err := f.Raw()
	if err != nil {
		return 0, err
	}
	s.progress(func(p *Progress) { p.Size = size })
	ask := func(ctx context.Context, question []byte) ([]byte, error) { return s.insist(ctx, s.Move, question) }
	return transfer.Send(ctx, from, size, ask, func(done int64) { s.progress(func(p *Progress) { p.Done = done }) })
}

// prepares copies the file of the shard while it is being crawled, for each wish, until one was copied. Then it calls
// stop, which ends the crawl.
func (h *holding) prepares(ctx context.Context, stop context.CancelCauseFunc) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case m := <-h.wishes:
			s, err := h.newSending(ctx, m)
			if err == nil {
				if err = h.copyRunning(ctx, s); err == nil {
					h.gives = s
					stop(errMoving)
					return nil
				}
				s.conn.Close()
			}
			h.refuse(m, err)
		}
	}
}

// refuse records that the shard stays here.
func (h *holding) refuse(m *handover, err error) {
	m.fail(err)
	h.node.Log.Warn("a shard is not moved", "shard", h.shard, "to", m.To.Name, "why", err)
}

func (h *holding) copyRunning(ctx context.Context, s *sending) error {
	_, size, err := h.file.Raw()
	if err != nil {
		return err
	}
	h.node.Log.Info("a shard is copied to another node, and crawled meanwhile", "shard", h.shard, "to", s.To.Name,
		"bytes", size)
	if err := s.order(ctx, toBegin, size, ready); err != nil {
		return err
	}
	if _, err := s.copy(ctx, h.file); err != nil {
		return err
	}
	h.node.OnMove(h.shard, "copied")
	return nil
}

// give gives the file of the shard, which is no longer crawled, to another node. It returns [errNotMoved] if the file
// was not marked, so that the shard stays here.
func (h *holding) give(ctx context.Context, s *sending) error {
	n, f := h.node, h.file
	defer s.conn.Close()
	h.door.open(idle{n.cfg, n.Stop, census.CauseShard, fmt.Sprintf("being moved to %.100s", s.To.Name)})
	defer h.serve(ctx)()
	n.OnShard(h.shard, "moving")
	s.progress(func(p *Progress) { p.Stop, p.Done = true, 0 })
	f.committed()
	n.OnMove(h.shard, "stopped")
	err := h.copyStopped(ctx, s)
	if err != nil {
		aside, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookTime)
		defer cancel()
		_, _ = s.bucket.AskNode(aside, forMove, s.To.ID, strictjson.Encode(order{toCancel, h.shard, s.Move, 0}))
		h.refuse(s.handover, err)
		return fmt.Errorf("%w: %w", errNotMoved, err)
	}
	n.OnMove(h.shard, "copied whole")
	if err := f.give(s.given); err != nil {
		return err
	}
	n.OnMove(h.shard, "marked")
	return nil
}

// copyStopped makes the copy equal to the file, and finds nothing that differs in a last pass.
func (h *holding) copyStopped(ctx context.Context, s *sending) error {
	if h.file.empty() {
		return errors.New("it was never crawled")
	}
	for again := true; again; {
		sent, err := s.copy(ctx, h.file)
		if err != nil {
			return err
		}
		again = sent > 0
	}
	_, size, err := h.file.Raw()
	if err == nil {
		err = s.order(ctx, toFinish, size, whole)
	}
	if err == nil && !h.lease.Held() {
		err = lease.ErrLost
	}
	return err
}

// settle returns at once if the file was not given away, or to this node. Otherwise it returns errMoved when another
// node has taken the shard, and nil if the shard may be taken here again, because the other node will never use its
// copy. It returns errGiven if the run is over before.
func (h *holding) settle(ctx context.Context) error {
	n, f := h.node, h.file
	g, err := f.given()
	if err != nil || g == nil {
		return err
	}
	if g.To.ID == n.ID { // it was copied here by hand, and is as good as the other copy
		if err := os.Remove(copyPath(n.Folder, h.shard, g.Move, complete)); !errors.Is(err, os.ErrNotExist) {
			return err
		}
		return nil
	}
	defer n.handovers.settled(h.shard)
	n.OnShard(h.shard, "given")
	h.speak(ctx, idle{n.cfg, n.Stop, census.CauseShard,
		fmt.Sprintf("given to %.100s: waiting until it takes the shard", g.To.Name)})
	defer h.hush()
	id, err := lease.FileID(f.path)
	if err != nil {
		return err
	}
	for began, said := time.Now(), false; ; {
		if over, err := h.settled(ctx, *g, id); over || err != nil {
			return err
		}
		if n.member.over() {
			return errGiven
		}
		if !said && time.Since(began) > n.Timing.Patience() {
			said = true
			n.Log.Warn("a shard was given to another node, which has not taken it yet", "shard", h.shard, "to", g.To.Name,
				"to keep it", fmt.Sprintf("ripple shard move %d --to this machine", h.shard))
		}
		if err := sleep(ctx, n.Timing.Renew/10); err != nil {
			return err
		}
	}
}

// settled tells the other node once to take the shard, or to leave it here, and looks at the record.
func (h *holding) settled(ctx context.Context, g given, id string) (over bool, err error) {
	n, f := h.node, h.file
	if err := f.Present(); err != nil {
		return false, err
	}
	asking, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	if err := lease.Yield(asking, n.bucket, hub.Key(h.shard), n.ID, id); err != nil {
		return false, nil // the hub is away
	}
	has, err := lease.Look(asking, n.bucket, hub.Key(h.shard))
	if err != nil {
		return false, nil
	}
	if has.Epoch > f.epoch {
		return false, fmt.Errorf("%s: %w", f.path, lease.ErrRecreated)
	}
	if has.Filed {
		if within, err := f.Contains(has.Opening, has.Commit); err != nil || !within {
			n.OnMove(h.shard, "claimed")
			return true, errors.Join(err, errMoved)
		}
	}
	do := toTake
	if n.handovers.stays(h.shard) {
		do = toCancel
	}
	var r response
	text, err := n.bucket.AskNode(asking, forMove, g.To.ID, strictjson.Encode(order{do, h.shard, g.Move, 0}))
	if err != nil || decode(text, &r) != nil {
		return false, nil
	}
	return r.State == cancelled, nil
}
