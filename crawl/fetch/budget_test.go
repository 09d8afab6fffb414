package fetch

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// large answers with size bytes, encoded or not.
func large(t *testing.T, size int, encodings ...string) script {
	data := encode(t, []byte(strings.Repeat("x", size)), encodings...)
	head := page
	if len(encodings) > 0 {
		head += "Content-Encoding: " + strings.Join(encodings, ", ") + "\r\n"
	}
	return answer(head + fmt.Sprintf("Content-Length: %d\r\n\r\n", len(data)) + string(data))
}

// A large body waits until there is memory for it, even longer than the time-outs, and does not
// fail. Small ones do not wait.
func TestBudget(t *testing.T) {
	const size = 3 << 20
	synctest.Test(t, func(t *testing.T) {
		budget := NewBudget(5 << 20)
		get := func(play script) (*Response, error) {
			return piped(t, Config{Bodies: budget, MaxBytes: 4 << 20, Compress: true}, play).Do(t.Context(),
				Request{URL: "http://192.0.2.1/"})
		}
		first, err := get(large(t, size))
		if err != nil || first.Waited != 0 {
			t.Fatalf("%+v, %v", first, err)
		}
		go func() {
			time.Sleep(time.Hour)
			first.Release()
		}()
		small, err := get(large(t, freeBytes-1))
		if err != nil || small.Waited != 0 || small.Decode(nil) != nil || small.Size != freeBytes-1 {
			t.Errorf("small: %+v, %v", small, err)
		}
		second, err := get(large(t, size))
		if err != nil || second.Waited != time.Hour || second.Decode(nil) != nil || second.Size != size {
			t.Errorf("second: %d bytes after a wait of %v, %v", second.Size, second.Waited, err)
		}
		second.Release()
	})
}

// A body that is small when encoded waits when it is decoded, and its decoder does not block
// others.
func TestBudgetOfDecoded(t *testing.T) {
	const size = 3 << 20
	synctest.Test(t, func(t *testing.T) {
		cfg := Config{Bodies: NewBudget(5 << 20), MaxBytes: 4 << 20, Compress: true}
		get := func() *Response {
			res, err := piped(t, cfg, large(t, size, "gzip")).Do(t.Context(), Request{URL: "http://192.0.2.1/"})
			if err != nil || res.Waited != 0 {
				t.Fatalf("%+v, %v", res, err)
			}
			return res
		}
		first, second := get(), get()
		if err := first.Decode(nil); err != nil || first.Size != size {
			t.Fatalf("%d bytes, %v", first.Size, err)
		}
		if err := second.Decode(nil); !errors.Is(err, ErrCrowded) || second.Body != nil {
			t.Errorf("%d bytes, %v; want none and %v", len(second.Body), err, ErrCrowded)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := second.Reserve(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("reserved: %v", err)
		}
		first.Release()
		if err := errors.Join(second.Reserve(t.Context()), second.Decode(nil)); err != nil || second.Size != size {
			t.Errorf("%d bytes, %v", second.Size, err)
		}
		second.Release()
	})
}

// One body is always admitted, and no body deadlocks with itself.
func TestBudgetTooSmall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := Config{Bodies: NewBudget(1), MaxBytes: 4 << 20, Compress: true}
		for _, encodings := range [][]string{nil, {"gzip"}} {
			res, err := do(piped(t, cfg, large(t, 3<<20, encodings...)), t.Context(), Request{URL: "http://192.0.2.1/"})
			if err != nil || res.Size != 3<<20 {
				t.Errorf("%v: %+v, %v", encodings, res, err)
			}
		}
	})
}

// If a server hangs up while its body waits, the server is not at fault. The wait ends with the
// caller's context.
func TestBudgetNoFault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := Config{Bodies: NewBudget(5 << 20), MaxBytes: 4 << 20}
		first, err := piped(t, cfg, large(t, 3<<20)).Do(t.Context(), Request{URL: "http://192.0.2.1/"})
		if err != nil {
			t.Fatal(err)
		}
		hangUp := func(conn net.Conn, in *bufio.Reader) {
			answer(page+"Content-Length: 3000000\r\n\r\n"+strings.Repeat("x", freeBytes))(conn, in)
			time.Sleep(time.Minute)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := piped(t, cfg, hangUp).Do(ctx, Request{URL: "http://192.0.2.1/"}); causeOf(t, err) != Cancelled {
			t.Errorf("%v, want cancelled", err)
		}
		go func() {
			time.Sleep(2 * time.Minute)
			first.Release()
		}()
		_, err = piped(t, cfg, hangUp).Do(t.Context(), Request{URL: "http://192.0.2.1/"})
		var e *Error
		if !errors.As(err, &e) || e.Own != OwnWait {
			t.Errorf("%+v, want a failure of this machine", e)
		}
	})
}

// Memory for a body from elsewhere comes from the budget and is returned, even if the wait is cancelled just
// when it is granted.
func TestReserve(t *testing.T) {
	c := &Client{budget: NewBudget(100 << 20), free: 1 << 20}
	ctx, cancel := context.WithCancel(t.Context())
	all, err := c.Reserve(ctx, 90<<20)
	if err != nil || c.budget.held != 90<<20 {
		t.Fatalf("%d bytes are held, %v", c.budget.held, err)
	}
	few, err := c.Reserve(ctx, 1<<20)
	if err != nil || c.budget.held != 90<<20 {
		t.Errorf("%d bytes are held with a small body, %v", c.budget.held, err)
	}
	few()
	cancel()
	if _, err := c.Reserve(ctx, 20<<20); !errors.Is(err, context.Canceled) {
		t.Errorf("there is no room, and the error is %v", err)
	}
	all()
	for range 100 {
		free, _ := c.Reserve(ctx, 10<<20) // may or may not succeed
		free()
	}
	if c.budget.held != 0 || c.budget.moving != 0 || len(c.budget.waiting) != 0 {
		t.Errorf("%d bytes are held, %d claims move, %d wait", c.budget.held, c.budget.moving, len(c.budget.waiting))
	}
}
