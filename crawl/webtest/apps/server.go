package apps

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// start starts the application's own server, which ends with the test, and returns what passes requests on to it.
func (a App) start(t testing.TB, folder string) http.Handler {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed; no server is started")
	}
	port := freePort(t)
	cmd := exec.Command(node, a.server)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "HOSTNAME=127.0.0.1", fmt.Sprint("PORT=", port), "NEXT_TELEMETRY_DISABLED=1")
	said, err := os.Create(filepath.Join(t.TempDir(), "server.log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = said, said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = said.Close()
	})
	at := &url.URL{Scheme: "http", Host: fmt.Sprint("127.0.0.1:", port)}
	for until := time.Now().Add(2 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
		response, err := http.Get(at.String())
		if err == nil {
			_, _ = io.Copy(io.Discard, response.Body) // whatever it is, the server is there
			_ = response.Body.Close()
			return httputil.NewSingleHostReverseProxy(at)
		}
		if time.Now().After(until) {
			text, _ := os.ReadFile(said.Name())
			t.Fatalf("the server of %s does not answer: %v: %s", a.Name, err, text)
		}
	}
}

func freePort(t testing.TB) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}
