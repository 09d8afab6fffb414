package main

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"time"

	"github.com/spf13/cobra"

	"github.com/sumi-ripple/ripple/cmd/ripple/desk"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
)

// envSocket names the socket at which this process is to read a terrain for a desk, as
// the child of [readerCommand].
const envSocket = "RIPPLE_READ_SOCKET"

// readerCommand makes the process that reads a state file for a desk.
func readerCommand(path, socket string) (*exec.Cmd, error) {
	self, err := term.ThisProgram()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, "read-terrain", "--state", path)
	cmd.Args[0] = os.Args[0]
	cmd.Env = append(os.Environ(), envSocket+"="+socket)
	return cmd, nil
}

// newReadTerrainCommand is the child's side. It is not meant for people.
func newReadTerrainCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:    "read-terrain",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			socket := os.Getenv(envSocket)
			if socket == "" {
				return term.Usage("use \"ripple serve\"")
			}
			return readTerrain(cmd.Context(), a, socket)
		},
	}
}

func readTerrain(ctx context.Context, a *app, socket string) error {
	if info, err := os.Stat(a.named.State); err == nil {
		term.LimitAddressSpace(4<<30 + 2*info.Size())
	}
	a.voice.Quiet = true
	t := newTerrainReader(a.states, a.named.State)
	defer t.close()
	api, err := desk.NewAPI(terrainRoutes(t), nil, term.ThisBuild().Version)
	if err != nil {
		return err
	}
	return desk.ServeReader(ctx, socket, t.answering(api), os.Stdin, a.stdout)
}

// answering has questions answered one after the other. An answer is sent when the next
// one is worked on: nobody waits for whoever takes it slowly. The same question has the
// same answer as long as the same is read.
func (t *terrainReader) answering(api http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var a *heldAnswer
		t.own(r.Context(), r.Header.Get("Cache-Control") == "no-cache", func() {
			if t.now != nil {
				a = t.now.answers[r.URL.String()]
			}
			if a == nil {
				a = &heldAnswer{header: http.Header{}, code: http.StatusOK}
				api.ServeHTTP(a, r)
				t.keep(r, a)
			}
			if t.now != nil && t.now.copied() {
				w.Header().Set(desk.AgeHeader, fmt.Sprintf("%.1f", time.Since(t.now.at).Seconds()))
			}
		})
		if a == nil {
			return // whoever asked has gone
		}
		maps.Copy(w.Header(), a.header)
		w.WriteHeader(a.code)
		_, _ = w.Write(a.body.Bytes())
	})
}

// maxKept bounds what is kept of answers, in bytes.
const maxKept = 64 << 20

// keep keeps an answer, unless it is an error, says what a crawl does at this moment, or there is no room.
func (t *terrainReader) keep(r *http.Request, a *heldAnswer) {
	if t.now != nil && t.now.moment {
		t.now.moment = false
		return
	}
	if t.now == nil || r.Method != http.MethodGet || a.code != http.StatusOK || t.now.kept+a.body.Len() > maxKept {
		return
	}
	t.now.answers[r.URL.String()] = a
	t.now.kept += a.body.Len() + len(r.URL.String())
}

// A heldAnswer is an answer that waits to be sent.
type heldAnswer struct {
	header http.Header
	code   int
	body   bytes.Buffer
}

func (h *heldAnswer) Header() http.Header { return h.header }

func (h *heldAnswer) WriteHeader(code int) { h.code = code }

func (h *heldAnswer) Write(b []byte) (int, error) { return h.body.Write(b) }
