package outage

import (
	"fmt"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/schema/process"
)

func at(s float64) time.Time {
	return time.Unix(1000, 0).Add(time.Duration(s * float64(time.Second)))
}

// watchOf is a watch of so many hosts that have answered.
func watchOf(hosts uint64) *Watch {
	w := &Watch{}
	for h := range hosts {
		w.Answered(h+1, "", at(0), at(0), at(0))
	}
	return w
}

func TestBegins(t *testing.T) {
	own := func(host uint64) Failure { return Failure{Host: host, Sent: at(1), Own: true, Network: true} }
	silent := func(host uint64) Failure { return Failure{Host: host, Sent: at(1), Network: true} }
	met := func(host uint64) Failure { return Failure{Host: host, Sent: at(1), Network: true, Met: true} }
	tests := []struct {
		name     string
		answered uint64
		failures []Failure
		want     bool
	}{
		{"five hosts that answered", 20, []Failure{silent(1), silent(2), silent(3), silent(4), silent(5)}, true},
		{"four of many", 20, []Failure{silent(1), silent(2), silent(3), silent(4)}, false},
		{"one host, five times", 20, []Failure{silent(1), silent(1), silent(1), silent(1), silent(1)}, false},
		{"all three", 3, []Failure{silent(1), silent(2), silent(3)}, true},
		{"both of two", 2, []Failure{silent(1), silent(2)}, false},
		{"hosts that never answered", 3, []Failure{silent(4), silent(5), silent(6), silent(7), silent(8)}, false},
		{"three that answered an earlier process", 0, []Failure{met(1), met(2), met(3)}, true},
		{"two that answered an earlier process", 0, []Failure{met(1), met(2), silent(3), silent(4)}, false},
		{"such, where many answer", 20, []Failure{met(21), met(22), met(23), silent(1)}, false},
		{"such among many", 20, []Failure{met(21), met(22), met(23), silent(1), silent(2)}, true},
		{"no route at the only host", 1, []Failure{own(1)}, true},
		{"no route at the start", 0, []Failure{own(1)}, true},
		{"no route at one of many hosts", 20, []Failure{own(1)}, true},
		{"no route, at a host that never answered", 20, []Failure{own(30)}, true},
		{"refused bodies", 3, []Failure{{Host: 1, Sent: at(1)}, {Host: 2, Sent: at(1)}, {Host: 3, Sent: at(1)}}, false},
		{"sent before the last answer", 3, []Failure{
			{Host: 1, Sent: at(-1), Network: true}, {Host: 2, Sent: at(-1), Network: true},
			{Host: 3, Sent: at(-1), Network: true},
		}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w, begun := watchOf(tt.answered), false
			for _, f := range tt.failures {
				if w.Failed(f, at(2)) == Begun {
					if begun {
						t.Error("it begins twice")
					}
					begun = true
				}
			}
			if _, _, away := w.Away(); begun != tt.want || away != tt.want {
				t.Errorf("begun %v, away %v, want %v", begun, away, tt.want)
			}
		})
	}
}

// Hosts of one server that fail together tell of an outage only when nobody elsewhere has answered for a while.
func TestOneServer(t *testing.T) {
	for elsewhere, want := range map[bool]bool{true: false, false: true} {
		w := watchOf(0)
		for host := range uint64(20) {
			w.Answered(host+1, "192.0.2.1", at(0), at(0), at(0))
		}
		w.Answered(21, "192.0.2.2", at(0), at(0), at(0))
		now := 100.0
		if elsewhere {
			w.Answered(21, "192.0.2.2", at(99), at(99), at(99))
		}
		for _, its := range []string{"192.0.2.3", "192.0.2.1", "192.0.2.3"} { // its hosts are asked at both of its addresses
			w.Answered(1, its, at(now), at(now), at(now))
		}
		w.Answered(22, "", at(now), at(now), at(now)) // as where connect-to says what is dialled
		fail := func(host uint64, address, next string) bool {
			f := Failure{Host: host, Address: address, Next: next, Sent: at(now + 1), Network: true}
			return w.Failed(f, at(now+2)) == Begun
		}
		begun := false
		for host := range uint64(20) {
			begun = fail(host+1, "192.0.2.1", "192.0.2.3") || begun
		}
		for host := range uint64(20) { // each is asked at the other address of the server then
			begun = fail(host+1, "192.0.2.3", "192.0.2.1") || begun
		}
		if begun != want {
			t.Errorf("somebody elsewhere has answered: %v; an outage begins: %v", elsewhere, begun)
		}
		if elsewhere && !fail(21, "192.0.2.2", "192.0.2.2") {
			t.Error("no outage though another server fails, too")
		}
	}
}

