package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	official "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/sumi-ripple/ripple/cmd/ripple/rippletest"
	"github.com/sumi-ripple/ripple/crawl/webtest"
)

// hookSecret signs the messages of crawls in these tests.
func hookSecret() string { return "whsec_" + base64.StdEncoding.EncodeToString(make([]byte, 32)) }

// A hookedMessage is one that a receiver has verified.
type hookedMessage struct {
	ID, Body string
	Kind     string `json:"type"`
}

// verifyHook reads a message with the official library.
func verifyHook(r *http.Request) (hookedMessage, error) {
	var m hookedMessage
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return m, err
	}
	wh, err := official.NewWebhook(hookSecret())
	if err == nil {
		err = wh.Verify(body, r.Header)
	}
	if err == nil {
		err = json.Unmarshal(body, &m)
	}
	m.ID, m.Body = r.Header.Get("webhook-id"), string(body)
	return m, err
}

// hookWeb adds a receiver to a web, which writes the types of its messages to hooks.txt, and one
// that redirects.
func hookWeb(web *webtest.Server, dir string) {
	var mu sync.Mutex
	web.Host("hook.test").Handle("/", func(w http.ResponseWriter, r *http.Request) {
		m, err := verifyHook(r)
		if err != nil {
			http.Error(w, "\x1b[31m"+err.Error(), http.StatusForbidden)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		f, err := os.OpenFile(filepath.Join(dir, "hooks.txt"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err == nil {
			fmt.Fprintln(f, m.Kind)
			f.Close()
		}
		w.WriteHeader(http.StatusNoContent)
	})
	web.Host("hook.test").Redirect("/moved", "https://a.test/", http.StatusPermanentRedirect)
	web.Host("hook.test").Status("/gone", http.StatusGone)
}

// hooked adds a webhook with its secret to a configuration.
func hooked(t testing.TB, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(filepath.Join(filepath.Dir(path), "hook.secret"), []byte(hookSecret()+"\n"), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	with := strings.Replace(string(text), "[monitor]\n",
		"[monitor]\nwebhook = \"https://hook.test/\"\nwebhook-secret-file = \"hook.secret\"\n", 1)
	if err := os.WriteFile(path, []byte(with), 0o600); err != nil {
		t.Fatal(err)
	}
}

// slowHook makes a web receive messages, which it accepts only once the channel is closed.
func slowHook(t *testing.T, web *webtest.Server) (got chan hookedMessage, accept chan struct{}) {
	got, accept = make(chan hookedMessage, 16), make(chan struct{})
	web.Host("hook.test").Handle("/", func(w http.ResponseWriter, r *http.Request) {
		m, err := verifyHook(r)
		if err != nil {
			t.Error(err)
		}
		got <- m
		select {
		case <-accept:
			w.WriteHeader(http.StatusNoContent)
		case <-r.Context().Done():
		}
	})
	return got, accept
}

// A crawl that is killed after its last commit, while it sends the message about that, sends it
// again: the same message, with the same id, and that of the next run as well.
func TestWebhookKilled(t *testing.T) {
	t.Parallel()
	dir, web := t.TempDir(), rippletest.NewWeb(t)
	path := rippletest.WriteConfig(t, web, dir, false)
	hooked(t, path)
	got, killed := slowHook(t, web)
	crawl := func() *exec.Cmd {
		cmd := ripple("-q", "crawl", path)
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return cmd
	}
	cmd := crawl()
	first := <-got
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	close(killed)
	if err := crawl().Wait(); err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{}
	for range len(got) {
		m := <-got
		if m.Kind != "run.completed" || seen[m.ID] != "" {
			t.Errorf("told %+v", m)
		}
		seen[m.ID] = m.Body
	}
	if len(seen) != 2 || seen[first.ID] != first.Body {
		t.Errorf("%d messages after the kill; that of run 1 was %+v, and is %q", len(seen), first, seen[first.ID])
	}
}
