//go:build !windows

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nkeys"

	"github.com/sumi-ripple/ripple/crawl/cluster/hub"
	"github.com/sumi-ripple/ripple/crawl/crawltest"
)

// A hubProcess is a "ripple hub" process at an address.
type hubProcess struct {
	cmd   *exec.Cmd
	url   string
	token string // file
}

func startHub(t *testing.T, args ...string) *hubProcess {
	t.Helper()
	h := &hubProcess{cmd: ripple(append([]string{"hub", "-q", "--listen", "127.0.0.1:0"}, args...)...)}
	h.cmd.Stderr = os.Stderr
	h.start(t)
	return h
}

func (h *hubProcess) start(t *testing.T) {
	t.Helper()
	var rest io.Reader
	h.url, rest = served(t, h.cmd)
	if slices.ContainsFunc(h.cmd.Args, func(s string) bool { return strings.HasPrefix(s, "--nkeys") }) {
		return
	}
	line, err := bufio.NewReader(rest).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	h.token = strings.TrimSpace(line)
}

// dial returns how to reach the hub with its token.
func (h *hubProcess) dial() hub.Dial {
	return hub.Dial{URL: h.url, Credentials: h.token, Log: slog.New(slog.DiscardHandler)}
}

// A hub whose output is no longer read, for example because Ctrl-C has ended tee first, continues,
// and ends as by a signal.
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
	h.start(t)
	read.Close()
	for range 2 {
		_, done := h.bucket(t, h.dial())
		done()
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if _ = cmd.Wait(); cmd.ProcessState.ExitCode() != 0 {
		t.Errorf("it ended with %v", cmd.ProcessState)
	}
}