// Hosts that have addresses in common are of one server, however many it has, and wherever each is asked first.
func TestAddressesInCommon(t *testing.T) {
	address := func(last int) string { return fmt.Sprint("192.0.2.", last) }
	for name, of := range map[string]func(host int) (address, next int){
		"three":             func(host int) (int, int) { return 1 + host%3, 1 + (host+1)%3 },
		"two":               func(host int) (int, int) { return 1 + host%2, 1 + (host+1)%2 },
		"one, asked first":  func(host int) (int, int) { return 1, 10 + host },
		"one, asked second": func(host int) (int, int) { return 10 + host, 1 },
	} {
		w := watchOf(0)
		w.Answered(21, address(200), at(99), at(99), at(99))
		for host := range 7 {
			its, _ := of(host)
			w.Answered(uint64(host+1), address(its), at(100), at(100), at(100))
		}
		for host := range 7 {
			its, next := of(host)
			f := Failure{Host: uint64(host + 1), Address: address(its), Next: address(next), Sent: at(101), Network: true}
			if w.Failed(f, at(102)) == Begun {
				t.Errorf("%s: an outage begins with %d hosts", name, host+1)
			}
		}
		if w.Failed(Failure{Host: 21, Address: address(200), Sent: at(101), Network: true}, at(102)) != Begun {
			t.Errorf("%s: no outage though another server fails, too", name)
		}
	}
}

// However many hosts of one server fail, each takes as long to take notice of.
func TestManyHostsOfOneServer(t *testing.T) {
	took := func(hosts uint64) time.Duration {
		w := watchOf(hosts)
		w.Answered(hosts+1, "192.0.2.200", at(99), at(99), at(99))
		begun := process.CPUTime()
		for host := range hosts {
			f := Failure{Host: host + 1, Address: fmt.Sprint("192.0.2.", 1+host%2), Next: fmt.Sprint("192.0.2.", 2-host%2),
				Sent: at(100), Network: true}
			if w.Failed(f, at(101)) == Begun {
				t.Fatalf("an outage begins with %d hosts", host+1)
			}
		}
		return process.CPUTime() - begun
	}
	if few, many := took(1000), took(16_000); many > 100*max(few, 10*time.Millisecond) {
		t.Errorf("1,000 hosts take %v, 16,000 take %v", few, many)
	}
}

// Two servers of one address each are not one of two.
func TestTwoServers(t *testing.T) {
	w := watchOf(0)
	for host := range uint64(20) {
		w.Answered(host+1, fmt.Sprint("192.0.2.", host%3), at(99), at(99), at(99))
	}
	begun := false
	for host := range uint64(20) {
		if address := fmt.Sprint("192.0.2.", host%3); host%3 > 0 {
			f := Failure{Host: host + 1, Address: address, Next: address, Sent: at(100), Network: true}
			begun = w.Failed(f, at(101)) == Begun || begun
		}
	}
	if !begun {
		t.Error("no outage though two servers fail")
	}
}

