package control

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http/httputil"
	"os"
	"time"

	"golang.org/x/sync/errgroup"
)

// A Handler is what a crawl answers. Its functions may be called from several
// goroutines at a time.
type Handler struct {
	// Answer returns what becomes the JSON of the reply. Its error is told to
	// whoever asked.
	Answer func(ctx context.Context, do string) (any, error)
	// Size returns how many bytes a copy would have now, and Snapshot writes it. An
	// error of Size is told, and no copy made.
	Size     func(context.Context) (int64, error)
	Snapshot func(io.Writer) (int64, error)
}

// A Server is the crawl's end of the socket.
type Server struct {
	listener *net.UnixListener
	handler  Handler
	copying  chan struct{} // holds a token while a copy is made
}

// Listen opens the socket of a state file. The caller holds the lock of that
// file, so a socket that is already there was left behind and is removed.
func Listen(state string, h Handler) (*Server, error) {
	path, err := Path(state)
	if err != nil {
		return nil, err
	}
	if info, err := os.Lstat(path); err == nil {
		if info.Mode()&os.ModeSocket == 0 {
			return nil, fmt.Errorf("control: %s is there and is no socket", path)
		}
		if err := os.Remove(path); err != nil {
			return nil, fmt.Errorf("control: remove old socket: %w", err)
		}
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("control: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		l.Close()
		return nil, fmt.Errorf("control: %w", err)
	}
	return &Server{listener: l, handler: h, copying: make(chan struct{}, 1)}, nil
}

// Serve answers until ctx is done, then removes the socket and waits for what is
// being answered. It is called once.
func (s *Server) Serve(ctx context.Context) error {
	var g errgroup.Group
	g.SetLimit(16)
	stop := context.AfterFunc(ctx, func() { s.listener.Close() })
	defer stop()
	for {
		c, err := s.listener.AcceptUnix()
		if err != nil {
			s.listener.Close()
			_ = g.Wait()
			if ctx.Err() != nil || errors.Is(err, net.ErrClosed) {
				return nil
			}
			return fmt.Errorf("control: %w", err)
		}
		g.Go(func() error {
			hangUp := context.AfterFunc(ctx, func() { c.Close() })
			defer hangUp()
			defer c.Close()
			s.answer(ctx, c)
			return nil
		})
	}
}

// answer reads one question. What goes wrong is the other end's to notice.
func (s *Server) answer(ctx context.Context, c *net.UnixConn) {
	_ = c.SetDeadline(time.Now().Add(patience))
	line, err := bufio.NewReader(io.LimitReader(c, maxQuestion)).ReadBytes('\n')
	if err != nil {
		return
	}
	var q question
	if err := json.Unmarshal(line, &q); err != nil || q.Do == "" {
		writeLine(c, answer{Error: "the question is not understood"})
		return
	}
	if q.Do == doSnapshot {
		s.snapshot(ctx, c)
		return
	}
	v, err := s.handler.Answer(ctx, q.Do)
	if err != nil {
		writeLine(c, answer{Error: err.Error()})
		return
	}
	reply, err := json.Marshal(v)
	if err != nil {
		writeLine(c, answer{Error: err.Error()})
		return
	}
	writeLine(c, answer{Reply: reply})
}

func (s *Server) snapshot(ctx context.Context, c net.Conn) {
	select {
	case s.copying <- struct{}{}:
		defer func() { <-s.copying }()
	default:
		writeLine(c, answer{Error: errBusy.Error()})
		return
	}
	size, err := s.handler.Size(ctx)
	if err != nil {
		writeLine(c, answer{Error: err.Error()})
		return
	}
	if !writeLine(c, answer{Size: max(1, size)}) {
		return
	}
	buffered := bufio.NewWriterSize(&patient{Conn: c}, 1<<20)
	chunks := httputil.NewChunkedWriter(buffered)
	if _, err := s.handler.Snapshot(chunks); err != nil {
		return
	}
	if chunks.Close() == nil {
		_, _ = buffered.WriteString("\r\n") // ends the trailer of the last chunk
		_ = buffered.Flush()
	}
}

func writeLine(c net.Conn, a answer) bool {
	line, err := json.Marshal(a)
	if err != nil {
		return false
	}
	_ = c.SetWriteDeadline(time.Now().Add(patience))
	_, err = c.Write(append(line, '\n'))
	return err == nil
}

// A patient connection fails only when nothing has moved for a while.
type patient struct{ net.Conn }

func (p *patient) Write(b []byte) (int, error) {
	_ = p.SetWriteDeadline(time.Now().Add(patience))
	return p.Conn.Write(b)
}

func (p *patient) Read(b []byte) (int, error) {
	_ = p.SetReadDeadline(time.Now().Add(patience))
	return p.Conn.Read(b)
}
