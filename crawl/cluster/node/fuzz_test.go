package node

import (
	"context"
	"errors"
	"testing"

	"github.com/sumi-ripple/ripple/crawl/cluster/strictjson"
	"github.com/sumi-ripple/ripple/crawl/cluster/termination"
)

// An untrusted charter is rejected, or it is usable.
func FuzzCharter(f *testing.F) {
	f.Add(strictjson.Encode(newCharter(3, digests([]byte("[a]\nb = 1\n[[c]]\nd = 2\n")))))
	f.Add(strictjson.Encode(restored(newCharter(2, nil).part(1), nil)))
	f.Add([]byte(`{"protocol": 2, "terrain": "AAAA", "rule": 1, "run": 1, "made": true, "over": []}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := decodeCharter(text)
		if err != nil {
			return
		}
		known := newCharter(c.shards(), nil)
		known.Run, known.Configuration, known.Made, known.Epochs[0] = 7, 3, true, 2
		if c.learn(known); c.learn(known) || c.Run < 7 || !c.Made || c.Epochs[0] < 2 {
			t.Errorf("learnt: %+v", c)
		}
		again, err := decodeCharter(strictjson.Encode(c))
		if err != nil || !again.same(c) || again.learn(c) {
			t.Errorf("%+v comes back as %+v, %v", c, again, err)
		}
	})
}

// A deaf speaker answers with zero values.
type deaf struct{}

var errDeaf = errors.New("deaf")

func (deaf) Answer(context.Context, []byte) ([]byte, error) { return nil, errDeaf }
func (deaf) Reading(context.Context) (termination.Reading, error) {
	return termination.Reading{Idle: true}, nil
}
func (deaf) Report(context.Context) (Report, error)                     { return Report{Over: true}, nil }
func (deaf) Stop()                                                      {}
func (deaf) Finish(_ context.Context, agreed termination.Reading) error { return nil }

// An untrusted message gets an answer that can be decoded, or none.
func FuzzMessage(f *testing.F) {
	f.Add(forReading, []byte{})
	f.Add(forReport, []byte{})
	f.Add(forStop, []byte{})
	f.Add(forFinish, strictjson.Encode(termination.Reading{Commit: 7}))
	f.Add(forFinish, []byte{'{'})
	f.Add("1", []byte{'{'})
	f.Add("", []byte{})
	f.Fuzz(func(t *testing.T, lane string, message []byte) {
		text, err := answer(t.Context(), deaf{}, lane, message)
		if err != nil || lane == forReport {
			return
		}
		var said reply
		if err := decode(text, &said); err != nil || said.Why != "" {
			t.Errorf("%q is answered with %q: %v", message, text, err)
		}
	})
}
