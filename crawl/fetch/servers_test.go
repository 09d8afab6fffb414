package fetch

import (
	"errors"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

// A silent name server gets less time, unless it is the only one. It is skipped if another one
// answers, and queried again now and then.
func TestSilentServers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s servers
		want := func(what string, hurries, passed bool) {
			t.Helper()
			if h, p := s.hurries("first"), s.passesOver("first"); h != hurries || p != passed {
				t.Errorf("%s: gets less time %v, is passed over %v", what, h, p)
			}
		}
		want("never asked", false, false)
		s.meet("first")
		s.note("first", nil, errors.New("refused"))
		want("not there", false, false)
		s.note("first", nil, os.ErrDeadlineExceeded)
		for range maxHurried {
			want("silent, and perhaps not alone", true, false)
		}
		want("silent and alone", false, false)
		s.meet("second")
		want("there is another one", true, false)
		s.note("second", nil, os.ErrDeadlineExceeded)
		want("all are silent", false, false)
		s.note("second", answered(5), nil)
		want("another one refuses to say", true, false)
		s.note("second", answered(0), nil)
		want("another one answers", true, true)
		time.Sleep(silentFor)
		want("asked again", true, false)
		want("asked again once", true, true)
		s.note("second", nil, errors.New("refused"))
		want("the other one is not there any more", true, false)
		s.note("first", answered(0), nil)
		want("it answers", false, false)
	})
}

// A name server of this machine's previous network does not cause others to be skipped.
func TestServersOfAnotherNetwork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s servers
		s.meet("there")
		s.note("there", answered(0), nil)
		time.Sleep(time.Hour)
		s.meet("here")
		s.note("here", nil, os.ErrDeadlineExceeded)
		if s.passesOver("here") {
			t.Error("it is passed over")
		}
	})
}

// answered returns the relevant part of an answer with a code.
func answered(code byte) []byte { return []byte{0, 0, 0x81, 0x80 | code} }
