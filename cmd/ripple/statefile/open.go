package statefile

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl/census"
	"github.com/sumi-ripple/ripple/crawl/control"
	"github.com/sumi-ripple/ripple/crawl/gctune"
	"github.com/sumi-ripple/ripple/export/atomicfile"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

// Files opens and copies state files, including those that a crawl is writing.
type Files struct{ Voice *term.Voice }

// CrawlOf returns a client of the crawl that is writing a state file.
func (s Files) CrawlOf(path string) *control.Client {
	return &control.Client{State: path,
		Slow: func() { s.Voice.Say("the crawl does not answer; still waiting (Ctrl-C gives up)") }}
}

// stateFiles returns the names of the state files in a folder. unread names the first file that has
// the suffix of one and cannot be read.
func stateFiles(dir string) (found []string, unread, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, nil, err
	}
	for _, e := range entries {
		if !e.Type().IsRegular() || isBeside(e.Name()) {
			continue
		}
		path := filepath.Join(dir, e.Name())
		bolt, err := HasMark(path)
		switch {
		case err != nil && unread == nil && filepath.Ext(path) == ".bolt":
			unread = fmt.Errorf("%s: %w", term.Shown(e.Name()), err)
		case bolt && !IsForeign(path):
			found = append(found, e.Name())
		}
	}
	return found, unread, nil
}

// isBeside reports whether a name is that of a file that Ripple keeps next to a state file: the backup of --fresh,
// a new file that --fresh, prune or compact is writing, or what scripts of pages have requested.
func isBeside(name string) bool {
	beside := []string{".bak", ".fresh", ".prune", ".compact", ".import", ".join", ".answers"}
	return slices.Contains(beside, filepath.Ext(name))
}

// IsBolt reports whether a file is readable and has the mark of a bbolt file.
func IsBolt(path string) bool {
	bolt, err := HasMark(path)
	return err == nil && bolt
}

// HasMark reports whether the first page of a file has the mark of a bbolt file. Its error does not repeat the name.
func HasMark(path string) (bool, error) {
	const magic, offset = 0xED0CDAED, 16
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() { // opening a pipe would block
		return false, WithoutPath(err)
	}
	f, err := os.Open(path)
	if err != nil {
		return false, WithoutPath(err)
	}
	defer f.Close()
	var mark [4]byte
	if _, err := f.ReadAt(mark[:], offset); err != nil && !errors.Is(err, io.EOF) {
		return false, WithoutPath(err)
	}
	return binary.NativeEndian.Uint32(mark[:]) == magic, nil
}

// WithoutPath returns the cause of a file error, without the operation and the name.
func WithoutPath(err error) error {
	if of := new(fs.PathError); errors.As(err, &of) {
		return of.Err
	}
	return err
}

// IsForeign reports whether another program wrote a bbolt file. One that is locked or damaged counts as a state file.
func IsForeign(path string) bool {
	s, err := kv.Open(path, kv.Options{ReadOnly: true, Timeout: 50 * time.Millisecond})
	if err == nil {
		s.Close()
	}
	return errors.Is(err, kv.ErrForeign)
}

// A State is an open state for reading: a file that no process writes, or a copy of one that is being crawled.
type State struct {
	*survey.Survey
	Store *kv.Store
	Path  string          // of the state file
	Size  int64           // of it in bytes
	Live  *census.Status  // of the running crawl; nil: there is none
	Crawl *control.Client // client of that crawl
	Open  bool            // a request may be open that is not in the file
}

func (r *State) Close() error { return r.Store.Close() }

// Read opens a state for reading.
func (s Files) Read(ctx context.Context, path string) (r *State, err error) {
	store, live, err := s.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	if r, err = s.state(ctx, path, store, live); err != nil {
		return nil, err
	}
	if info, err := os.Stat(path); live == nil && (err != nil || !info.IsDir()) { // for shards, their map says it
		r.Interrupt()
	}
	return r, nil
}

// state returns an open state. It closes the store after an error.
func (s Files) state(ctx context.Context, path string, store *kv.Store, live *census.Status) (r *State, err error) {
	r = &State{Path: path, Store: store, Live: live, Size: store.Size(), Crawl: s.CrawlOf(path)}
	if r.Survey, err = survey.New(store); err != nil {
		store.Close()
		return nil, err
	}
	r.Until(ctx)
	term.NewMemory(r.Config().Network.MemoryLimit, term.MemoryHere()).Set(gctune.Read())
	run := r.Run() // interrupted by a kill, if no reason is recorded
	r.Open = run.Status == schema.RunRunning || run.Status == schema.RunInterrupted && run.End.String() == ""
	return r, nil
}

// A RunOption is the value of --run.
type RunOption struct {
	Text string
	id   schema.RunID // 0: the latest
}

// Parse reads the flag. words lists, for the error message, what may replace a number.
func (o *RunOption) Parse(words string) error {
	if o.Text == "latest" {
		return nil
	}
	n, err := strconv.ParseUint(o.Text, 10, 32)
	if err != nil || n == 0 {
		return term.Usage("--run is %q; it must be the number of a run, or %s", term.Clean(o.Text, 40), words)
	}
	o.id = schema.RunID(n)
	return nil
}