// bucket connects to the hub for a single operation.
func (h *hubProcess) bucket(t *testing.T, d hub.Dial) (*hub.Bucket, func()) {
	t.Helper()
	c, err := hub.Connect(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	b, err := c.Bucket(t.Context(), [16]byte{1})
	if err != nil {
		t.Fatal(err)
	}
	return b, c.Close
}

// A hub is new as long as it has the store that it made together with its token. With a token that was there before, it
// may have been used.
func TestHubIsNew(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	store, token := filepath.Join(dir, "hub"), filepath.Join(dir, "token")
	for _, step := range []struct {
		name string
		lost bool // the store
		want bool
	}{{"first", false, true}, {"again", false, true}, {"without its store", true, false}} {
		if step.lost {
			if err := os.RemoveAll(store); err != nil {
				t.Fatal(err)
			}
		}
		h := startHub(t, "--store", store, "--token-file", token)
		b, hangUp := h.bucket(t, h.dial())
		if fresh, err := b.Fresh(t.Context()); err != nil || fresh != step.want {
			t.Errorf("%s: new %t, %v", step.name, fresh, err)
		}
		hangUp()
		if err := h.cmd.Process.Signal(syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		_ = h.cmd.Wait()
	}
}

// A hub keeps everything that it has acknowledged, however it ends; Ctrl-C is not a failure.
func TestHubLosesNothing(t *testing.T) {
	t.Parallel()
	store := filepath.Join(t.TempDir(), "hub")
	revision := uint64(0)
	for i, end := range []syscall.Signal{syscall.SIGINT, syscall.SIGKILL, syscall.SIGTERM, syscall.SIGKILL} {
		h := startHub(t, "--store", store)
		b, hangUp := h.bucket(t, h.dial())
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

// A token is created if there is none, and only clients that know it, or have a key, are admitted.
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
	made := filepath.Join(dir, "store", "token")
	for flag, files := range map[string][2]string{
		"--token-file=" + token: {token, token}, "--nkeys=" + public: {"", seed}, "--store=" + filepath.Dir(made): {made, made},
	} {
		h := startHub(t, "--store", filepath.Join(t.TempDir(), "hub"), flag)
		if h.token != files[0] {
			t.Errorf("%s: the token file is said to be %q, want %q", flag, h.token, files[0])
		}
		d := h.dial()
		d.Credentials = files[1]
		b, hangUp := h.bucket(t, d)
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

// A node without the token of a hub on its own machine gets a message of one line that says which
// file to name. The token itself is in no line and no argument.
func TestHubRefusesOnLoopback(t *testing.T) {
	t.Parallel()
	var told bytes.Buffer
	h := &hubProcess{cmd: ripple("hub", "-v", "-v", "--listen", "127.0.0.1:0", "--store", filepath.Join(t.TempDir(), "hub"))}
	h.cmd.Stderr = &told
	h.start(t)
	info, err := os.Stat(h.token)
	token, err2 := os.ReadFile(h.token)
	wrong := filepath.Join(t.TempDir(), "wrong")
	if err := errors.Join(err, err2, os.WriteFile(wrong, []byte("0123456789abcdef0123456789\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if info.Mode() != 0o600 || filepath.Base(h.token) != "token" {
		t.Errorf("the token file is %s, %s", h.token, info.Mode())
	}
	const advice = "; [cluster] credentials must name the token file whose path \"ripple hub\" prints, or a copy of it\n"
	machines, _ := newMachines(t, h.url, 1, 1)
	text, err := os.ReadFile(machines[0].config)
	if err != nil {
		t.Fatal(err)
	}
	for file, what := range map[string]string{
		"": "a client without a token or key", wrong: "the token or key in " + wrong,
	} {
		if err := os.WriteFile(machines[0].config, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if file != "" {
			allowTo(t, machines[0].config, file)
		}
		for _, args := range [][]string{{"crawl"}, {"stats", "--config"}, {"stop", "--config"}} {
			cmd := ripple(append(args, machines[0].config)...)
			out, _ := cmd.CombinedOutput()
			if want := "ripple: " + h.url + ": the hub refuses " + what + advice; cmd.ProcessState.ExitCode() != 2 ||
				!strings.HasSuffix(string(out), want) || strings.Count(string(out), "hub") != strings.Count(want, "hub") {
				t.Errorf("%v: %v\n%s, want\n%s", args, cmd.ProcessState, out, want)
			}
		}
	}
	_, done := h.bucket(t, h.dial())
	done()
	_ = h.cmd.Process.Signal(os.Interrupt)
	_ = h.cmd.Wait()
	if secret := strings.TrimSpace(string(token)); len(secret) < 16 || strings.Contains(told.String(), secret) ||
		!strings.Contains(told.String(), "[cluster] credentials") {
		t.Errorf("the hub tells of its token:\n%s", &told)
	}
}

// allowTo adds the file of a token to the configuration of a node.
func allowTo(t *testing.T, config, token string) {
	t.Helper()
	text, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	text = bytes.Replace(text, []byte("[cluster]\n"), fmt.Appendf(nil, "[cluster]\ncredentials = %q\n", token), 1)
	if err := os.WriteFile(config, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// A renewed certificate is shown to new clients, and present ones stay.
func TestHubCertificateRenewed(t *testing.T) {
	t.Parallel()
	cert, key := crawltest.Certificate(t)
	h := startHub(t, "--store", filepath.Join(t.TempDir(), "hub"), "--cert", cert, "--key", key)
	d := h.dial()
	d.CAFile = cert
	before, err := hub.Connect(t.Context(), d)
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
		d.CAFile = path
		c, err := hub.Connect(t.Context(), d)
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

// A hub that knows the terrain of another release is recognized, with advice.
func TestHubOfAnotherRelease(t *testing.T) {
	t.Parallel()
	h := startHub(t, "--store", filepath.Join(t.TempDir(), "hub"))
	c, err := hub.Connect(t.Context(), h.dial())
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
	allowTo(t, machines[0].config, h.token)
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

// An address or a store that another hub uses is reported in one line.
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
