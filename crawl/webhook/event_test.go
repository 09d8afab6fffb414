package webhook

import (
	"encoding/json"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

func hostsFrom(from, to int) (all []Host) {
	for i := from; i < to; i++ {
		all = append(all, Host{Domain: fmt.Sprintf("h%d.test", i), Reason: "timeout", Requests: i})
	}
	return all
}

// told returns the hosts in a message.
func told(t testing.TB, m *schema.Message) []Host {
	t.Helper()
	var e struct{ Data Hosts }
	if err := json.Unmarshal(m.Body, &e); err != nil {
		t.Fatal(err)
	}
	return e.Data.Hosts
}

// Hosts that are given up within ten seconds share one message, up to a hundred. A message that has been
// tried, or belongs to another run, takes no more.
func TestGathered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg, store := configured(t, "https://hook.test/", "", secret(0)), newStore(t)
		add := func(run schema.RunID, from, to int) {
			t.Helper()
			update(t, store, func(tx *kv.Tx) error { return AddHosts(tx, cfg, run, HostGivenUp, hostsFrom(from, to)) })
		}
		add(1, 0, 30)
		time.Sleep(9 * time.Second)
		add(1, 30, 60)
		add(1, 60, 210)
		all := waiting(t, store)
		if len(all) != 3 || len(told(t, all[0])) != 100 || len(told(t, all[1])) != 100 || len(told(t, all[2])) != 10 {
			t.Fatalf("%d messages for 210 hosts at once", len(all))
		}
		if wait := time.Until(all[0].Next); wait > 0 {
			t.Errorf("a full message waits for %v", wait)
		}
		if wait := time.Until(all[2].Next); wait != 10*time.Second {
			t.Errorf("hosts are gathered for %v", wait)
		}
		time.Sleep(10 * time.Second)
		add(1, 210, 220)
		add(2, 220, 230)
		all = waiting(t, store)
		if len(all) != 5 {
			t.Fatalf("%d messages, want another one after ten seconds, and one for another run", len(all))
		}
		all[4].Tries = 1
		update(t, store, func(tx *kv.Tx) error { return tx.Messages.Put(all[4]) })
		add(2, 230, 231)
		if all = waiting(t, store); len(all) != 6 || len(told(t, all[4])) != 10 {
			t.Errorf("a message that was tried took another host")
		}
		var got []Host
		for _, m := range all {
			got = append(got, told(t, m)...)
		}
		if diff := cmp.Diff(hostsFrom(0, 231), got); diff != "" {
			t.Error(diff)
		}
	})
}

// Each kind of event about hosts gathers its own.
func TestGatheredByKind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg, store := configured(t, "https://hook.test/", "", secret(0)), newStore(t)
		for i := range 5 {
			for _, kind := range []string{HostGivenUp, HostWalled} {
				update(t, store, func(tx *kv.Tx) error { return AddHosts(tx, cfg, 1, kind, hostsFrom(i, i+1)) })
			}
		}
		all := waiting(t, store)
		if len(all) != 2 || all[0].Kind != HostGivenUp || len(told(t, all[0])) != 5 || all[1].Kind != HostWalled ||
			len(told(t, all[1])) != 5 {
			t.Errorf("%d messages", len(all))
		}
	})
}

// A receiver that is away forever costs a bounded file; ends of runs are reported even then.
func TestMostWait(t *testing.T) {
	cfg, store := configured(t, "https://hook.test/", "", secret(0)), newStore(t)
	update(t, store, func(tx *kv.Tx) error {
		return AddHosts(tx, cfg, 1, HostGivenUp, hostsFrom(0, (mostWait+5)*MaxGathered))
	})
	if n := len(waiting(t, store)); n != mostWait {
		t.Errorf("%d messages wait, want %d", n, mostWait)
	}
	update(t, store, func(tx *kv.Tx) error { return Add(tx, cfg, RunCompleted, nil) })
	if n := len(waiting(t, store)); n != mostWait+1 {
		t.Errorf("%d messages wait after a run's end, want %d", n, mostWait+1)
	}
}

// Without an address nothing is stored.
func TestNobodyToTell(t *testing.T) {
	cfg, store := configured(t, "", "", secret(0)), newStore(t)
	update(t, store, func(tx *kv.Tx) error {
		if err := AddHosts(tx, cfg, 1, HostGivenUp, hostsFrom(0, 1)); err != nil {
			return err
		}
		return Add(tx, cfg, RunCompleted, nil)
	})
	if n := len(waiting(t, store)); n != 0 {
		t.Errorf("%d messages", n)
	}
}

// The names in a body are those that receivers expect.
func TestBody(t *testing.T) {
	cfg := configured(t, "https://hook.test/", "", secret(0))
	at := time.Date(2026, 1, 15, 10, 30, 0, 0, time.UTC)
	run := &schema.Run{ID: 7, Started: at, Finished: at.Add(time.Hour), Status: schema.RunCompleted,
		End: schema.End{Kind: schema.EndFrontier}, Pages: 3, Requests: 4, Running: time.Minute}
	for _, tt := range []struct {
		data any
		want string
	}{
		{NewRun(cfg, run), `{"crawler":"T","state":"valley.bolt","run_id":7,"status":"completed",` +
			`"reason":"the frontier is empty","started_at":"2026-01-15T10:30:00Z","finished_at":"2026-01-15T11:30:00Z",` +
			`"running_seconds":60,"pages":3,"requests":4,"errors":{}}`},
		{Hosts{SubjectOf(cfg, 7), hostsFrom(1, 2)},
			`{"crawler":"T","state":"valley.bolt","run_id":7,"hosts":[{"domain":"h1.test","reason":"timeout","requests":1}]}`},
		{Origins{SubjectOf(cfg, 7), []Origin{{"*.a.test", "max-pages = 1", 1, []string{"a.test"}}}},
			`{"crawler":"T","state":"valley.bolt","run_id":7,"origins":[{"quality_origin":"*.a.test","reason":"max-pages = 1",` +
				`"hosts":1,"domains":["a.test"]}]}`},
		{Disk{SubjectOf(cfg, 0), 5}, `{"crawler":"T","state":"valley.bolt","free_bytes":5}`},
	} {
		got, err := json.Marshal(tt.data)
		if err != nil || string(got) != tt.want {
			t.Errorf("%s, %v\nwant %s", got, err, tt.want)
		}
	}
}

func TestHostOf(t *testing.T) {
	cfg := configured(t, "https://hook.test/", "", secret(0))
	for _, tt := range []struct {
		kind string
		data any
		want string
	}{
		{HostGivenUp, Hosts{SubjectOf(cfg, 7), hostsFrom(1, 3)}, "h1.test"},
		{HostWalled, Hosts{SubjectOf(cfg, 7), hostsFrom(2, 3)}, "h2.test"},
		{OriginCut, Origins{SubjectOf(cfg, 7), []Origin{{"*.a.test", "max-pages = 1", 1, []string{"b.a.test"}}}}, "b.a.test"},
		{RunCompleted, NewRun(cfg, &schema.Run{ID: 7}), ""},
		{DiskLow, Disk{SubjectOf(cfg, 0), 5}, ""},
	} {
		m, err := newMessage(tt.kind, tt.data)
		if got := HostOf(m); got != tt.want || err != nil {
			t.Errorf("a message %s is about %q (%v), want %q", tt.kind, got, err, tt.want)
		}
	}
	if got := HostOf(&schema.Message{Kind: HostGivenUp, Body: []byte("[")}); got != "" {
		t.Errorf("what cannot be read is about %q", got)
	}
}
