package webtest

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"
)

// An Entry is one request as the server saw it or, with an empty Method, one connection that a
// [Down] host ended before a request.
type Entry struct {
	Host      string      `json:"host"` // as requested: lower case, with the port unless it is 443
	Method    string      `json:"method"`
	Path      string      `json:"path"`       // with the query, byte for byte
	Opened    time.Time   `json:"opened"`     // when the connection was accepted; zero without a request
	Arrived   time.Time   `json:"arrived"`    // when its header had been read
	FirstByte time.Time   `json:"first_byte"` // just before the first byte of the answer; zero if there was none
	Done      time.Time   `json:"done"`       // when the answer was written or given up, just before its connection ended
	Status    int         `json:"status"`     // 0 if there was no answer
	UserAgent string      `json:"user_agent"`
	Header    http.Header `json:"header"`
	Open      int         `json:"open"` // other requests open at this host, with and without www., at arrival
	Conn      uint64      `json:"conn"`
	Bytes     int64       `json:"bytes"`   // of the body, as encoded; for raw faults including the header
	Aborted   bool        `json:"aborted"` // the answer was not completed, whichever side ended it
}

// A connKey is the context key of a request's connection.
type connKey struct{}

// A connection is the connection of a request.
type connection struct {
	number uint64
	opened time.Time
	socket *socket
}

// latest returns now or, if the connection ended before, the time of its end: no request outlives
// its connection, though a busy server may notice late.
func (c connection) latest() time.Time {
	if c.socket != nil {
		if over := c.socket.over.Load(); over != nil {
			return *over
		}
	}
	return time.Now()
}

// A journal is the log of a server. Its zero value keeps everything, except that open must be
// initialised.
type journal struct {
	forget bool
	out    io.Writer

	mu       sync.Mutex
	entries  []*Entry
	open     map[string]int
	writeErr error
}

func (j *journal) begin(w http.ResponseWriter, r *http.Request) *exchange {
	conn, _ := r.Context().Value(connKey{}).(connection)
	e := &Entry{
		Host: canonicalHost(r.Host), Method: r.Method, Path: r.RequestURI,
		UserAgent: r.UserAgent(), Header: r.Header, Conn: conn.number, Opened: conn.opened, Arrived: time.Now(),
	}
	key := siteHost(e.Host)
	j.mu.Lock()
	defer j.mu.Unlock()
	e.Open = j.open[key]
	j.open[key]++
	if !j.forget {
		j.entries = append(j.entries, e)
	}
	return &exchange{ResponseWriter: w, request: r, journal: j, entry: e, conn: conn}
}

// answered records the first byte. A later status replaces an interim one.
func (j *journal) answered(e *Entry, at time.Time, status int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if e.FirstByte.IsZero() {
		e.FirstByte = at
	}
	e.Status = status
}

// ended records when an answer ended, unless already recorded.
func (j *journal) ended(e *Entry, at time.Time) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if e.Done.IsZero() {
		e.Done = at
	}
}

func (j *journal) finish(e *Entry, at time.Time, bytes int64, aborted bool) {
	j.ended(e, at)
	key := siteHost(e.Host)
	j.mu.Lock()
	defer j.mu.Unlock()
	e.Bytes, e.Aborted = bytes, aborted
	if j.open[key]--; j.open[key] <= 0 {
		delete(j.open, key)
	}
	j.write(e)
}

// tried records a connection that ended without a request.
func (j *journal) tried(host string, arrived, ended time.Time) {
	e := &Entry{Host: host, Arrived: arrived, Done: ended, Aborted: true}
	j.mu.Lock()
	defer j.mu.Unlock()
	if !j.forget {
		j.entries = append(j.entries, e)
	}
	j.write(e)
}

// write writes one line. The caller holds mu.
func (j *journal) write(e *Entry) {
	if j.out == nil || j.writeErr != nil {
		return
	}
	line, err := json.Marshal(e)
	if err == nil {
		_, err = j.out.Write(append(line, '\n'))
	}
	if err != nil {
		j.writeErr = fmt.Errorf("write request log: %w", err)
	}
}

func (j *journal) err() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.writeErr
}

func (j *journal) reset() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.entries = nil
}

func (j *journal) entriesByArrival() []Entry {
	j.mu.Lock()
	out := make([]Entry, len(j.entries))
	for i, e := range j.entries {
		out[i] = *e
	}
	j.mu.Unlock()
	sortByArrival(out)
	return out
}

func sortByArrival(entries []Entry) {
	slices.SortStableFunc(entries, func(a, b Entry) int { return a.Arrived.Compare(b.Arrived) })
}

// ReadLog reads the lines of [WithLogWriter] and returns them in order of arrival. An incomplete
// last line, which a killed process leaves, is dropped.
func ReadLog(r io.Reader) ([]Entry, error) {
	var entries []Entry
	lines := bufio.NewReader(r)
	for n := 1; ; n++ {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			sortByArrival(entries)
			return entries, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read request log: %w", err)
		}
		var e Entry
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, fmt.Errorf("request log, line %d: %w", n, err)
		}
		entries = append(entries, e)
	}
}
