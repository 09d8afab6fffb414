package fetch

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
)

// A script acts as a server on one connection, which is closed after it.
type script func(conn net.Conn, in *bufio.Reader)

// piped returns a client whose connections are all served by the script. The test ends after the script.
func piped(t testing.TB, cfg Config, play script) *Client {
	t.Helper()
	var playing sync.WaitGroup
	cfg.dial = func(context.Context, netip.AddrPort, bool) (net.Conn, error) {
		client, server := net.Pipe()
		playing.Go(func() {
			defer server.Close()
			play(server, bufio.NewReader(server))
		})
		return client, nil
	}
	t.Cleanup(playing.Wait)
	return newClient(t, cfg)
}

// listen runs the script on each connection to a socket, and counts connections.
func listen(t testing.TB, play script) (addr string, accepted *atomic.Int64) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	accepted = new(atomic.Int64)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			accepted.Add(1)
			play(conn, bufio.NewReader(conn))
			conn.Close()
		}
	}()
	t.Cleanup(func() { l.Close(); <-done })
	return l.Addr().String(), accepted
}

// answer reads a request and writes text.
func answer(text string) script {
	return func(conn net.Conn, in *bufio.Reader) {
		if _, err := http.ReadRequest(in); err == nil {
			io.WriteString(conn, text)
		}
	}
}

// answerThen reads a request, writes text, and then repeats part forever, pausing before each.
func answerThen(text, part string, pause func()) script {
	return func(conn net.Conn, in *bufio.Reader) {
		answer(text)(conn, in)
		for {
			pause()
			if _, err := io.WriteString(conn, part); err != nil {
				return
			}
		}
	}
}

// silent reads and never answers, until the client disconnects.
func silent(_ net.Conn, in *bufio.Reader) { io.Copy(io.Discard, in) }
