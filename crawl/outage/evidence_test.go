package outage

import (
	"fmt"
	"testing"
)

// An event is one event of a watch, at one time. Each of its sites has one host.
type event struct {
	at    float64
	sites []uint64
	way   Way // answered: they answer
	took  float64
	Failure
}

const answered = Way(100)

func answer(at float64, sites ...uint64) event { return event{at: at, sites: sites, way: answered} }

func failure(at, took float64, way Way, sites ...uint64) event {
	return event{at: at, took: took, way: way, sites: sites}
}

func (e event) with(f Failure) event { e.Failure = f; return e }

// play returns the news, in order.
func play(w *Watch, events ...event) (news []News) {
	tell := func(n News) {
		if n != None {
			news = append(news, n)
		}
	}
	for _, e := range events {
		for _, site := range e.sites {
			f := e.Failure
			f.Host, f.Site, f.Sent, f.Way = site, site, at(e.at-e.took), e.way
			if f.Address == "each" {
				f.Address = fmt.Sprint(site)
			}
			if e.way != answered {
				tell(w.Failed(f, at(e.at)))
			} else if w.Answered(site, site, f.Address, f.Sent, at(e.at), at(e.at)) {
				tell(Ended)
			}
		}
		if len(e.sites) == 0 {
			tell(w.Look(at(e.at)))
		}
	}
	return news
}

func span(first, last uint64) (sites []uint64) {
	for s := first; s <= last; s++ {
		sites = append(sites, s)
	}
	return sites
}

// TestEvidence has a row for each sentence of the rule. Twenty sites have answered at 0 s.
func TestEvidence(t *testing.T) {
	look := func(at float64) event { return event{at: at} }
	met := Failure{Met: true}
	tests := []struct {
		name   string
		alone  bool // no other site is being requested
		sites  uint64
		events []event
		want   string
	}{
		{"no route at one site of many", true, 20, []event{failure(1, 0, Local, 1)}, "begun"},
		{"no route at the start, at a host that never answered", true, 0, []event{failure(1, 0, Local, 30)}, "begun"},

		{"five sites are silent", false, 20, []event{failure(11, 10, Silent, 1, 2, 3, 4, 5)}, "begun"},
		{"four are", false, 20, []event{failure(11, 10, Silent, 1, 2, 3, 4)}, ""},
		{"one is, five times", false, 20, []event{failure(11, 10, Silent, 1, 1, 1, 1, 1)}, ""},
		{"five that cannot be connected to", false, 20, []event{failure(2, .1, Barred, 1, 2, 3, 4, 5), look(4), look(5)},
			"begun"},
		{"five that fail within 3 s", false, 20, []event{failure(2, 1, Silent, 1, 2, 3, 4, 5), look(3.9)}, ""},
		{"nobody else is asked", true, 20, []event{failure(11, 10, Silent, 1, 2, 3, 4, 5), look(29)}, ""},
		{"all three of three", true, 3, []event{failure(11, 10, Silent, 1, 2, 3)}, "begun"},
		{"both of two", true, 2, []event{failure(41, 10, Silent, 1, 2), look(90)}, ""},
		{"hosts that never answered", false, 3, []event{failure(11, 10, Silent, span(4, 20)...), look(60)}, ""},
		{"three of an earlier process", true, 0, []event{failure(11, 10, Silent, 1, 2, 3).with(met)}, "begun"},
		{"two of an earlier process", true, 0, []event{failure(11, 10, Silent, 1, 2).with(met), look(60)}, ""},
		{"sent before the last answer", false, 20, []event{answer(9, 6), failure(11, 10, Silent, 1, 2, 3, 4, 5), look(13)},
			""},
		{"sent before it, and quiet since", false, 20, []event{answer(9, 6), failure(11, 10, Silent, 1, 2, 3, 4, 5),
			look(14)}, "begun"},
		{"an answer between", false, 20, []event{failure(11, 10, Silent, 1, 2, 3), answer(12, 6),
			failure(16, 3.5, Silent, 4, 5)}, ""},

		{"forty that send alerts, while one answers", false, 40, []event{failure(1, 0, HungUp, span(1, 40)...),
			answer(10, 50), failure(11, 0, HungUp, span(1, 40)...), look(39), answer(39.5, 50),
			failure(40, 0, HungUp, span(1, 40)...), look(69)}, ""},
		{"nobody answers for 30 s, and three fail in whatever way", true, 20, []event{failure(1, 0, HungUp, 1),
			failure(2, 0, Barred, 2), failure(15, 12, Silent, 3), look(30.9), look(31)}, "begun"},
		{"two do", true, 20, []event{failure(1, 0, HungUp, 1, 2), look(90)}, ""},
		{"nobody was asked in those 30 s", true, 20, []event{failure(100, 0, HungUp, 1, 2, 3), look(129)}, ""},
		{"answers that cannot be read", false, 20, []event{failure(1, 0, Other, span(1, 20)...), look(90)}, ""},
		{"the end of connections over which TLS was spoken", false, 20, []event{failure(1, 0, Cut, span(1, 20)...),
			look(90)}, ""},
		{"a handshake shows that the network is there", false, 20, []event{failure(11, 10, Silent, 1, 2, 3, 4),
			failure(12, 3, Cut, 6).with(Failure{Shaken: at(11.5)}), failure(13, 3.1, Silent, 5), look(14)}, ""},
		{"one vote an address while another answers", false, 20, []event{
			answer(8, 20).with(Failure{Address: "192.0.2.20"}),
			failure(12, 4, Silent, span(1, 9)...).with(Failure{Address: "192.0.2.1", Next: "192.0.2.2"}), look(29)}, ""},
		{"five addresses, while another answers", false, 20, []event{
			answer(8, 20).with(Failure{Address: "192.0.2.20"}),
			failure(12, 4, Silent, 1, 2, 3, 4, 5).with(Failure{Address: "each"})}, "begun"},
		{"one address, when no other answers", false, 20, []event{
			failure(40, 35, Silent, span(1, 9)...).with(Failure{Address: "192.0.2.1"})}, "begun"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := &Watch{}
			if !tt.alone {
				w.Asked(someone, at(-100))
			}
			play(w, answer(0, span(1, tt.sites)...))
			got := ""
			for _, n := range play(w, tt.events...) {
				if got += map[News]string{Begun: "begun", Ended: "ended", Refuted: "refuted"}[n]; n == None {
					t.Fatal("no news")
				}
			}
			if _, _, away := w.Away(); got != tt.want || away != (got == "begun") {
				t.Errorf("%q, away %v; want %q", got, away, tt.want)
			}
		})
	}
}

