//go:build !windows

package main

import (
	"context"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nkeys"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/hub"
)

// A hubProcess is ripple hub at an address.
type hubProcess struct {
	cmd *exec.Cmd
	url string
}

func startHub(t *testing.T, args ...string) *hubProcess {
	t.Helper()
	h := &hubProcess{cmd: ripple(append([]string{"hub", "-q", "--listen", "127.0.0.1:0"}, args...)...)}
	h.cmd.Stderr = os.Stderr
	h.url, _ = served(t, h.cmd)
	return h
}

// A hub whose messages nobody reads any more, as when Ctrl-C has ended tee first, goes on, and ends as a
// signal ends it.
func TestNobodyReadsOfTheHub(t *testing.T) {
	t.Parallel()
	read, told, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer told.Close()
	cmd := ripple("hub", "-v", "-v", "--listen", "127.0.0.1:0", "--store", filepath.Join(t.TempDir(), "hub"))
	cmd.Stderr = told
	h := &hubProcess{cmd: cmd}
	h.url, _ = served(t, cmd)
	read.Close()
	for range 2 {
		_, done := h.bucket(t, "")
		done()
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if _ = cmd.Wait(); cmd.ProcessState.ExitCode() != 0 {
		t.Errorf("it ended with %v", cmd.ProcessState)
	}
}

// bucket connects to the hub, for one thing.
func (h *hubProcess) bucket(t *testing.T, credentials string) (*hub.Bucket, func()) {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	c, err := hub.Connect(t.Context(), hub.Dial{URL: h.url, Credentials: credentials, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	b, err := c.Bucket(t.Context(), [16]byte{1})
	if err != nil {
		t.Fatal(err)
	}
	return b, c.Close
}

// What a hub has acknowledged it has after its end, however it ends; Ctrl-C is not a
// failure.
func TestHubLosesNothing(t *testing.T) {
	t.Parallel()
	store := filepath.Join(t.TempDir(), "hub")
	revision := uint64(0)
	for i, end := range []syscall.Signal{syscall.SIGINT, syscall.SIGKILL, syscall.SIGTERM, syscall.SIGKILL} {
		h := startHub(t, "--store", store)
		b, hangUp := h.bucket(t, "")
		e, err := b.Get(t.Context(), hub.Key(0))
		if i > 0 && (err != nil || e.Revision != revision || e.Value[0] != byte(i-1)) {
			t.Fatalf("start %d: %v, %d, %v; want revision %d", i, e.Value, e.Revision, err, revision)
		}
		if i == 0 {
			revision, err = b.Create(t.Context(), hub.Key(0), []byte{0})
		} else {
			revision, err = b.Update(t.Context(), hub.Key(0), []byte{byte(i)}, revision)
		}
		if err != nil {
			t.Fatal(err)
		}
		_ = h.cmd.Process.Signal(end)
		if err := h.cmd.Wait(); (err == nil) != (end != syscall.SIGKILL) {
			t.Errorf("after %s it ends with %v", end, err)
		}
		hangUp()
	}
}

// A token is made where there is none, and only who knows it, or has a key, is let in.
func TestHubCredentials(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	token, seed, public := filepath.Join(dir, "token"), filepath.Join(dir, "seed"), filepath.Join(dir, "nkeys")
	pair, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	own, _ := pair.Seed()
	key, _ := pair.PublicKey()
	for path, text := range map[string]string{seed: string(own), public: "# nodes\n" + key + " # node a\n\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for flag, files := range map[string][2]string{"--token-file": {token, token}, "--nkeys": {public, seed}} {
		h := startHub(t, "--store", filepath.Join(dir, flag), flag, files[0])
		b, hangUp := h.bucket(t, files[1])
		if _, err := b.Session(t.Context()); err != nil {
			t.Errorf("%s: %v", flag, err)
		}
		hangUp()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if _, err := hub.Connect(ctx, hub.Dial{URL: h.url, Log: slog.New(slog.DiscardHandler)}); err == nil {
			t.Errorf("%s: a stranger is let in", flag)
		}
	}
}

// A certificate that is renewed is shown to who comes then, and who is here stays.
func TestHubCertificateRenewed(t *testing.T) {
	t.Parallel()
	cert, key := crawltest.Certificate(t)
	h := startHub(t, "--store", filepath.Join(t.TempDir(), "hub"), "--cert", cert, "--key", key)
	before, err := hub.Connect(t.Context(), hub.Dial{URL: h.url, CAFile: cert, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer before.Close()
	anchors, secret := crawltest.Certificate(t)
	old := filepath.Join(t.TempDir(), "old.pem")
	for _, file := range [][2]string{{cert, old}, {secret, key}, {anchors, cert}} {
		text, err := os.ReadFile(file[0])
		if err == nil {
			err = os.WriteFile(file[1], text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]bool{anchors: true, old: false} {
		c, err := hub.Connect(t.Context(), hub.Dial{URL: h.url, CAFile: path, Log: slog.New(slog.DiscardHandler)})
		if err == nil {
			c.Close()
		}
		if (err == nil) != want {
			t.Errorf("with %s: %v", path, err)
		}
	}
	if _, err := before.Bucket(t.Context(), [16]byte{1}); err != nil {
		t.Errorf("who was here before: %v", err)
	}
}

// A hub that knows the terrain of another release is told apart, with what can be done.
func TestHubOfAnotherRelease(t *testing.T) {
	t.Parallel()
	h := startHub(t, "--store", filepath.Join(t.TempDir(), "hub"))
	c, err := hub.Connect(t.Context(), hub.Dial{URL: h.url, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	b, err := c.Bucket(t.Context(), [16]byte{})
	if err == nil {
		_, err = b.Create(t.Context(), "charter", []byte(`{"protocol": 1, "rule": 1}`))
	}
	if err != nil {
		t.Fatal(err)
	}
	machines, _ := newMachines(t, h.url, 1, 1)
	for _, command := range []string{"stats", "stop", "crawl"} {
		args := []string{command, "--config", machines[0].config}
		if command == "crawl" {
			args = []string{command, machines[0].config}
		}
		out, err := ripple(args...).CombinedOutput()
		if err == nil || !strings.Contains(string(out), "it speaks protocol 1 with rule 1") ||
			!strings.Contains(string(out), "stop the hub and delete its store") {
			t.Errorf("%s: %v: %s", command, err, out)
		}
	}
}

// An address, or a store, that another hub has is said in one line.
func TestHubInUse(t *testing.T) {
	t.Parallel()
	store := filepath.Join(t.TempDir(), "hub")
	h := startHub(t, "--store", store)
	address := strings.TrimPrefix(h.url, "nats://")
	const advice = " is in use, perhaps by another hub; name another one with --listen or --store\n"
	for what, args := range map[string][]string{
		address:              {"--listen", address, "--store", store + "2"},
		"the store " + store: {"--listen", "127.0.0.1:0", "--store", store},
	} {
		cmd := ripple(append([]string{"hub"}, args...)...)
		out, err := cmd.CombinedOutput()
		if err == nil || cmd.ProcessState.ExitCode() != 2 || string(out) != "ripple: "+what+advice {
			t.Errorf("ripple hub %v: %v\n%s, want %s", args, err, out, what)
		}
	}
}