// Of returns the survey of that run.
func (o *RunOption) Of(s *survey.Survey) (*survey.Survey, error) {
	if o.id == 0 {
		return s, nil
	}
	older, err := s.At(o.id)
	switch {
	case !errors.Is(err, survey.ErrRun):
		return older, err
	case !HasRun(s.Runs(), o.id):
		return nil, term.Usage("--run: there is no run #%d; %s", o.id, RunsText(s.Runs()))
	}
	return nil, term.Usage("--run: %v", err)
}

func HasRun(all []schema.Run, id schema.RunID) bool {
	return slices.ContainsFunc(all, func(r schema.Run) bool { return r.ID == id })
}

// RunsText returns which runs exist, for an error message.
func RunsText(all []schema.Run) string {
	if len(all) == 1 {
		return fmt.Sprintf("the only one is #%d", all[0].ID)
	}
	return fmt.Sprintf("there are #%d to #%d", all[0].ID, all[len(all)-1].ID)
}

// MustExist returns an error with advice if there is no file at path.
func MustExist(path string) error {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return term.Hint(term.Usage("there is no state file %s", term.Shown(path)), "\"ripple crawl CONFIG\" begins one")
	}
	return nil
}

// Open opens a state file, or a copy if a crawl is writing it; then it returns the status of the crawl, too. A folder
// is opened as the map of all shards in it.
func (s Files) Open(ctx context.Context, path string) (*kv.Store, *census.Status, error) {
	atomicfile.Sweep(os.TempDir())
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		store, err := mergeFolder(ctx, s, path)
		return store, nil, err
	}
	var live census.Status
	err := s.CrawlOf(path).Get(ctx, "status", &live)
	if err == nil {
		var store *kv.Store
		if store, err = s.openCopy(ctx, path); err == nil {
			return store, &live, nil
		}
	}
	if !errors.Is(err, control.ErrNobody) {
		return nil, nil, err
	}
	store, err := OpenQuiet(path) // also if the crawl has ended in the meantime
	if errors.Is(err, kv.ErrLocked) {
		if copied, none := s.openCopy(ctx, path); none == nil { // another process has the file open, and does not crawl it
			return copied, nil, nil
		}
	}
	return store, nil, err
}

// OpenQuiet opens a state file that no crawl is writing.
func OpenQuiet(path string) (*kv.Store, error) {
	if err := MustExist(path); err != nil {
		return nil, err
	}
	store, err := kv.Open(path, kv.Options{ReadOnly: true})
	return store, Advise(path, err)
}

// MayWriteState returns an error if nothing can be written next to a state file.
func MayWriteState(path string) error { return Advise(path, MayWrite(filepath.Dir(path))) }

// OpenLocked opens a state file for writing. While it waited for the lock, another process may have replaced the file;
// it opens whichever file has the name once the lock is held.
func OpenLocked(path string, opts kv.Options) (*kv.Store, error) {
	for {
		before, _ := os.Stat(path)
		store, err := kv.Open(path, opts)
		if err != nil {
			return nil, Advise(path, err)
		}
		after, err := os.Stat(path)
		if err == nil && (before == nil || os.SameFile(before, after)) {
			return store, nil
		}
		store.Close()
		if err != nil {
			return nil, fmt.Errorf("open %s: it was removed meanwhile: %w", term.Shown(path), err)
		}
	}
}

// MayWrite returns an error if no file can be made in a folder. It is called before work is done for such a file.
func MayWrite(dir string) error {
	if err := writable(dir); err != nil {
		return fmt.Errorf("cannot write into the folder %s: %w", term.Shown(dir), err)
	}
	return nil
}

// Advise adds to an error of opening a state file what the user can do about it.
func Advise(path string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, kv.ErrLocked):
		return term.Hint(err, "wait for it, or end it with: ripple stop --state %s", term.Shown(path))
	case errors.Is(err, kv.ErrForeign):
		return term.Hint(err, "name another file with --state or [state] path")
	case errors.Is(err, kv.ErrFormat):
		return term.Hint(err, "\"ripple crawl --fresh\" keeps the file as a backup")
	case errors.Is(err, kv.ErrDamaged):
		return term.Hint(err, "\"ripple crawl --fresh\" keeps it as a backup and starts again")
	case errors.Is(err, kv.ErrLost):
		return term.Hint(err, "put the file back, or a backup of it, before the next crawl, "+
			"which would otherwise start again")
	case errors.Is(err, fs.ErrPermission):
		return term.Hint(err, "ripple needs to read and write the file, and the folder that it is in")
	case errors.Is(err, fs.ErrNotExist):
		return term.Hint(err, "check the path")
	}
	return err
}

// Unreadable reports whether a state file can only be kept as a backup.
func Unreadable(err error) bool { return errors.Is(err, kv.ErrDamaged) || errors.Is(err, kv.ErrFormat) }

// StoreFailed reports an error that is printed even if the user has just ended the command.
func StoreFailed(err error) bool {
	return errors.Is(err, kv.ErrLost) || errors.Is(err, kv.ErrCommit) || errors.Is(err, kv.ErrDamaged)
}