// A site has one vote, however many of its hosts fail.
func TestOneVoteASite(t *testing.T) {
	w := watchOf(20)
	for host := range uint64(20) {
		if w.Failed(Failure{Host: host + 1, Site: 1 + host%4, Sent: at(1), Way: Silent}, at(11)) != None {
			t.Fatalf("an outage begins with %d hosts of four sites", host+1)
		}
	}
	if w.Failed(Failure{Host: 1, Site: 5, Sent: at(1), Way: Silent}, at(11)) != Begun {
		t.Error("no outage with a fifth site")
	}
}

// An outage that ends at its first probe and returns within a minute, before most of those that voted for it
// have answered, was false. The sites that voted for it lose their vote for an hour; others keep theirs.
func TestRefuted(t *testing.T) {
	again := failure(36, 10, Silent, 6, 7, 8, 9, 10)
	tests := []struct {
		name   string
		events []event
		want   string
	}{
		{"it returns", []event{answer(21, 20), again}, "refuted"},
		{"with a voter asked in vain", []event{failure(19, 2, Silent, 3), answer(21, 20), again}, "refuted"},
		{"with another one asked in vain", []event{failure(19, 2, Silent, 11), answer(21, 20), again}, "begun"},
		{"after most of its voters answered", []event{answer(21, 20), answer(22, 1, 2, 3), again}, "begun"},
		{"after few of them did", []event{answer(21, 20), answer(22, 1, 2), again}, "refuted"},
		{"after an earlier answer arrived", []event{answer(21, 20),
			{at: 22, took: 12, way: answered, sites: []uint64{1, 2, 3}}, again}, "refuted"},
		{"a minute later", []event{answer(21, 20), failure(90, 10, Silent, 6, 7, 8, 9, 10)}, "begun"},
		{"for certain", []event{answer(21, 20), failure(36, 0, Local, 1)}, "begun"},
		{"all of them once more", []event{answer(21, 20), again, answer(40, 20),
			failure(60, 10, Silent, span(1, 10)...), {at: 99}}, "refuted"},
		{"others speak within the minute", []event{answer(21, 20), again, answer(40, 20),
			failure(60, 10, Silent, span(11, 15)...)}, "refutedrefuted"},
		{"others speak later", []event{answer(21, 20), again, answer(40, 20), failure(85, 10, Silent, span(11, 15)...)},
			"refutedbegun"},
		{"an hour later", []event{answer(21, 20), again, answer(3700, 20), failure(3720, 10, Silent, 1, 2, 3, 4, 5)},
			"refutedbegun"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := watchOf(20)
			if news := play(w, failure(11, 10, Silent, 1, 2, 3, 4, 5)); len(news) != 1 || news[0] != Begun {
				t.Fatalf("%v", news)
			}
			got := ""
			for _, n := range play(w, tt.events...) {
				got += map[News]string{Begun: "begun", Refuted: "refuted"}[n]
			}
			if got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
			f := Failure{Host: 1, Site: 1, Way: Silent}
			if blamed := w.Settled(&f, at(36), at(36.1)); tt.want == "refuted" && !blamed {
				t.Error("who spoke for an outage that was none is not to blame at once")
			}
		})
	}
}

