package node_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/webhook"
	"github.com/sumi-ripple/ripple/crawl/webtest"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

// A told message is one that a receiver has accepted.
type told struct {
	Kind string `json:"type"`
	Data struct {
		webhook.Run
		Origins []webhook.Origin
	} `json:"data"`
}

// A receiver is the server behind a webhook.
type receiver struct {
	mu      sync.Mutex
	took    map[string]told   // by id
	bodies  map[string]string // likewise
	refused map[string]bool   // kinds whose first message is refused; true: it was
	wrong   []string
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	var m told
	err = errors.Join(err, json.Unmarshal(body, &m))
	id := req.Header.Get("webhook-id")
	r.mu.Lock()
	defer r.mu.Unlock()
	if before, again := r.bodies[id]; err != nil || again && before != string(body) {
		r.wrong = append(r.wrong, fmt.Sprintf("%s: %v: %s, before %s", id, err, body, before))
	}
	r.bodies[id] = string(body)
	if was, refuses := r.refused[m.Kind]; refuses && !was {
		r.refused[m.Kind] = true
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	r.took[id] = m
	w.WriteHeader(http.StatusNoContent)
}

// kinds returns the number of accepted messages by kind.
func (r *receiver) kinds() map[string]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := map[string]int{}
	for _, m := range r.took {
		n[m.Kind]++
	}
	return n
}

// hooked returns a configuration of a web with a receiver that refuses the first message of each of the given
// kinds.
func hooked(t *testing.T, more string, refused ...string) (*config.Config, *receiver) {
	t.Helper()
	s := crawltest.Serve(t, webtest.WithoutLog())
	crawltest.Sites(s, 6, 7)
	r := &receiver{took: map[string]told{}, bodies: map[string]string{}, refused: map[string]bool{}}
	for _, kind := range refused {
		r.refused[kind] = false
	}
	s.Host("hook.test").Handle("/", r.ServeHTTP)
	secret := filepath.Join(t.TempDir(), "secret")
	text := "whsec_" + base64.StdEncoding.EncodeToString(make([]byte, 32))
	if err := os.WriteFile(secret, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return crawltest.Parse(t, crawltest.Config(t, s, fmt.Sprintf("[monitor]\nwebhook = \"https://hook.test/\"\n"+
		"webhook-secret-file = %q\n", secret)+more+crawltest.SeedsOfSites)), r
}

// inFiles returns the pages and requests of the last run in all files, and the number of waiting messages.
func (tr *terrain) inFiles() (pages, requests, waiting int) {
	tr.t.Helper()
	for _, folder := range tr.folders {
		paths, err := filepath.Glob(filepath.Join(folder, "*.bolt"))
		if err != nil {
			tr.t.Fatal(err)
		}
		for _, path := range paths {
			crawltest.View(tr.t, path, func(_ *kv.Store, tx *kv.Tx) error {
				runs, err := tx.Runs.All()
				last := runs[len(runs)-1]
				pages, requests = pages+last.Pages, requests+last.Requests
				count := func(*schema.Message) (bool, error) { waiting++; return true, nil }
				return errors.Join(err, tx.Messages.Each(count))
			})
		}
	}
	return pages, requests, waiting
}

// The end of a run is reported once, for all shards, and each truncated origin by the shard that has it. A message
// that is refused is sent again.
func TestNodesTell(t *testing.T) {
	t.Parallel()
	cfg, r := hooked(t, "[crawler]\nmax-domain-requests = 2\nminimum-time-on-page = 100\n", webhook.RunCompleted)
	tr := newTerrain(t, cfg, 2, 3)
	tr.faster = 5 // otherwise a busy machine may lose the lease at the end, and send no message
	tr.all()
	if n := r.kinds(); n[webhook.RunCompleted] != 1 || n[webhook.RunInterrupted] != 0 {
		t.Errorf("told %v", n)
	}
	pages, requests, waiting := tr.inFiles()
	origins := map[string]int{}
	for id, m := range r.took {
		for _, o := range m.Data.Origins {
			origins[o.Origin]++
		}
		if m.Kind == webhook.RunCompleted && (m.Data.Pages != pages || m.Data.Requests != requests ||
			m.Data.Missing != 0 || m.Data.Status != "completed" || pages == 0) {
			t.Errorf("%s: of %d pages and %d requests it tells %+v", id, pages, requests, m.Data.Run)
		}
	}
	if !maps.Equal(origins, map[string]int{"h0.test": 1, "h1.test": 1}) {
		t.Errorf("cut: %v", origins)
	}
	if len(r.wrong) != 0 || waiting != 0 {
		t.Errorf("%d messages are left; %q", waiting, r.wrong)
	}
}

// A terrain that is stopped reports one interruption, however many shards it has, and one completion after it has
// resumed.
func TestNodesTellOfAnInterruption(t *testing.T) {
	t.Parallel()
	cfg, r := hooked(t, "[crawler]\nmax-depth = 3\nminimum-time-on-page = 500\n")
	tr := newTerrain(t, cfg, 1, 3)
	tr.faster = 5 // otherwise a busy machine may lose the lease at the end, and send no message
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- tr.run(ctx, 0, cfg) }()
	for tr.requests() < 5 {
		if err := sleep(ctx); err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	tr.all()
	if n := r.kinds(); n[webhook.RunCompleted] != 1 || n[webhook.RunInterrupted] != 1 || len(r.wrong) != 0 {
		t.Errorf("told %v; %q", n, r.wrong)
	}
}
