package control

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http/httputil"
	"time"
)

const doSnapshot = "snapshot"

// Ask asks the crawl of a state file and decodes its reply, unless reply is nil.
// It fails with [ErrNobody] where no crawl listens.
func Ask(ctx context.Context, state, do string, reply any) error {
	c, err := dial(ctx, state)
	if err != nil {
		return err
	}
	defer c.Close()
	a, err := ask(c, bufio.NewReader(c), do)
	if err != nil || reply == nil {
		return err
	}
	if err := json.Unmarshal(a.Reply, reply); err != nil {
		return fmt.Errorf("control: reply to %s: %w", do, err)
	}
	return nil
}

// Snapshot writes a consistent copy of a state file that is being crawled. Before
// the first byte it tells fit how many there will be, about; an error of fit ends
// it. It fails with [ErrNobody] where no crawl listens.
func Snapshot(ctx context.Context, state string, w io.Writer, fit func(size int64) error) error {
	c, err := dial(ctx, state)
	if err != nil {
		return err
	}
	defer c.Close()
	r := bufio.NewReaderSize(c, 1<<20)
	a, err := ask(c, r, doSnapshot)
	if err != nil {
		return err
	}
	if err := fit(a.Size); err != nil {
		return err
	}
	if _, err := io.Copy(w, httputil.NewChunkedReader(r)); err != nil {
		return fmt.Errorf("copy the state: %w", cause(ctx, err))
	}
	return nil
}

// A conn is a connection that ends with its context.
type conn struct {
	*patient
	release func() bool
}

func (c *conn) Close() error {
	c.release()
	return c.patient.Close()
}

func dial(ctx context.Context, state string) (*conn, error) {
	path, err := Path(state)
	if err != nil {
		return nil, err
	}
	d := net.Dialer{Timeout: 2 * time.Second}
	c, err := d.DialContext(ctx, "unix", path)
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, ErrNobody
	}
	release := context.AfterFunc(ctx, func() { c.Close() })
	return &conn{&patient{c}, release}, nil
}

// ask sends a question and reads the line that answers it.
func ask(c net.Conn, r *bufio.Reader, do string) (answer, error) {
	line, err := json.Marshal(question{Do: do})
	if err != nil {
		return answer{}, err
	}
	if _, err := c.Write(append(line, '\n')); err != nil {
		return answer{}, fmt.Errorf("ask the crawl: %w", err)
	}
	line, err = readLine(r)
	if errors.Is(err, io.EOF) {
		return answer{}, fmt.Errorf("ask the crawl: %w", ErrNobody)
	}
	if err != nil {
		return answer{}, fmt.Errorf("ask the crawl: %w", err)
	}
	var a answer
	if err := json.Unmarshal(line, &a); err != nil {
		return answer{}, fmt.Errorf("ask the crawl: %w", err)
	}
	if a.Error != "" {
		return answer{}, errors.New(a.Error)
	}
	return a, nil
}

// readLine reads a line of at most maxReply bytes.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > maxReply {
			return nil, errors.New("the reply is too long")
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimSuffix(line, []byte("\n")), err
		}
	}
}

// cause prefers why the context ended over what that did to the connection.
func cause(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