// A failure is held until a host answers, for at most 10 s, or until half a minute after the last answer.
func TestHold(t *testing.T) {
	silent := Failure{Host: 1, Site: 1, Way: Silent}
	met, resolver := silent, silent
	met.Met, resolver.Resolver = true, true
	cut, spoke := silent, silent
	cut.Way, cut.Spoke, spoke.Spoke = Cut, true, true
	tests := []struct {
		name  string
		sites uint64 // that answered at 0 s
		f     Failure
		end   float64
		until float64
		also  []event
	}{
		{"too few sites have answered", 2, silent, 5, 5, nil},
		{"no name server answers", 1, resolver, 5, 15, nil},
		{"for half a minute after the last answer", 20, silent, 5, 30, nil},
		{"for 10 s", 20, silent, 40, 50, []event{failure(20, 10, Silent, 7)}},
		{"until somebody answers", 20, silent, 5, 7, []event{answer(7, 3)}},
		{"until somebody shakes hands", 20, silent, 5, 7, []event{
			failure(7, 2, Cut, 9).with(Failure{Shaken: at(6.9)})}},
		{"its site is the last", 20, silent, 90, 90, nil},
		{"cut off after TLS was spoken", 20, cut, 5, 5, []event{failure(4, 3.5, Silent, 7, 8)}},
		{"silent after TLS was spoken", 20, spoke, 15, 15, nil},
		{"silent after TLS was spoken, as others are", 20, spoke, 15, 31, []event{failure(14, 13, Silent, 7, 8)}},
		{"met before, and nobody else is asked", 0, met, 5, 15, nil},
		{"met before, and one other is asked, which fails, too", 0, met, 5, 15, []event{
			failure(6, 3, Barred, 7).with(Failure{Met: true})}},
		{"met before, and two others are asked later, which fail, too", 0, met, 5, 30, []event{
			failure(12, 3, HungUp, 7, 8).with(Failure{Met: true})}},
		{"met before", 0, met, 5, 31, []event{failure(4, 3, HungUp, 7, 8).with(Failure{Met: true})}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := &Watch{}
			play(w, answer(0, span(1, tt.sites)...))
			tt.f.Sent = at(tt.end - 5)
			failed := false
			for now := 0.5; now <= tt.until+1; now += .5 {
				for _, e := range tt.also {
					if e.at == now {
						play(w, e)
					}
				}
				if now < tt.end {
					continue
				}
				if !failed {
					w.Failed(tt.f, at(now))
					failed = true
				}
				if settled := w.Settled(&tt.f, at(tt.end), at(now)); settled != (now >= tt.until) {
					t.Fatalf("at %v: settled %v", now, settled)
				}
			}
		})
	}
}

// If all sites fail for a minute because of one key, waiting does not fix it.
func TestStuck(t *testing.T) {
	untrusted := Failure{Key: "ca-file", Why: "unknown", Met: true}
	tests := []struct {
		name   string
		sites  uint64 // that answered
		events []event
		want   bool
	}{
		{"all of an earlier process", 0, []event{failure(1, 0, Barred, 1, 2, 3).with(untrusted), {at: 31},
			failure(61, 0, Barred, 1).with(untrusted)}, true},
		{"not yet for a minute", 0, []event{failure(1, 0, Barred, 1, 2, 3).with(untrusted), {at: 31},
			failure(60, 0, Barred, 1).with(untrusted)}, false},
		{"one fails otherwise", 0, []event{failure(1, 0, Barred, 1, 2, 3).with(untrusted), {at: 31},
			failure(50, 0, Barred, 4).with(Failure{Met: true}), failure(61, 0, Barred, 1).with(untrusted)}, false},
		{"few of those that answered", 20, []event{failure(1, 0, Barred, 1, 2, 3).with(untrusted), {at: 31},
			failure(61, 0, Barred, 1).with(untrusted)}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := &Watch{}
			play(w, answer(0, span(1, tt.sites)...))
			play(w, tt.events...)
			if key, why, stuck := w.Stuck(at(tt.events[len(tt.events)-1].at)); stuck != tt.want ||
				stuck && (key != "ca-file" || why != "unknown") {
				t.Errorf("%v: %q, %q", stuck, key, why)
			}
		})
	}
}
