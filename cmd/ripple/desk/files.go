package desk

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/crawl/control"
	"github.com/sumi-ripple/ripple/export/atomicfile"
)

const (
	maxFiles   = 20 // files that are kept
	maxWriting = time.Hour
)

// An Order says which export is wanted, in the terms of "ripple export".
type Order struct {
	Format    string   `json:"format"`
	Level     string   `json:"level,omitempty"`
	Run       string   `json:"run,omitempty"`
	Without   []string `json:"without,omitempty"`
	Kinds     []string `json:"kinds,omitempty"` // of links; empty: all
	Only      []string `json:"only,omitempty"`
	With      []string `json:"with,omitempty"` // inlinks; OPML leaves it out
	MinWeight int      `json:"min_weight,omitempty"`
}

// A File is an export that was ordered.
type File struct {
	ID      string  `json:"id"`
	Order   Order   `json:"order"`
	Name    string  `json:"name"`
	Status  string  `json:"status"`  // waiting, writing, done or failed
	Bytes   int64   `json:"bytes"`   // written so far
	Step    string  `json:"step"`    // that is being worked on; empty: unknown
	Percent *int    `json:"percent"` // part of that step that is done; null: unknown
	Seconds float64 `json:"seconds"`
	Error   string  `json:"error_message"` // why the export failed, or what it leaves out

	folder string // the file's own folder
	begun  time.Time
}

// A Format is a kind of export that an [Order] can name.
type Format struct {
	Name   string `json:"name"`
	Title  string `json:"title"`
	For    string `json:"for"`   // its purpose
	Graph  bool   `json:"graph"` // it shows the graph that an order selects
	Ending string `json:"-"`     // ending of its file name; empty: it is a folder, which is sent as an archive
}

type fileList struct {
	Formats []Format `json:"formats"` // available formats
	Files   []File   `json:"files"`
}

// Exports are files that are made on demand, one at a time, each by a process of its own at lowest
// priority. They are removed when the desk ends. Its methods may be called from any goroutine.
type Exports struct {
	Formats []Format // available formats
	// Command returns the process that writes an export. It ends with its standard input.
	Command func(o Order, target string) (*exec.Cmd, error)

	mu     sync.Mutex
	files  []*File // newest last
	n      int     // number of orders so far
	dir    string
	remove func()
	open   context.Context
	close  context.CancelFunc
	turn   chan struct{} // holds an element while a file is written
	work   errgroup.Group
}

func (e *Exports) routes(t *tickets) []Route {
	if e == nil {
		return nil
	}
	e.open, e.close = context.WithCancel(context.Background())
	e.turn = make(chan struct{}, 1)
	id := []Param{{Name: "id", Kind: Text, Required: true, Most: 20, Doc: "a file"}}
	return []Route{
		{Name: "files", Method: http.MethodGet, Path: "files",
			Returns: fileList{}, Doc: "The exports that were ordered, and the formats that can be.",
			Answer: func(context.Context, Query) (any, error) { return e.list(), nil }},
		{Name: "file", Method: http.MethodGet, Path: "files/{id}",
			Params: id, Returns: File{}, Doc: "The progress of an export.",
			Answer: func(_ context.Context, q Query) (any, error) { return e.file(q.Text("id")) }},
		{Name: "order", Method: http.MethodPost, Path: "files", Body: Order{}, Returns: File{}, Doc: "Order an export.",
			Answer: func(_ context.Context, q Query) (any, error) {
				var o Order
				if err := q.Decode(&o); err != nil {
					return nil, err
				}
				return e.order(o)
			}},
		{Name: "ticket", Method: http.MethodPost, Path: "tickets", Body: ticketFor{}, Returns: ticketSold{},
			Doc: "Get a ticket to a file: /download/TICKET sends it, once, within a minute.",
			Answer: func(_ context.Context, q Query) (any, error) {
				var wanted ticketFor
				if err := q.Decode(&wanted); err != nil {
					return nil, err
				}
				f, err := e.file(strings.TrimPrefix(strings.TrimPrefix(wanted.Path, "/"), "files/"))
				if err == nil && f.Status != "done" {
					err = &control.Error{Code: http.StatusConflict, Text: "the file is not finished"}
				}
				if err != nil {
					return nil, err
				}
				id, err := t.sell("files/" + f.ID)
				return ticketSold{id}, err
			}},
	}
}

