package crawl

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/fetch"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/crawl/webhook"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

// hooked returns a configuration with a webhook, and further text.
func hooked(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "secret")
	secret := "whsec_" + base64.StdEncoding.EncodeToString(make([]byte, 32))
	if err := os.WriteFile(path, []byte(secret), 0o600); err != nil {
		t.Fatal(err)
	}
	monitor := fmt.Sprintf("[monitor]\nwebhook = \"https://hook.test/\"\nwebhook-secret-file = %q\n", path)
	return crawltest.Paper(monitor + text)
}

// A toldEvent is a decoded message.
type toldEvent struct {
	Kind string `json:"type"`
	Data struct {
		Reason  string
		Errors  map[string]int
		Hosts   []webhook.Host
		Origins []webhook.Origin
	}
}

func eventsIn(t testing.TB, path string) (all []toldEvent) {
	t.Helper()
	crawltest.View(t, path, func(_ *kv.Store, tx *kv.Tx) error {
		return tx.Messages.Each(func(m *schema.Message) (bool, error) {
			var e toldEvent
			err := json.Unmarshal(m.Body, &e)
			all = append(all, e)
			return true, err
		})
	})
	return all
}

// TestEvents crawls a web in which a host refuses connections, another shows walls and two origins are cut: the messages
// are what the run records, in its order.
func TestEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPaperServers(t)
		front := site("", 30)
		s.host["a.test"] = func(q question) reply {
			if r := front(q); q.path != "/" {
				return r
			}
			return links(append(paths(30), "https://down.test/1", "https://down.test/2", "https://down.test/3",
				"https://wall.test/1", "https://wall.test/2", "https://wall.test/3")...)
		}
		s.host["wall.test"] = func(q question) reply {
			if q.path == "/robots.txt" {
				return reply{status: http.StatusNotFound}
			}
			return anubis()
		}
		s.host["b.test"] = site("", 30)
		s.host["down.test"] = func(question) reply { return reply{cause: fetch.Refused} }
		run := s.crawl(hooked(t, `[crawler]
max-domain-requests = 10
[[quality]]
domain = "a.test"
seeds = ["https://a.test/"]
[[quality]]
domain = "*.b.test"
seeds = ["https://b.test/"]
max-requests = 5
`), 0)
		events := eventsIn(t, s.path)
		if len(events) != 3 || events[0].Kind != webhook.HostGivenUp || events[1].Kind != webhook.HostWalled ||
			events[2].Kind != webhook.OriginCut {
			t.Fatalf("events: %+v", events)
		}
		if hosts := events[0].Data.Hosts; len(hosts) != 2 || hosts[0].Domain != "down.test" ||
			!strings.Contains(hosts[0].Reason, "connection refused") || hosts[1].Domain != "wall.test" {
			t.Errorf("given up: %+v", hosts)
		}
		if hosts := events[1].Data.Hosts; len(hosts) != 1 || hosts[0].Domain != "wall.test" ||
			hosts[0].Reason != "walled: Anubis" || hosts[0].Requests != 3 {
			t.Errorf("walled: %+v", hosts)
		}
		want := []webhook.Origin{
			{Origin: "a.test", Reason: "max-domain-requests = 10", Hosts: 1, Domains: []string{"a.test"}},
			{Origin: "*.b.test", Reason: "max-requests = 5", Hosts: 1, Domains: []string{"b.test"}},
		}
		if diff := cmp.Diff(want, events[2].Data.Origins); diff != "" {
			t.Error(diff)
		}
		if run.End.Kind != schema.EndBudgets || run.End.N != 2 {
			t.Errorf("the run ended with %v", run.End)
		}
	})
}

// The message about the end of a run has the same errors as stats, including pages that got no
// visit.
func TestEventTellsErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPaperServers(t)
		s.host["a.test"] = func(question) reply { return links("https://down.test/1", "https://down.test/2") }
		s.host["down.test"] = func(question) reply { return reply{cause: fetch.Refused} }
		text := hooked(t, "[[quality]]\ndomain = \"a.test\"\nseeds = [\"https://a.test/\"]\n")
		s.crawl(text, 0)
		store, err := kv.Open(s.path, kv.Options{})
		if err != nil {
			t.Fatal(err)
		}
		set, err := ring.NewSettings(crawltest.Parse(t, text))
		if err != nil {
			t.Fatal(err)
		}
		defer set.Close()
		r := newCommitter(store, set, slog.New(slog.DiscardHandler), func(Event) {}).recorder
		_, begun := r.Begin(t.Context())
		completed := r.Complete()
		seen, opened := survey.New(store)
		if err := errors.Join(begun, completed, opened); err != nil {
			t.Fatal(err)
		}
		counts, err := seen.Counts()
		if err := errors.Join(err, store.Close()); err != nil {
			t.Fatal(err)
		}
		events := eventsIn(t, s.path)
		last := events[len(events)-1]
		diff := cmp.Diff(counts.Errors, last.Data.Errors)
		if diff != "" || last.Kind != webhook.RunCompleted || len(counts.Errors) == 0 {
			t.Errorf("of %v is told %+v: %s", counts.Errors, last, diff)
		}
	})
}

