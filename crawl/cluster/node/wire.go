package node

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/cluster/exchange"
	"github.com/sumi-ripple/ripple/crawl/cluster/hub"
	"github.com/sumi-ripple/ripple/crawl/cluster/strictjson"
	"github.com/sumi-ripple/ripple/crawl/cluster/termination"
)

// The questions to a shard, each in a lane of its own. The other lanes are for letters, and are named after the
// numbers of the shards that send them.
const (
	forReading = "R"
	forFinish  = "F"
	forReport  = "S"
	forStop    = "X"
	forRelease = "G"
	forCopy    = "C" // see package snapshot
	forMove    = "M" // also of nodes, and of the blocks of a file
	forTwin    = "T"
)

// How many messages of one lane are answered at a time. A shard has at most one open letter to another one, and its
// errands there, which are far fewer than its hosts. The shard that looks for the end of the run asks all others for
// readings.
const (
	maxLetters   = 128
	maxQuestions = 16
)

var errMessage = errors.New("message")

// lanes returns the lanes of a shard, with their limits.
func lanes(own, shards int) map[string]int {
	all := map[string]int{}
	for n := range shards {
		if n != own {
			all[strconv.Itoa(n)] = maxLetters
		}
	}
	for _, what := range []string{forReading, forFinish, forReport, forStop, forRelease, forCopy, forMove, forTwin} {
		all[what] = maxQuestions
	}
	return all
}

// A wire sends messages to the shards of a terrain.
type wire struct {
	carrier *hub.Carrier
	from    int // the shard that sends letters
}

// of returns the wire for the letters of a shard.
func (w wire) of(shard int) wire { return wire{w.carrier, shard} }

// Ask implements [exchange.Carrier].
func (w wire) Ask(ctx context.Context, shard int, letter []byte) ([]byte, error) {
	return w.carrier.Ask(ctx, strconv.Itoa(w.from), shard, letter)
}

func (w wire) send(ctx context.Context, shard int, what string, message []byte) ([]byte, error) {
	return w.carrier.Ask(ctx, what, shard, message)
}

// A reply answers a question about the end of a run.
type reply struct {
	Reading termination.Reading `json:"reading"`
	Why     string              `json:"why"` // why it failed; empty: it did not
}

// A letGo is the answer of a node that lets go of a shard.
type letGo struct {
	Path string `json:"path"` // of its file
}

// A twin is a process that runs with the ID of another one, and says so to it. The answer is the other one's.
type twin struct {
	Instance string `json:"instance"` // of the process that is told
	Name     string `json:"name"`     // of the one that tells, with its address
}

// Reading implements [termination.Readings].
func (w wire) Reading(ctx context.Context, shard int) (termination.Reading, error) {
	return w.ask(ctx, shard, forReading, nil)
}

// Finish implements [termination.Readings].
func (w wire) Finish(ctx context.Context, shard int, agreed termination.Reading) error {
	_, err := w.ask(ctx, shard, forFinish, strictjson.Encode(agreed))
	return err
}

func (w wire) ask(ctx context.Context, shard int, what string, question []byte) (termination.Reading, error) {
	text, err := w.send(ctx, shard, what, question)
	if err != nil {
		return termination.Reading{}, err
	}
	var said reply
	if err := decode(text, &said); err != nil {
		return termination.Reading{}, err
	}
	if said.Why != "" {
		return termination.Reading{}, errors.New(said.Why)
	}
	return said.Reading, nil
}

// A speaker answers for a shard.
type speaker interface {
	Answer(ctx context.Context, letter []byte) ([]byte, error)
	Reading(ctx context.Context) (termination.Reading, error)
	Finish(ctx context.Context, agreed termination.Reading) error
	Report(ctx context.Context) (Report, error)
	Stop() // stops its node
}

// answer answers an untrusted message, in the lane in which it came. An error sends no answer.
func answer(ctx context.Context, s speaker, lane string, message []byte) ([]byte, error) {
	switch lane {
	case forReading:
		r, err := s.Reading(ctx)
		return replied(r, err)
	case forFinish:
		var agreed termination.Reading
		if err := decode(message, &agreed); err != nil {
			return nil, err
		}
		return replied(termination.Reading{}, s.Finish(ctx, agreed))
	case forReport:
		r, err := s.Report(ctx)
		return strictjson.Encode(r), err
	case forStop:
		s.Stop()
		return strictjson.Encode(reply{}), nil
	}
	text, err := s.Answer(ctx, message)
	if errors.Is(err, crawl.ErrEnded) { // otherwise the sender would wait for an answer in vain
		return exchange.NotNow(), nil
	}
	return text, err
}

// replied returns the reply to a shard that looks for the end of a run. It returns [crawl.ErrLease], and no reply,
// if another node may have to answer.
func replied(r termination.Reading, err error) ([]byte, error) {
	switch {
	case errors.Is(err, crawl.ErrLease):
		return nil, err
	case err != nil:
		return strictjson.Encode(reply{Why: err.Error()}), nil
	}
	return strictjson.Encode(reply{Reading: r}), nil
}

// decode decodes an untrusted value.
func decode(text []byte, into any) error {
	if len(text) > exchange.MaxLetter {
		return fmt.Errorf("%w of %d bytes", errMessage, len(text))
	}
	if err := strictjson.Decode(text, into); err != nil {
		return fmt.Errorf("%w: %w", errMessage, err)
	}
	return nil
}