type (
	ticketFor struct {
		Path string `json:"path"` // /files/ID, as in the document of the API; the slash may be missing
	}
	ticketSold struct {
		Ticket string `json:"ticket"`
	}
)

// order queues an export, which is written after those before it.
func (e *Exports) order(o Order) (File, error) {
	i := slices.IndexFunc(e.Formats, func(f Format) bool { return f.Name == o.Format })
	if i < 0 {
		return File{}, wrong("there is no format %.40q", o.Format)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.room(); err != nil {
		return File{}, err
	}
	e.n++
	f := &File{ID: strconv.Itoa(e.n), Order: o, Name: "terrain-" + o.Format, Status: "waiting"}
	if ending := e.Formats[i].Ending; ending != "" {
		f.Name = "terrain" + ending
	}
	f.folder = filepath.Join(e.dir, f.ID)
	if err := os.Mkdir(f.folder, 0o700); err != nil {
		return File{}, err
	}
	e.files = append(e.files, f)
	e.work.Go(func() error { e.write(f); return nil })
	return *f, nil
}

// room makes room for one more file by removing the oldest finished one.
func (e *Exports) room() error {
	if e.dir == "" {
		dir, remove, err := atomicfile.Scratch(os.TempDir())
		if err != nil {
			return err
		}
		e.dir, e.remove = dir, remove
	}
	if len(e.files) < maxFiles {
		return nil
	}
	for i, f := range e.files {
		if f.Status == "done" || f.Status == "failed" {
			e.files = append(e.files[:i:i], e.files[i+1:]...)
			return os.RemoveAll(f.folder)
		}
	}
	return &control.Error{Code: http.StatusTooManyRequests, Text: "too many exports wait to be written"}
}

// write writes a file when its turn comes.
func (e *Exports) write(f *File) {
	select {
	case e.turn <- struct{}{}:
		defer func() { <-e.turn }()
	case <-e.open.Done():
		return
	}
	e.mu.Lock()
	f.Status, f.begun = "writing", time.Now()
	e.mu.Unlock()
	err := e.run(f)
	bytes := sizeOf(f.folder)
	e.mu.Lock()
	defer e.mu.Unlock()
	f.Status, f.Bytes, f.Seconds = "done", bytes, time.Since(f.begun).Seconds()
	f.Step, f.Percent = "", nil
	if err != nil {
		f.Status, f.Error = "failed", err.Error()
	}
}

func (e *Exports) run(f *File) error {
	cmd, err := e.Command(f.Order, filepath.Join(f.folder, f.Name))
	if err != nil {
		return err
	}
	cmd.Stdout = &reports{told: func(r report) {
		e.mu.Lock()
		defer e.mu.Unlock()
		f.Step, f.Percent, f.Error = r.Step, r.share(), r.Lacks
	}}
	ctx, cancel := context.WithTimeoutCause(e.open, maxWriting, errors.New("it takes longer than "+maxWriting.String()))
	defer cancel()
	_, err = Run(ctx, cmd)
	return err
}

// now returns a file as it is reported. The caller holds the lock.
func (e *Exports) now(f *File) File {
	told := *f
	if f.Status == "writing" {
		told.Bytes, told.Seconds = sizeOf(f.folder), time.Since(f.begun).Seconds()
	}
	return told
}

func (e *Exports) list() fileList {
	e.mu.Lock()
	defer e.mu.Unlock()
	all := fileList{e.Formats, []File{}}
	for _, f := range e.files {
		all.Files = append(all.Files, e.now(f))
	}
	return all
}

func (e *Exports) file(id string) (File, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, f := range e.files {
		if f.ID == id {
			return e.now(f), nil
		}
	}
	return File{}, &control.Error{Code: http.StatusNotFound, Text: "there is no such file"}
}

// Close stops the export that is being written, and removes all files.
func (e *Exports) Close() {
	if e == nil {
		return
	}
	e.close()
	_ = e.work.Wait()
	if e.remove != nil {
		e.remove()
	}
}

// sizeOf returns the number of bytes below a folder.
func sizeOf(folder string) (bytes int64) {
	_ = filepath.WalkDir(folder, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				bytes += info.Size()
			}
		}
		return nil
	})
	return bytes
}

// EndWithInput makes this process end when its standard input ends, as it does when the process
// that ordered its work ends. It also gives this process the lowest priority.
func EndWithInput() {
	Lowest()
	go func() { // ends with the process
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(1)
	}()
}
