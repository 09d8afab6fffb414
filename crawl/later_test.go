package crawl

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

// laterHead is what every configuration for runs over an old terrain begins with.
const laterHead = `
[crawler]
minimum-time-on-page = 5000
head-check = "never"
sitemaps = "off"
[politeness]
minimum-time-per-address = "0s"
[user-agent]
crawler-name = "T"
`

// complete is [Crawl.Complete] for the last run.
func (s *paperServers) complete() {
	s.t.Helper()
	(&paperCrawl{t: s.t, path: s.path}).complete()
}

// surveyed reads the store after a crawl.
func (s *paperServers) surveyed(f func(*survey.Survey) error) {
	s.t.Helper()
	store, err := kv.Open(s.path, kv.Options{ReadOnly: true})
	if err != nil {
		s.t.Fatal(err)
	}
	defer store.Close()
	sv, err := survey.New(store)
	if err == nil {
		err = f(sv)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// lastRun is the last run as a survey sees it.
func (s *paperServers) lastRun() (run schema.Run) {
	s.t.Helper()
	s.surveyed(func(sv *survey.Survey) error {
		run = sv.Run()
		return nil
	})
	return run
}

// TestFinishedWithTheWalk: a run is finished when its walk is, also while its
// outputs are being written, and though its last visit was kept from another run.
func TestFinishedWithTheWalk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const origin = "[[quality]]\ndomain = \"a.test\"\n"
		s := newPaperServers(t)
		s.host["a.test"] = pages(map[string]reply{"/1": links()})
		s.crawl(laterHead+origin+"seeds = [\"https://a.test/1\"]\n", 0)
		s.complete()
		time.Sleep(time.Hour)
		s.host["a.test"] = pages(map[string]reply{"/": links("/1")})
		s.crawl(laterHead+origin+"seeds = [\"https://a.test/\"]\n", 0)
		ended := time.Now().Truncate(time.Second)
		if v := s.visits()["https://a.test/1"]; !v.Kept {
			t.Fatalf("/1 was not kept: %+v", v)
		}
		time.Sleep(time.Minute)
		if run := s.lastRun(); !run.Finished.Equal(ended) || run.Status != schema.RunCompleted || ended.Sub(run.Started) < 5*time.Second {
			t.Errorf("run %d is %s, began %s, finished %s; its walk ended %s", run.ID, run.Status, run.Started, run.Finished, ended)
		}
		s.complete()
		if run := s.lastRun(); !run.Finished.Equal(ended) {
			t.Errorf("completed: run %d finished %s; its walk ended %s", run.ID, run.Finished, ended)
		}
	})
}
