package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/census"
)

const (
	metricsEvery  = 10 * time.Second
	metricsHeader = "timestamp,metric,value\n"
)

// A metricsFile is the file that [monitor] metrics-csv names: lines of Unix seconds, metric and value. They are
// appended in one write, so a kill leaves at most one incomplete line. The next crawl cuts it. After a full disk it is
// cut as soon as there is room.
type metricsFile struct {
	file     *os.File
	transfer *transfer
	torn     bool // the last write failed, and may have left an incomplete line
}

// refuseMetrics returns an error if a file of metrics cannot be opened. An empty path is no file.
func refuseMetrics(path string) error {
	if path == "" {
		return nil
	}
	if info, err := os.Stat(filepath.Dir(path)); err != nil || !info.IsDir() {
		return term.Usage("[monitor] metrics-csv: there is no folder %s; create it", term.Shown(filepath.Dir(path)))
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("is not a file")
	}
	if err == nil {
		err = begunByUs(path)
	}
	if err != nil {
		return term.WrongConfig(fmt.Errorf("[monitor] metrics-csv: %s %w", term.Shown(path), err))
	}
	return nil
}

// begunByUs returns an error if a file does not begin as a file of metrics does.
func begunByUs(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, int64(len(metricsHeader))))
	if err == nil && !bytes.HasPrefix([]byte(metricsHeader), head) {
		err = errors.New("exists and was not written by Ripple; move it away or name another file")
	}
	return err
}

// openMetrics opens a file of metrics for appending, or creates it.
func openMetrics(path string) (*metricsFile, error) {
	if err := refuseMetrics(path); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return nil, term.WrongConfig(fmt.Errorf("[monitor] metrics-csv: %w", err))
	}
	m := &metricsFile{file: f, transfer: &transfer{}}
	if err := m.repair(); err != nil {
		f.Close()
		return nil, term.WrongConfig(fmt.Errorf("[monitor] metrics-csv: %s %w", term.Shown(path), err))
	}
	return m, nil
}

// repair completes the header, and cuts an incomplete line.
func (m *metricsFile) repair() error {
	info, err := m.file.Stat()
	if err != nil {
		return err
	}
	if info.Size() < int64(len(metricsHeader)) {
		if err := m.file.Truncate(0); err != nil {
			return err
		}
		_, err := m.file.WriteString(metricsHeader)
		return err
	}
	tail := make([]byte, min(info.Size(), 4096))
	if _, err := m.file.ReadAt(tail, info.Size()-int64(len(tail))); err != nil && err != io.EOF {
		return err
	}
	whole := bytes.LastIndexByte(tail, '\n') + 1
	if whole == len(tail) {
		return nil
	}
	return m.file.Truncate(info.Size() - int64(len(tail)-whole))
}

// A transfer counts the answers that this process has committed. Its methods may be called from any goroutine; the zero
// value is empty.
type transfer struct {
	bytes, notModified, retries atomic.Int64
	groups                      [5]atomic.Int64 // by the first digit of the status, from 1 on
}

// add counts the requests of a commit.
func (t *transfer) add(c crawl.Commit) {
	for i := range c.Outcomes {
		o := &c.Outcomes[i]
		t.bytes.Add(max(0, o.Length))
		if o.Status == http.StatusNotModified {
			t.notModified.Add(1)
		}
		if group := o.Status/100 - 1; group >= 0 && group < len(t.groups) {
			t.groups[group].Add(1)
		}
		if o.Step.Visit.Retries > 0 && o.Step.Visit.Requests == 0 {
			t.retries.Add(1)
		}
	}
}

// lines calls line for each count.
func (t *transfer) lines(line func(metric string, value float64)) {
	line("bytes", float64(t.bytes.Load()))
	for i := range t.groups {
		line(fmt.Sprintf("status_%dxx", i+1), float64(t.groups[i].Load()))
	}
	line("not_modified_304", float64(t.notModified.Load()))
	line("retries", float64(t.retries.Load()))
}

// append adds the lines of one moment in a single write.
func (m *metricsFile) append(at time.Time, s *census.Status) error {
	var b bytes.Buffer
	line := func(metric string, value float64) {
		fmt.Fprintf(&b, "%d,%s,%s\n", at.Unix(), metric, strconv.FormatFloat(value, 'f', -1, 64))
	}
	line("run_id", float64(s.RunID))
	line("elapsed_seconds", s.Elapsed)
	line("pages_requested", float64(s.Pages))
	line("pages_rendered", float64(s.Rendered))
	line("requests", float64(s.Requests))
	line("fetching", float64(s.Fetching))
	line("pages_waiting", float64(s.PagesWaiting))
	line("pages_per_second", s.PagesPerSecond)
	line("hosts_active", float64(s.Hosts.Active))
	line("hosts_waiting", float64(s.Hosts.Waiting))
	line("hosts_suspended", float64(s.Hosts.Suspended))
	line("hosts_given_up", float64(s.Hosts.GivenUp))
	m.transfer.lines(line)
	for _, kind := range slices.Sorted(maps.Keys(s.Errors)) {
		line("errors_"+kind, float64(s.Errors[kind]))
	}
	if m.torn {
		if err := m.repair(); err != nil {
			return err
		}
	}
	_, err := m.file.Write(b.Bytes())
	m.torn = err != nil
	return err
}

// follow appends the metrics every 10 s, and a last time when ctx is done. A full disk does not end a crawl; warn is
// called once.
func (m *metricsFile) follow(ctx context.Context, status func() census.Status, warn func(error)) error {
	defer m.file.Close()
	tick := time.NewTicker(metricsEvery)
	defer tick.Stop()
	told := false
	for done := false; !done; {
		select {
		case <-tick.C:
		case <-ctx.Done():
			done = true
		}
		s := status()
		if err := m.append(time.Now(), &s); err != nil && !told {
			told = true
			warn(err)
		}
	}
	return nil
}
