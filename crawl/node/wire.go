package node

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/accord"
	"github.com/sumi-ripple/ripple/crawl/exchange"
	"github.com/sumi-ripple/ripple/crawl/hub"
)

// A message to a shard begins with a byte that says what it is.
const (
	forLetter  = 'L'
	forReading = 'R'
	forFinish  = 'F'
	forReport  = 'S'
	forStop    = 'X'
	forRelease = 'G'
)

var errMessage = errors.New("message")

// A wire reaches the shards of a terrain.
type wire struct{ carrier *hub.Carrier }

// Ask implements [exchange.Carrier].
func (w wire) Ask(ctx context.Context, shard int, letter []byte) ([]byte, error) {
	return w.send(ctx, shard, forLetter, letter)
}

func (w wire) send(ctx context.Context, shard int, what byte, message []byte) ([]byte, error) {
	return w.carrier.Ask(ctx, shard, append([]byte{what}, message...))
}

// A reply is the answer to a question about the end of a run.
type reply struct {
	Reading accord.Reading `json:"reading"`
	Why     string         `json:"why"` // it is not done; empty: it is
}

// A letGo is the answer of who lets a shard go.
type letGo struct {
	Path string `json:"path"` // of its file
}

// Reading implements [accord.Readings].
func (w wire) Reading(ctx context.Context, shard int) (accord.Reading, error) {
	return w.ask(ctx, shard, forReading, nil)
}

// Finish implements [accord.Readings].
func (w wire) Finish(ctx context.Context, shard int, agreed accord.Reading) error {
	_, err := w.ask(ctx, shard, forFinish, encode(agreed))
	return err
}

func (w wire) ask(ctx context.Context, shard int, what byte, question []byte) (accord.Reading, error) {
	text, err := w.send(ctx, shard, what, question)
	if err != nil {
		return accord.Reading{}, err
	}
	var said reply
	if err := decode(text, &said); err != nil {
		return accord.Reading{}, err
	}
	if said.Why != "" {
		return accord.Reading{}, errors.New(said.Why)
	}
	return said.Reading, nil
}

// A speaker answers for a shard.
type speaker interface {
	Answer(ctx context.Context, letter []byte) ([]byte, error)
	Reading(ctx context.Context) (accord.Reading, error)
	Finish(ctx context.Context, agreed accord.Reading) error
	Report(ctx context.Context) (Report, error)
	Stop() // has its node stop
}

// answer answers a message that anybody may have written. An error is no answer.
func answer(ctx context.Context, s speaker, message []byte) ([]byte, error) {
	if len(message) == 0 {
		return nil, fmt.Errorf("%w: it is empty", errMessage)
	}
	switch what, rest := message[0], message[1:]; what {
	case forLetter:
		return s.Answer(ctx, rest)
	case forReading:
		r, err := s.Reading(ctx)
		return encode(reply{Reading: r}), err
	case forFinish:
		var agreed accord.Reading
		if err := decode(rest, &agreed); err != nil {
			return nil, err
		}
		err := s.Finish(ctx, agreed)
		if errors.Is(err, crawl.ErrLease) {
			return nil, err // another node may answer
		}
		var why string
		if err != nil {
			why = err.Error()
		}
		return encode(reply{Why: why}), nil
	case forReport:
		r, err := s.Report(ctx)
		return encode(r), err
	case forStop:
		s.Stop()
		return encode(reply{}), nil
	default:
		return nil, fmt.Errorf("%w of kind %d", errMessage, what)
	}
}

func encode(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // none of the types can fail
	}
	return text
}

// decode reads one value that anybody may have written.
func decode(text []byte, into any) error {
	if len(text) > exchange.MaxLetter {
		return fmt.Errorf("%w of %d bytes", errMessage, len(text))
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("%w: %w", errMessage, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: something follows", errMessage)
	}
	return nil
}