// Requests that were open while the machine was suspended fail together, and show nothing of the network.
func TestSuspendedShowsNothing(t *testing.T) {
	w := watchOf(20)
	fail := func(sent, end float64, hosts ...uint64) (begun bool) {
		for _, host := range hosts {
			begun = w.Failed(Failure{Host: host, Sent: at(sent), Network: true}, at(end)) == Begun || begun
		}
		return begun
	}
	begun := fail(1, 2, 1, 2, 3, 4)
	w.Suspended(at(100))
	if begun || fail(3, 100, 5, 6, 7, 8, 9, 10) {
		t.Error("requests that were suspended are an outage")
	}
	if fail(101, 102, 1, 2, 3, 4) || !fail(101, 102, 5) {
		t.Error("an outage begins not with the fifth host that fails after a suspension")
	}
}

// Hosts that fall silent together at the end of a crawl are an outage for half an hour, and then to blame, unless
// something of this machine's own fails, too.
func TestDoubted(t *testing.T) {
	for _, alone := range []bool{true, false} {
		w, doubts := watchOf(20), 0
		all := func(now float64) (begun bool) {
			for host := range uint64(5) {
				switch w.Failed(Failure{Host: host + 1, Sent: at(now - 1), Network: true, Alone: alone}, at(now)) {
				case Begun:
					begun = true
				case Doubted:
					doubts++
				}
			}
			return begun
		}
		if !all(2) || all(1700) {
			t.Fatalf("alone %t: no outage, or a second one", alone)
		}
		if begun := all(1900); begun || w.Blameless(at(1899)) == alone {
			t.Errorf("alone %t, after half an hour: begun %t, blameless %t", alone, begun, w.Blameless(at(1899)))
		}
		if told := doubts == 1; told != alone {
			t.Errorf("alone %t: doubted %d times", alone, doubts)
		}
		w.Answered(9, "", at(2000), at(2000), at(2000))
		if !all(2010) {
			t.Errorf("alone %t: no outage after an answer", alone)
		}
	}
}

// Many hosts that are silent are an outage for half a day.
func TestDoubtedLate(t *testing.T) {
	w, doubted := watchOf(20), 0.0
	for now := 2.0; doubted == 0 && now < 24*3600; now += 60 {
		host := uint64(now/60)%many + 1
		if now < 62 {
			for other := range uint64(5) {
				w.Failed(Failure{Host: other + 1, Sent: at(now - 1), Network: true, Alone: true}, at(now))
			}
		}
		if w.Failed(Failure{Host: host, Sent: at(now - 1), Network: true, Alone: true}, at(now)) == Doubted {
			doubted = now
		}
	}
	if want := manyFor.Seconds(); doubted < want || doubted > want+120 {
		t.Errorf("doubted after %v s, want %v", doubted, want)
	}
}

// An outage that something of this machine's own has shown is doubted half an hour after that, and after
// the machine woke: then the network may be there, and the only hosts that are left be dead.
func TestDoubtedLater(t *testing.T) {
	w := watchOf(0)
	fail := func(now float64, own bool) News {
		return w.Failed(Failure{Host: 1, Sent: at(now - 1), Own: own, Alone: !own, Network: true}, at(now))
	}
	if fail(2, true) != Begun || fail(1900, false) != Doubted {
		t.Error("an outage does not begin, or is not doubted")
	}
	if fail(2000, false) != None || w.Blameless(at(2000)) {
		t.Error("who fails after a doubt is not to blame")
	}
	if fail(2100, true) != Begun || fail(3000, true) != None || fail(4000, false) != None {
		t.Error("an outage is doubted too early")
	}
	w.Suspended(at(4500))
	if fail(5000, false) != None || fail(6400, false) != Doubted {
		t.Error("an outage is not doubted half an hour after the machine woke")
	}
}

// An answer between failures shows that the network is there.
func TestAnswerBetween(t *testing.T) {
	w := watchOf(3)
	for round := range 10 {
		w.Failed(Failure{Host: 1, Sent: at(float64(round)), Network: true}, at(float64(round)+1))
		if w.Failed(Failure{Host: 2, Sent: at(float64(round)), Network: true}, at(float64(round)+1)) == Begun {
			t.Fatal("an outage begins")
		}
		w.Answered(3, "", at(float64(round)), at(float64(round)+1), at(float64(round)+1))
	}
}

