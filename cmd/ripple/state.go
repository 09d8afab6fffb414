package main

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
	"github.com/sumi-ripple/ripple/crawl/heap"
	"github.com/sumi-ripple/ripple/export/whole"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

// states opens state files for reading, and copies them, also those that a crawl is writing.
type states struct{ voice *term.Voice }

// crawlOf is whom to ask about a state file that is being crawled.
func (s states) crawlOf(path string) *control.Client {
	return &control.Client{State: path,
		Slow: func() { s.voice.Say("the crawl does not answer; still waiting (Ctrl-C gives up)") }}
}

// stateFiles returns the state files of a folder, and why one may be missing: unread names the
// first file that is called like one and cannot be read.
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
		bolt, err := hasMark(path)
		switch {
		case err != nil && unread == nil && filepath.Ext(path) == ".bolt":
			unread = fmt.Errorf("%s: %w", term.Shown(e.Name()), err)
		case bolt && !isForeign(path):
			found = append(found, e.Name())
		}
	}
	return found, unread, nil
}

// isBeside reports whether a name is that of a file which Ripple keeps beside a
// state: the backup of --fresh, or the state that it, prune or compact is making.
func isBeside(name string) bool {
	return slices.Contains([]string{".bak", ".fresh", ".prune", ".compact"}, filepath.Ext(name))
}

// isBolt reports whether a file can be read and has the mark of a bbolt file.
func isBolt(path string) bool {
	bolt, err := hasMark(path)
	return err == nil && bolt
}

// hasMark looks for the mark of a bbolt file in its first page. The error says why it cannot
// be read, without its name.
func hasMark(path string) (bool, error) {
	const magic, offset = 0xED0CDAED, 16
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() { // a pipe would be waited for
		return false, withoutPath(err)
	}
	f, err := os.Open(path)
	if err != nil {
		return false, withoutPath(err)
	}
	defer f.Close()
	var mark [4]byte
	if _, err := f.ReadAt(mark[:], offset); err != nil && !errors.Is(err, io.EOF) {
		return false, withoutPath(err)
	}
	return binary.NativeEndian.Uint32(mark[:]) == magic, nil
}

// withoutPath is an error of a file without the operation and the name.
func withoutPath(err error) error {
	if of := new(fs.PathError); errors.As(err, &of) {
		return of.Err
	}
	return err
}

// isForeign reports whether a bbolt file was written by another program. One that
// is in use or damaged is still a state file.
func isForeign(path string) bool {
	s, err := kv.Open(path, kv.Options{ReadOnly: true, Timeout: 50 * time.Millisecond})
	if err == nil {
		s.Close()
	}
	return errors.Is(err, kv.ErrForeign)
}

// A reading is a state that a command reads: a file that nobody writes, or a copy
// of one that is being crawled.
type reading struct {
	*survey.Survey
	store *kv.Store
	path  string          // of the state file
	size  int64           // of it in bytes
	live  *census.Status  // of the running crawl; nil: nobody crawls
	crawl *control.Client // of that
	open  bool            // a request may be open that the file does not know of
}

func (r *reading) Close() error { return r.store.Close() }

// read opens a state for reading.
func (s states) read(ctx context.Context, path string) (r *reading, err error) {
	r = &reading{path: path}
	if r.store, r.live, err = s.open(ctx, path); err != nil {
		return nil, err
	}
	r.size, r.crawl = r.store.Size(), s.crawlOf(path)
	if r.Survey, err = survey.New(r.store); err != nil {
		r.store.Close()
		return nil, err
	}
	r.Until(ctx)
	term.NewMemory(r.Config().Network.MemoryLimit, term.MemoryHere()).Set(heap.Read())
	run := r.Run() // which a kill has ended, if it is interrupted and nothing says why
	r.open = run.Status == schema.RunRunning || run.Status == schema.RunInterrupted && run.End.String() == ""
	if info, err := os.Stat(path); r.live == nil && (err != nil || !info.IsDir()) { // of shards, their map says it
		r.Interrupt()
	}
	return r, nil
}

// A runOption is the run that --run names.
type runOption struct {
	text string
	id   schema.RunID // 0: the latest
}

// parse reads the flag; words are those that may stand for a number.
func (o *runOption) parse(words string) error {
	if o.text == "latest" {
		return nil
	}
	n, err := strconv.ParseUint(o.text, 10, 32)
	if err != nil || n == 0 {
		return term.Usage("--run is %q; it must be the number of a run, or %s", term.Clean(o.text, 40), words)
	}
	o.id = schema.RunID(n)
	return nil
}

