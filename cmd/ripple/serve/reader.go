package serve

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"time"

	"github.com/sumi-ripple/ripple/cmd/ripple/desk"
	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
)

// EnvSocket is the environment variable with the socket at which a child of [readerCommand] answers.
const EnvSocket = "RIPPLE_READ_SOCKET"

// readerCommand returns the command that reads a state file for a desk.
func readerCommand(path, socket string) (*exec.Cmd, error) {
	self, err := term.ThisProgram()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, "read-terrain", "--state", path)
	cmd.Args[0] = os.Args[0]
	cmd.Env = append(os.Environ(), EnvSocket+"="+socket)
	return cmd, nil
}

// ReadTerrain answers questions about a state file at a socket.
func ReadTerrain(ctx context.Context, v *term.Voice, stdout io.Writer, path, socket string) error {
	if info, err := os.Stat(path); err == nil {
		term.LimitAddressSpace(4<<30 + 2*info.Size())
	}
	v.Quiet = true
	t := newTerrainReader(statefile.Files{Voice: v}, path)
	defer t.Close()
	api, err := desk.NewAPI(stateRoutes(t), nil, term.ThisBuild().Version)
	if err != nil {
		return err
	}
	return desk.ServeReader(ctx, socket, t.answering(api), os.Stdin, stdout)
}

// answering answers one question at a time. It sends an answer while it works on the next one, so a
// slow client delays nobody. An answer is kept as long as the same state is read.
func (t *terrainReader) answering(api http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var a *HeldAnswer
		t.own(r.Context(), r.Header.Get("Cache-Control") == "no-cache", func() {
			t.asked = t.now
			if t.now != nil {
				a = t.now.answers[r.URL.String()]
			}
			if a == nil {
				a = &HeldAnswer{Headers: http.Header{}, Code: http.StatusOK}
				api.ServeHTTP(a, r)
				t.keep(r, a)
			}
			if t.asked != nil && t.asked.copied() {
				w.Header().Set(desk.AgeHeader, fmt.Sprintf("%.1f", time.Since(t.asked.at).Seconds()))
			}
		})
		if a == nil {
			return // the client has disconnected
		}
		maps.Copy(w.Header(), a.Headers)
		w.WriteHeader(a.Code)
		_, _ = w.Write(a.Body.Bytes())
	})
}

// maxKept limits the answers that are kept, in bytes.
const maxKept = 64 << 20

// keep keeps an answer of the open state, unless it is an error, is not to be kept, or is too large.
func (t *terrainReader) keep(r *http.Request, a *HeldAnswer) {
	if t.asked != nil && t.asked.moment {
		t.asked.moment = false
		return
	}
	if t.now == nil || r.Method != http.MethodGet || a.Code != http.StatusOK || t.now.kept+a.Body.Len() > maxKept {
		return
	}
	t.now.answers[r.URL.String()] = a
	t.now.kept += a.Body.Len() + len(r.URL.String())
}

// A HeldAnswer is a response that is complete before it is sent.
type HeldAnswer struct {
	Headers http.Header
	Code    int
	Body    bytes.Buffer
}

func (h *HeldAnswer) Header() http.Header { return h.Headers }

func (h *HeldAnswer) WriteHeader(code int) { h.Code = code }

func (h *HeldAnswer) Write(b []byte) (int, error) { return h.Body.Write(b) }