// max-pages cuts every origin with a waiting page.
func TestEventOfMaxPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPaperServers(t)
		s.host["a.test"] = site("", 30)
		text := "[crawler]\nmax-pages = 4\n[[quality]]\ndomain = \"a.test\"\nseeds = [\"https://a.test/\"]\n"
		run := s.crawl(hooked(t, text), 0)
		events := eventsIn(t, s.path)
		if len(events) != 1 || len(events[0].Data.Origins) != 1 || events[0].Data.Origins[0].Reason != "max-pages = 4" {
			t.Errorf("events: %+v", events)
		}
		if run.End.Kind != schema.EndMaxPages {
			t.Errorf("the run ended with %v", run.End)
		}
	})
}

// TestEventsAndKills kills a crawl repeatedly: there is a message about a host exactly if the file
// says that it was given up.
func TestEventsAndKills(t *testing.T) {
	for _, kill := range []time.Duration{3 * time.Second, 7 * time.Second, 31 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			s := newPaperServers(t)
			var out []string
			for i := range 40 {
				out = append(out, fmt.Sprintf("https://down%d.test/1", i), fmt.Sprintf("https://down%d.test/2", i),
					fmt.Sprintf("https://down%d.test/3", i))
			}
			s.host["a.test"] = pages(map[string]reply{"/": links(out...)})
			s.other = func(question) reply { return reply{cause: fetch.Refused} }
			text := hooked(t, "[[quality]]\ndomain = \"a.test\"\nseeds = [\"https://a.test/\"]\n")
			for range 3 {
				s.crawl(text, kill)
				if diff := cmp.Diff(givenUpIn(t, s.path), toldIn(t, s.path)); diff != "" {
					t.Fatalf("killed after %v: %s", kill, diff)
				}
			}
			s.crawl(text, 0)
			told := toldIn(t, s.path)
			if diff := cmp.Diff(givenUpIn(t, s.path), told); diff != "" || len(told) != 40 {
				t.Errorf("%d told at the end: %s", len(told), diff)
			}
		})
	}
}

func toldIn(t testing.TB, path string) []string {
	t.Helper()
	var names []string
	for _, e := range eventsIn(t, path) {
		for _, h := range e.Data.Hosts {
			names = append(names, h.Domain)
		}
	}
	slices.Sort(names)
	return names
}

func givenUpIn(t testing.TB, path string) []string {
	t.Helper()
	names := map[string]bool{}
	crawltest.View(t, path, func(_ *kv.Store, tx *kv.Tx) error {
		return tx.Hosts.Each(1, func(h *schema.Host) (bool, error) {
			if h.RunGivenUp != schema.NotGivenUp {
				names[h.Name] = true
			}
			return true, nil
		})
	})
	return slices.Sorted(maps.Keys(names))
}

// A fresh start sends the pending messages of the old file, except to an address that wants no
// more.
func TestFreshCarriesMessages(t *testing.T) {
	dir := t.TempDir()
	from, to := crawltest.Open(t, filepath.Join(dir, "a")), crawltest.Open(t, filepath.Join(dir, "b"))
	err := from.Update(func(tx *kv.Tx) error {
		return errors.Join(tx.Messages.Put(&schema.Message{ID: "msg_a"}),
			tx.Meta.Put("webhook ended", []byte("https://gone.test/")))
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Fresh(from, to); err != nil {
		t.Fatal(err)
	}
	err = to.View(func(tx *kv.Tx) error {
		last, n, err := tx.Messages.Last()
		if n != 1 || last.ID != "msg_a" {
			t.Errorf("%d messages: %+v", n, last)
		}
		cfg := &config.Config{Monitor: config.Monitor{Webhook: "https://gone.test/"}}
		if tells, err := webhook.Tells(tx, cfg); tells || err != nil {
			t.Errorf("an address that wants no more is told (%v)", err)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
