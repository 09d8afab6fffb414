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

// What a shard is asked, each in a lane of its own. The other lanes are named after the numbers of
// shards, whose letters come in them.
const (
	forReading = "R"
	forFinish  = "F"
	forReport  = "S"
	forStop    = "X"
	forRelease = "G"
)

// How many messages of one lane are answered at a time. A shard has one letter to another one open, and its
// errands there, which are far fewer than hosts. A shard that looks for the end of the run asks all
// others for readings.
const (
	maxLetters   = 128
	maxQuestions = 16
)

var errMessage = errors.New("message")

// lanes are those of a shard.
func lanes(own, shards int) map[string]int {
	all := map[string]int{}
	for n := range shards {
		if n != own {
			all[strconv.Itoa(n)] = maxLetters
		}
	}
	for _, what := range []string{forReading, forFinish, forReport, forStop, forRelease} {
		all[what] = maxQuestions
	}
	return all
}

// A wire reaches the shards of a terrain.
type wire struct {
	carrier *hub.Carrier
	from    int // the shard that writes letters
}

// of is the wire for the letters of a shard.
func (w wire) of(shard int) wire { return wire{w.carrier, shard} }

// Ask implements [exchange.Carrier].
func (w wire) Ask(ctx context.Context, shard int, letter []byte) ([]byte, error) {
	return w.carrier.Ask(ctx, strconv.Itoa(w.from), shard, letter)
}

func (w wire) send(ctx context.Context, shard int, what string, message []byte) ([]byte, error) {
	return w.carrier.Ask(ctx, what, shard, message)
}

// A reply is the answer to a question about the end of a run.
type reply struct {
	Reading termination.Reading `json:"reading"`
	Why     string              `json:"why"` // it is not done; empty: it is
}

// A letGo is the answer of a node that lets a shard go.
type letGo struct {
	Path string `json:"path"` // of its file
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
	Stop() // has its node stop
}

// answer answers a message that anybody may have written, in the lane in which it came. An error is
// no answer.
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
	if errors.Is(err, crawl.ErrEnded) { // the writer would wait for an answer until its patience ends
		return exchange.NotNow(), nil
	}
	return text, err
}

// replied is the answer to a shard that looks for the end of a run, or none if another node may have to answer.
func replied(r termination.Reading, err error) ([]byte, error) {
	switch {
	case errors.Is(err, crawl.ErrLease):
		return nil, err
	case err != nil:
		return strictjson.Encode(reply{Why: err.Error()}), nil
	}
	return strictjson.Encode(reply{Reading: r}), nil
}

// decode reads one value that anybody may have written.
func decode(text []byte, into any) error {
	if len(text) > exchange.MaxLetter {
		return fmt.Errorf("%w of %d bytes", errMessage, len(text))
	}
	if err := strictjson.Decode(text, into); err != nil {
		return fmt.Errorf("%w: %w", errMessage, err)
	}
	return nil
}