// of returns the survey of that run.
func (o *runOption) of(s *survey.Survey) (*survey.Survey, error) {
	if o.id == 0 {
		return s, nil
	}
	older, err := s.At(o.id)
	switch {
	case !errors.Is(err, survey.ErrRun):
		return older, err
	case !hasRun(s.Runs(), o.id):
		return nil, term.Usage("--run: there is no run #%d; %s", o.id, runsText(s.Runs()))
	}
	return nil, term.Usage("--run: %v", err)
}

func hasRun(all []schema.Run, id schema.RunID) bool {
	return slices.ContainsFunc(all, func(r schema.Run) bool { return r.ID == id })
}

// runsText says which runs there are.
func runsText(all []schema.Run) string {
	if len(all) == 1 {
		return fmt.Sprintf("the only one is #%d", all[0].ID)
	}
	return fmt.Sprintf("there are #%d to #%d", all[0].ID, all[len(all)-1].ID)
}

// mustExist reports a state file that is not there: another one was meant, or one
// is to be begun.
func mustExist(path string) error {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return term.Hint(term.Usage("there is no state file %s", term.Shown(path)), "\"ripple crawl CONFIG\" begins one")
	}
	return nil
}

// open opens a state file, or a copy of one that is being crawled, whose
// crawl's status is returned with it; of a folder, what the shards in it are together.
func (s states) open(ctx context.Context, path string) (*kv.Store, *census.Status, error) {
	whole.Sweep(os.TempDir())
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		store, err := uniteFolder(ctx, s, path)
		return store, nil, err
	}
	var live census.Status
	err := s.crawlOf(path).Get(ctx, "status", &live)
	if err == nil {
		var store *kv.Store
		if store, err = s.openCopy(ctx, path); err == nil {
			return store, &live, nil
		}
	}
	if !errors.Is(err, control.ErrNobody) {
		return nil, nil, err
	}
	store, err := openQuiet(path) // also if the crawl has ended in the meantime
	if errors.Is(err, kv.ErrLocked) {
		if copied, none := s.openCopy(ctx, path); none == nil { // of who has the file, and does not crawl it
			return copied, nil, nil
		}
	}
	return store, nil, err
}

// openQuiet opens a state file that nobody crawls.
func openQuiet(path string) (*kv.Store, error) {
	if err := mustExist(path); err != nil {
		return nil, err
	}
	store, err := kv.Open(path, kv.Options{ReadOnly: true})
	return store, stateError(path, err)
}

// mayWriteState reports a state file beside which nothing can be written.
func mayWriteState(path string) error { return stateError(path, mayWrite(filepath.Dir(path))) }

// openLocked opens a state file for writing. The file that is locked in the end
// must be the one that has the name: while this waited, who had it may have replaced it.
func openLocked(path string, opts kv.Options) (*kv.Store, error) {
	for {
		before, _ := os.Stat(path)
		store, err := kv.Open(path, opts)
		if err != nil {
			return nil, stateError(path, err)
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

// mayWrite reports a folder in which files cannot be made, before work is done for
// them.
func mayWrite(dir string) error {
	if err := writable(dir); err != nil {
		return fmt.Errorf("cannot write into the folder %s: %w", term.Shown(dir), err)
	}
	return nil
}

// stateError says what to do about a state file that does not open.
func stateError(path string, err error) error {
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
		return term.Hint(err, "\"ripple crawl --fresh\" keeps it as a backup and begins anew")
	case errors.Is(err, kv.ErrLost):
		return term.Hint(err, "put the file back, or a backup of it, before the next crawl, "+
			"which would otherwise begin anew")
	case errors.Is(err, fs.ErrPermission):
		return term.Hint(err, "ripple needs to read and write the file, and the folder that it is in")
	case errors.Is(err, fs.ErrNotExist):
		return term.Hint(err, "check the path")
	}
	return err
}

// unreadable reports that a state file can only be kept as a backup.
func unreadable(err error) bool { return errors.Is(err, kv.ErrDamaged) || errors.Is(err, kv.ErrFormat) }

// storeFailed reports an error that must be told even to whoever has just ended
// the command.
func storeFailed(err error) bool {
	return errors.Is(err, kv.ErrLost) || errors.Is(err, kv.ErrCommit) || errors.Is(err, kv.ErrDamaged)
}
