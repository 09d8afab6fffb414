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

// someone is a site that always has an open request.
const someone = 1 << 40

// watchOf returns a watch of hosts that have answered, while one more is silent.
func watchOf(hosts uint64) *Watch {
	w := &Watch{}
	w.Asked(someone, at(-100))
	for h := range hosts {
		w.Answered(h+1, h+1, "", at(0), at(0), at(0))
	}
	return w
}

// If hosts of one server fail together, that is an outage only if no other server has answered for
// a while.
func TestOneServer(t *testing.T) {
	for elsewhere, want := range map[bool]bool{true: false, false: true} {
		w := watchOf(0)
		for host := range uint64(20) {
			w.Answered(host+1, host+1, "192.0.2.1", at(0), at(0), at(0))
		}
		w.Answered(21, 21, "192.0.2.2", at(0), at(0), at(0))
		now := 100.0
		if elsewhere {
			w.Answered(21, 21, "192.0.2.2", at(99), at(99), at(99))
		}
		for _, its := range []string{"192.0.2.3", "192.0.2.1", "192.0.2.3"} { // its hosts are requested at both of its addresses
			w.Answered(1, 1, its, at(now), at(now), at(now))
		}
		w.Answered(22, 22, "", at(now), at(now), at(now)) // as with connect-to, where the address is unknown
		fail := func(host uint64, address, next string) bool {
			f := Failure{Host: host, Site: host, Address: address, Next: next, Sent: at(now + 1), Way: Silent}
			return w.Failed(f, at(now+5)) == Begun
		}
		begun := false
		for host := range uint64(20) {
			begun = fail(host+1, "192.0.2.1", "192.0.2.3") || begun
		}
		for host := range uint64(20) { // each is then requested at the server's other address
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

// Hosts that share addresses belong to one server, however many addresses it has, and whichever is tried
// first.
func TestAddressesInCommon(t *testing.T) {
	address := func(last int) string { return fmt.Sprint("192.0.2.", last) }
	for name, of := range map[string]func(host int) (address, next int){
		"three":             func(host int) (int, int) { return 1 + host%3, 1 + (host+1)%3 },
		"two":               func(host int) (int, int) { return 1 + host%2, 1 + (host+1)%2 },
		"one, asked first":  func(host int) (int, int) { return 1, 10 + host },
		"one, asked second": func(host int) (int, int) { return 10 + host, 1 },
	} {
		w := watchOf(0)
		w.Answered(21, 21, address(200), at(99), at(99), at(99))
		for host := range 7 {
			its, _ := of(host)
			w.Answered(uint64(host+1), uint64(host+1), address(its), at(100), at(100), at(100))
		}
		for host := range 7 {
			its, next := of(host)
			f := Failure{Host: uint64(host + 1), Site: uint64(host + 1), Address: address(its), Next: address(next),
				Sent: at(101), Way: Silent}
			if w.Failed(f, at(105)) == Begun {
				t.Errorf("%s: an outage begins with %d hosts", name, host+1)
			}
		}
		if w.Failed(Failure{Host: 21, Site: 21, Address: address(200), Sent: at(101), Way: Silent}, at(105)) != Begun {
			t.Errorf("%s: no outage though another server fails, too", name)
		}
	}
}

// The cost of recording a failure does not grow with the number of failed hosts of one server.
func TestManyHostsOfOneServer(t *testing.T) {
	took := func(hosts uint64) time.Duration {
		w := watchOf(hosts)
		w.Answered(hosts+1, hosts+1, "192.0.2.200", at(99), at(99), at(99))
		begun := process.CPUTime()
		for host := range hosts {
			f := Failure{Host: host + 1, Site: host + 1, Address: fmt.Sprint("192.0.2.", 1+host%2),
				Next: fmt.Sprint("192.0.2.", 2-host%2), Sent: at(100), Way: Silent}
			if w.Failed(f, at(104)) == Begun {
				t.Fatalf("an outage begins with %d hosts", host+1)
			}
		}
		return process.CPUTime() - begun
	}
	if few, many := took(1000), took(16_000); many > 100*max(few, 10*time.Millisecond) {
		t.Errorf("1,000 hosts take %v, 16,000 take %v", few, many)
	}
}

// Requests that were open while the machine was suspended fail together, and are no evidence about
// the network.
func TestSuspendedShowsNothing(t *testing.T) {
	w := watchOf(20)
	fail := func(sent, end float64, hosts ...uint64) (begun bool) {
		for _, host := range hosts {
			begun = w.Failed(Failure{Host: host, Site: host, Sent: at(sent), Way: Silent}, at(end)) == Begun || begun
		}
		return begun
	}
	begun := fail(1, 5, 1, 2, 3, 4)
	w.Suspended(at(100))
	if begun || fail(3, 100, 5, 6, 7, 8, 9, 10) {
		t.Error("requests that were suspended are an outage")
	}
	if fail(101, 105, 1, 2, 3, 4) || !fail(101, 105, 5) {
		t.Error("an outage begins not with the fifth host that fails after a suspension")
	}
}

// If hosts fall silent together at the end of a crawl, that is an outage for half an hour. After
// that the failures are their own, unless something on this machine fails too.
func TestDoubted(t *testing.T) {
	for _, alone := range []bool{true, false} {
		w, doubts := watchOf(20), 0
		all := func(now float64) (begun bool) {
			for host := range uint64(5) {
				switch w.Failed(Failure{Host: host + 1, Site: host + 1, Sent: at(now - 4), Way: Silent, Alone: alone}, at(now)) {
				case Begun:
					begun = true
				case Doubted:
					doubts++
				}
			}
			return begun
		}
		if !all(5) || all(1700) {
			t.Fatalf("alone %t: no outage, or a second one", alone)
		}
		if begun := all(1900); begun || w.Blameless(at(1899)) == alone {
			t.Errorf("alone %t, after half an hour: begun %t, blameless %t", alone, begun, w.Blameless(at(1899)))
		}
		if told := doubts == 1; told != alone {
			t.Errorf("alone %t: doubted %d times", alone, doubts)
		}
		w.Answered(9, 9, "", at(2000), at(2000), at(2000))
		if !all(2100) {
			t.Errorf("alone %t: no outage after an answer", alone)
		}
	}
}

// If many hosts are silent, the outage lasts half a day.
func TestDoubtedLate(t *testing.T) {
	w, doubted := watchOf(20), 0.0
	for now := 5.0; doubted == 0 && now < 24*3600; now += 60 {
		host := uint64(now/60)%many + 1
		if now < 65 {
			for other := range uint64(5) {
				w.Failed(Failure{Host: other + 1, Site: other + 1, Sent: at(now - 4), Way: Silent, Alone: true}, at(now))
			}
		}
		if w.Failed(Failure{Host: host, Site: host, Sent: at(now - 4), Way: Silent, Alone: true}, at(now)) == Doubted {
			doubted = now
		}
	}
	if want := manyFor.Seconds(); doubted < want || doubted > want+120 {
		t.Errorf("doubted after %v s, want %v", doubted, want)
	}
}

// An outage with evidence from this machine itself is doubted half an hour after that evidence, and
// after the machine woke: the network may be back and the only remaining hosts dead.
func TestDoubtedLater(t *testing.T) {
	w := watchOf(0)
	fail := func(now float64, own bool) News {
		f := Failure{Host: 1, Site: 1, Sent: at(now - 1), Way: Silent, Alone: !own}
		if own {
			f.Way = Local
		}
		return w.Failed(f, at(now))
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

// An answer between failures shows that the network works.
func TestAnswerBetween(t *testing.T) {
	w := watchOf(3)
	for round := range 10 {
		w.Failed(Failure{Host: 1, Site: 1, Sent: at(float64(round)), Way: Silent}, at(float64(round)+1))
		if w.Failed(Failure{Host: 2, Site: 2, Sent: at(float64(round)), Way: Silent}, at(float64(round)+1)) == Begun {
			t.Fatal("an outage begins")
		}
		w.Answered(3, 3, "", at(float64(round)), at(float64(round)+1), at(float64(round)+1))
	}
}

// An outage is probed less and less often. An answer ends it, and its failures are blamed on no
// host.
func TestCourse(t *testing.T) {
	w := watchOf(1)
	told := make(chan struct{}, 1)
	stop := w.Listen(told)
	defer stop()
	if w.Blameless(at(1)) {
		t.Error("blameless before an outage")
	}
	w.Failed(Failure{Host: 1, Site: 1, Sent: at(2), Way: Local}, at(2))
	<-told
	now := 2.0
	for _, gap := range []float64{5, 10, 20, 40, 60, 60} {
		if _, probe, _ := w.Away(); !probe.Equal(at(now + gap)) {
			t.Errorf("the next probe is %v after the last, want %v", probe.Sub(at(now)), gap)
		}
		now += gap
		w.Probed(at(now))
	}
	if !w.Blameless(at(now)) || !w.Answered(1, 1, "", at(now), at(now+1), at(now+1)) {
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

// An answer that was under way when the network went down does not end the outage.
func TestAnswerOnItsWay(t *testing.T) {
	w := watchOf(3)
	w.Failed(Failure{Host: 1, Site: 1, Sent: at(5), Way: Local}, at(5))
	if w.Answered(2, 2, "", at(4.5), at(5.01), at(5.2)) {
		t.Error("an answer that was on its way ends the outage")
	}
	if !w.Answered(2, 2, "", at(4.5), at(8), at(8)) {
		t.Error("a late answer does not end the outage")
	}
	w.Failed(Failure{Host: 1, Site: 1, Sent: at(9), Way: Local}, at(9))
	if !w.Answered(2, 2, "", at(9.1), at(9.2), at(9.2)) {
		t.Error("the answer to a later request does not end the outage")
	}
}

// An answer is no evidence about failures after it, even if it is recorded late.
func TestAnswerToldLate(t *testing.T) {
	w := watchOf(3)
	w.Failed(Failure{Host: 1, Site: 1, Sent: at(1), Way: Silent}, at(3))
	w.Failed(Failure{Host: 2, Site: 2, Sent: at(1), Way: Silent}, at(3))
	w.Answered(3, 3, "", at(0), at(1), at(4))
	if w.Failed(Failure{Host: 3, Site: 3, Sent: at(1), Way: Silent}, at(5)) != Begun {
		t.Error("an earlier answer ended the row")
	}
}
