package desk

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/crawl/control"
	"github.com/sumi-ripple/ripple/export/atomicfile"
)

// AgeHeader is the age in seconds of the data that an answer was made from.
const AgeHeader = "Ripple-Age"

const (
	maxAnswer = 2 * time.Minute  // for one answer of the reader, which is then killed
	starting  = 20 * time.Second // until the reader listens
)

// A Reader makes a process of its own answer requests that read the terrain. It starts the process
// at the first request, and again when it has ended. The process ends with this one. Its methods
// may be called from any goroutine.
type Reader struct {
	// Command returns the process, which calls [ServeReader] for the socket.
	Command func(socket string) (*exec.Cmd, error)

	mu     sync.Mutex
	child  *child // nil: none is running
	n      int    // number of processes started
	dir    string // private folder for the sockets
	remove func()
	ends   errgroup.Group
}

// A child is the reader's process.
type child struct {
	cmd   *exec.Cmd
	stdin io.Closer // closing it ends the process
	proxy *httputil.ReverseProxy
	ended chan struct{}
}

// ServeHTTP passes a request to the process.
func (r *Reader) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	c, err := r.running(req.Context())
	if err != nil {
		Refuse(w, &control.Error{Code: http.StatusServiceUnavailable,
			Text: "the terrain cannot be read: " + err.Error()})
		return
	}
	ctx, cancel := context.WithTimeoutCause(req.Context(), maxAnswer, errSlow)
	defer cancel()
	out := req.Clone(ctx)
	out.Header = http.Header{}
	for _, name := range []string{"Content-Type", "Cache-Control"} {
		if v := req.Header.Get(name); v != "" {
			out.Header.Set(name, v)
		}
	}
	c.proxy.ServeHTTP(w, out)
	if context.Cause(ctx) == errSlow {
		_ = c.cmd.Process.Kill()
	}
}

var errSlow = errors.New("it takes longer than " + maxAnswer.String())

// Get requests current data, such as "feed?since=7", and decodes the answer.
func (r *Reader) Get(ctx context.Context, what string, v any) error {
	c, err := r.running(ctx)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://reader"+control.Root+what, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Cache-Control", "no-cache")
	a, err := c.proxy.Transport.RoundTrip(req)
	if err != nil {
		return err
	}
	defer a.Body.Close()
	if a.StatusCode != http.StatusOK {
		return &control.Error{Code: a.StatusCode, Text: "the reader answers " + a.Status}
	}
	return json.NewDecoder(a.Body).Decode(v)
}

// running returns the process, and starts it if there is none.
func (r *Reader) running(ctx context.Context) (*child, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.child != nil {
		select {
		case <-r.child.ended:
		default:
			return r.child, nil
		}
	}
	c, err := r.start(ctx)
	if err != nil {
		return nil, err
	}
	r.child = c
	return c, nil
}

// socket returns the name of the socket of the next process.
func (r *Reader) socket() (string, error) {
	if r.dir == "" {
		dir, remove, err := atomicfile.Scratch(os.TempDir())
		if err != nil {
			return "", err
		}
		r.dir, r.remove = dir, remove
	}
	r.n++
	return filepath.Join(r.dir, "r"+strconv.Itoa(r.n)), nil
}

func (r *Reader) start(ctx context.Context) (*child, error) {
	socket, err := r.socket()
	if err != nil {
		return nil, err
	}
	cmd, err := r.Command(socket)
	if err != nil {
		return nil, err
	}
	apart(cmd)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	var said bytes.Buffer
	cmd.Stderr = &firstBytes{&said}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	c := &child{cmd: cmd, stdin: stdin, proxy: proxyTo(socket), ended: make(chan struct{})}
	ready := r.watch(c, out)
	limit, cancel := context.WithTimeout(ctx, starting)
	defer cancel()
	select {
	case err = <-ready:
	case <-limit.Done():
		err = limit.Err()
	}
	if err != nil {
		_ = cmd.Process.Kill()
		<-c.ended
		return nil, fmt.Errorf("its reader does not start: %w %s", err, said.Bytes())
	}
	return c, nil
}

// watch waits for the end of a process. The channel returned reports when it is ready.
func (r *Reader) watch(c *child, out io.Reader) (ready chan error) {
	ready = make(chan error, 1)
	r.ends.Go(func() error {
		_, err := bufio.NewReader(out).ReadString('\n')
		ready <- err
		_ = c.cmd.Wait()
		close(c.ended)
		return nil
	})
	return ready
}

// Close ends the process.
func (r *Reader) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.child != nil {
		_ = r.child.stdin.Close()
		select {
		case <-r.child.ended:
		case <-time.After(parting):
			_ = r.child.cmd.Process.Kill()
		}
	}
	_ = r.ends.Wait()
	if r.remove != nil {
		r.remove()
		r.dir, r.remove = "", nil
	}
}

// proxyTo returns a proxy to the process that listens at a socket.
func proxyTo(socket string) *httputil.ReverseProxy {
	return &httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) {
			p.Out.URL.Scheme, p.Out.URL.Host, p.Out.Host = "http", "reader", "reader"
		},
		Transport: &http.Transport{
			DisableCompression: true,
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				return (&net.Dialer{}).DialContext(ctx, "unix", socket)
			},
		},
		ErrorLog: quiet(),
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, _ error) {
			if errors.Is(context.Cause(r.Context()), errSlow) {
				Refuse(w, &control.Error{Code: http.StatusGatewayTimeout, Text: errSlow.Error()})
				return
			}
			w.Header().Set("Retry-After", "1")
			Refuse(w, &control.Error{Code: http.StatusServiceUnavailable,
				Text: "the reader of the terrain has ended; ask again"})
		},
	}
}

// ServeReader is the process's side: it answers at a socket until in ends, which happens when the
// process at its other end does. When it listens, it writes a line to out.
func ServeReader(ctx context.Context, socket string, h http.Handler, in io.Reader, out io.Writer) error {
	l, err := net.Listen("unix", socket)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: h, ErrorLog: quiet()}
	var g errgroup.Group
	g.Go(func() error {
		_, _ = io.Copy(io.Discard, in)
		return server.Close()
	})
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	fmt.Fprintln(out, "ready")
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// firstBytes keeps the beginning of what is written to it.
type firstBytes struct{ to *bytes.Buffer }

func (f *firstBytes) Write(b []byte) (int, error) {
	const most = 1000
	f.to.Write(b[:min(len(b), max(0, most-f.to.Len()))])
	return len(b), nil
}