// An outage is probed ever more seldom, an answer ends it, and it is nobody's fault.
func TestCourse(t *testing.T) {
	w := watchOf(1)
	told := make(chan struct{}, 1)
	stop := w.Listen(told)
	defer stop()
	if w.Blameless(at(1)) {
		t.Error("blameless before an outage")
	}
	w.Failed(Failure{Host: 1, Sent: at(2), Own: true}, at(2))
	<-told
	now := 2.0
	for _, gap := range []float64{5, 10, 20, 40, 60, 60} {
		if _, probe, _ := w.Away(); !probe.Equal(at(now + gap)) {
			t.Errorf("the next probe is %v after the last, want %v", probe.Sub(at(now)), gap)
		}
		now += gap
		w.Probed(at(now))
	}
	if !w.Blameless(at(now)) || !w.Answered(1, "", at(now), at(now+1), at(now+1)) {
		t.Error("the answer does not end it")
	}
	<-told
	if _, _, away := w.Away(); away || !w.Blameless(at(now)) || w.Blameless(at(now+2)) {
		t.Error("requests of the outage are to blame, or later ones are not")
	}
	w.Suspended(at(now + 5))
	if !w.Woke().Equal(at(now+5)) || w.Blameless(at(now+2)) {
		t.Error("a suspension is forgotten, or taken for an outage")
	}
}

// A failure is held until somebody answers, at most 10 s, where an outage can be told.
func TestHold(t *testing.T) {
	if !watchOf(2).Settled(at(5), false, at(5)) {
		t.Error("held though too few hosts have answered")
	}
	if watchOf(2).Settled(at(5), true, at(5)) { // of this machine's own, or of a host that answered before
		t.Error("not held though it is this machine's own")
	}
	w := watchOf(3)
	if w.Settled(at(5), false, at(6)) || !w.Settled(at(5), false, at(15)) {
		t.Error("not held for 10 s")
	}
	w.Answered(2, "", at(6), at(7), at(7))
	if !w.Settled(at(5), false, at(8)) {
		t.Error("held after an answer")
	}
}

// What was sent before the last answer tells of an outage only where it is quiet.
func TestQuiet(t *testing.T) {
	w := watchOf(2)
	w.Answered(3, "", at(5), at(6), at(6))
	for host := range uint64(2) {
		w.Failed(Failure{Host: host + 1, Sent: at(5), Network: true}, at(7))
	}
	if w.Failed(Failure{Host: 3, Sent: at(6), Network: true}, at(7)) == Begun || w.Look(at(10)) {
		t.Error("an outage begins though somebody has just answered")
	}
	if !w.Look(at(11)) || w.Look(at(12)) {
		t.Error("no outage begins when it has been quiet, or it begins twice")
	}
}

// An answer that was on its way when the network went away does not end the outage.
func TestAnswerOnItsWay(t *testing.T) {
	w := watchOf(3)
	w.Failed(Failure{Host: 1, Sent: at(5), Own: true}, at(5))
	if w.Answered(2, "", at(4.5), at(5.01), at(5.2)) {
		t.Error("an answer that was on its way ends the outage")
	}
	if !w.Answered(2, "", at(4.5), at(8), at(8)) {
		t.Error("a late answer does not end the outage")
	}
	w.Failed(Failure{Host: 1, Sent: at(9), Own: true}, at(9))
	if !w.Answered(2, "", at(9.1), at(9.2), at(9.2)) {
		t.Error("the answer to a later request does not end the outage")
	}
}

// An answer says nothing of failures after it, however late it is told.
func TestAnswerToldLate(t *testing.T) {
	w := watchOf(3)
	w.Failed(Failure{Host: 1, Sent: at(1), Network: true}, at(3))
	w.Failed(Failure{Host: 2, Sent: at(1), Network: true}, at(3))
	w.Answered(3, "", at(0), at(1), at(4))
	if w.Failed(Failure{Host: 3, Sent: at(1), Network: true}, at(4)) != Begun {
		t.Error("an earlier answer ended the row")
	}
}
