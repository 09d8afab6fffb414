// Package decision edits entries of a decisions file that users also edit by hand.
//
// Everything Ripple did not write is preserved byte for byte: comments, entries of others and line
// endings. Ripple owns an entry as long as its text is exactly what Ripple would write. The file is
// locked during the change and replaced as a whole. If another program has changed it in the meantime,
// it is left alone. A kill leaves either the old file or the new one.
package decision

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/sumi-ripple/ripple/schema/config"
	"github.com/sumi-ripple/ripple/schema/disk"
	"github.com/sumi-ripple/ripple/schema/scope"
)

var (
	// ErrChanged reports a file that another program changed in the meantime.
	ErrChanged = errors.New("the file was changed meanwhile")
	// ErrBusy reports a file that another program is changing.
	ErrBusy = errors.New("another program is changing the file")
	// ErrUndo reports a patch that does not undo the changes it is given for.
	ErrUndo = errors.New("the undo does not belong to these decisions")
	// ErrForeign reports an entry that Ripple did not write, or that was edited since.
	ErrForeign = errors.New("the entry was written by hand")
)

// maxFile limits the file size, in bytes. Nobody maintains a larger file by hand.
const maxFile = 4 << 20

// lockWait is how long to wait for another writer.
const lockWait = 5 * time.Second

// An Edit returns the new decision for a host, or nil to remove the entry. before is nil if there is none.
type Edit func(before *config.Decision) *config.Decision

// A Change is an edit of one host's entry.
type Change struct {
	Host scope.Pattern
	Edit Edit
}

// An Edited is an entry before and after a change. Either is nil if there is none.
type Edited struct{ Before, After *config.Decision }

// Apply makes all changes or, with an error, none. It returns the new text, and the entries in the order of the
// changes, which are for different hosts. name is the file's name, for error messages. If undo is not nil, the changes
// undo earlier ones, and it restores the text that preceded those; it must result in the same entries.
func Apply(name string, text []byte, changes []Change, undo *Patch) ([]byte, []Edited, error) {
	next, edited, err := apply(name, text, changes)
	if err != nil || undo == nil {
		return next, edited, err
	}
	restored, err := undo.apply(text)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	want, err := entries(name, next)
	if err != nil {
		return nil, nil, err
	}
	got, err := entries(name, restored)
	if err == nil && !slices.Equal(got, want) {
		err = fmt.Errorf("%s: %w", name, ErrUndo)
	}
	if err != nil {
		return nil, nil, err
	}
	return restored, edited, nil
}

// entries returns the entries of a text in a fixed order.
func entries(name string, text []byte) ([]string, error) {
	all, err := config.ParseDecisions(name, text)
	texts := make([]string, len(all))
	for i := range all {
		texts[i] = all[i].TOML()
	}
	slices.Sort(texts)
	return texts, err
}

func apply(name string, text []byte, changes []Change) ([]byte, []Edited, error) {
	all, err := config.ParseDecisions(name, text)
	if err != nil {
		return nil, nil, err
	}
	byHost := make(map[scope.Pattern]*config.Decision, len(all))
	for i := range all {
		byHost[all[i].Host] = &all[i]
	}
	edited := make([]Edited, len(changes))
	for i, c := range changes {
		before := byHost[c.Host]
		after := c.Edit(before)
		if after != nil {
			if err := after.Check(); err != nil {
				return nil, nil, err
			}
		}
		if text, err = replaced(text, before, after); err != nil {
			return nil, nil, err
		}
		edited[i] = Edited{before, after}
	}
	if _, err := config.ParseDecisions(name, text); err != nil {
		return nil, nil, fmt.Errorf("%s would not be a file of decisions any more: %w", name, err)
	}
	return text, edited, nil
}

// replaced replaces the entry before by after. It appends an entry that is new, and removes one if after is nil.
func replaced(text []byte, before, after *config.Decision) ([]byte, error) {
	end := "\n"
	if bytes.Contains(text, []byte("\r\n")) {
		end = "\r\n"
	}
	block := func(d *config.Decision) []byte { return []byte(strings.ReplaceAll(d.TOML(), "\n", end)) }
	switch {
	case before == nil && after == nil:
		return text, nil
	case before == nil:
		var b bytes.Buffer
		b.Write(text)
		if len(text) > 0 && !bytes.HasSuffix(text, []byte("\n")) {
			b.WriteString(end)
		}
		if len(text) > 0 {
			b.WriteString(end)
		}
		b.Write(block(after))
		return b.Bytes(), nil
	}
	old := block(before)
	at, found := own(text, old)
	if !found {
		return nil, fmt.Errorf("%s: %w", before.Host, ErrForeign)
	}
	head, tail := text[:at], text[at+len(old):]
	if after != nil {
		return slices.Concat(head, block(after), tail), nil
	}
	if above := bytes.TrimSuffix(head, []byte(end)); bytes.HasSuffix(above, []byte("\n")) {
		return slices.Concat(above, tail), nil // without the blank line that was written with the entry
	}
	return slices.Concat(head, bytes.TrimPrefix(tail, []byte(end))), nil
}

// own finds an entry that starts a line (a byte order mark may precede it) and is complete: no
// further key of the entry follows.
func own(text, block []byte) (at int, found bool) {
	const mark = "\ufeff"
	for from := 0; ; from = at + 1 {
		i := bytes.Index(text[from:], block)
		if i < 0 {
			return 0, false
		}
		at = from + i
		begins := at == 0 || text[at-1] == '\n' || string(text[:at]) == mark
		if begins && endsEntry(text[at+len(block):]) {
			return at, true
		}
	}
}

// endsEntry reports whether no further key of the entry before it follows.
func endsEntry(rest []byte) bool {
	rest = bytes.TrimLeft(rest, " \t\r\n")
	for bytes.HasPrefix(rest, []byte("#")) {
		_, rest, _ = bytes.Cut(rest, []byte("\n"))
		rest = bytes.TrimLeft(rest, " \t\r\n")
	}
	return len(rest) == 0 || rest[0] == '['
}

// Version identifies a text. A missing file has the version of an empty text.
func Version(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

// Written describes a changed file.
type Written struct {
	Edited  []Edited
	Version string
	Undo    Patch // restores the file as it was
}

// Write makes all changes in a file as [Apply] does or, with an error, none. It creates a missing file, and follows a
// symbolic link to the file behind it. If the file's version is not seen, Write returns [ErrChanged] and leaves the
// file alone; an empty seen matches any version.
func Write(path string, seen string, changes []Change, undo *Patch) (w Written, err error) {
	f, err := lock(path)
	if err != nil {
		return w, err
	}
	defer f.Close() // and with it the lock

	path = disk.Behind(path)
	text, err := read(f)
	if err != nil {
		return w, fmt.Errorf("%s: %w", path, err)
	}
	if seen != "" && seen != Version(text) {
		return w, fmt.Errorf("%s: %w", path, ErrChanged)
	}
	next, edited, err := Apply(path, text, changes, undo)
	if err != nil {
		return w, err
	}
	return Written{edited, Version(next), between(next, text)}, replace(path, f, text, next)
}

// lock opens a file and waits for its lock, at most lockWait.
func lock(path string) (*os.File, error) {
	for end := time.Now().Add(lockWait); ; time.Sleep(10 * time.Millisecond) {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
		if err != nil {
			return nil, err
		}
		held, err := disk.TryLock(f, true)
		if err == nil && held && present(path, f) == nil {
			return f, nil
		}
		f.Close()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if time.Now().After(end) {
			return nil, fmt.Errorf("%s: %w", path, ErrBusy)
		}
	}
}

// present returns ErrChanged if path no longer names the file f.
func present(path string, f *os.File) error {
	named, err := os.Stat(path)
	if err != nil {
		return err
	}
	open, err := f.Stat()
	if err == nil && !os.SameFile(named, open) {
		err = fmt.Errorf("%s: %w", path, ErrChanged)
	}
	return err
}

func read(f *os.File) ([]byte, error) {
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%w: not a file", fs.ErrInvalid)
	}
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.NewSectionReader(f, 0, maxFile+1))
	if err == nil && len(text) > maxFile {
		err = fmt.Errorf("it is larger than %d MiB", maxFile>>20)
	}
	return text, err
}

// replace gives a file new contents if it still has the old ones.
func replace(path string, f *os.File, old, text []byte) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	next, err := besides(path, text, info.Mode().Perm())
	if err != nil {
		return err
	}
	defer os.Remove(next)
	now, err := read(f)
	if err == nil {
		err = present(path, f)
	}
	if err == nil && !bytes.Equal(now, old) {
		err = fmt.Errorf("%s: %w", path, ErrChanged)
	}
	if err != nil {
		return err
	}
	if runtime.GOOS == "windows" {
		f.Close() // an open file keeps its name there
	}
	if err := os.Rename(next, path); err != nil {
		return err
	}
	_ = disk.SyncDir(filepath.Dir(path)) // the folder need not be readable
	return nil
}

// besides writes text to a temporary file in the same folder, synced, and returns its name. It first
// removes temporary files that a kill left behind, which is safe because the caller holds the lock.
// Other files stay, such as the swap files of editors.
func besides(path string, text []byte, mode fs.FileMode) (string, error) {
	dir, prefix := filepath.Dir(path), "."+filepath.Base(path)+".ripple-"
	beside, _ := os.ReadDir(dir) // the folder need not be readable
	for _, file := range beside {
		if strings.HasPrefix(file.Name(), prefix) {
			_ = os.Remove(filepath.Join(dir, file.Name()))
		}
	}
	t, err := os.CreateTemp(dir, prefix+"*")
	if err != nil {
		return "", err
	}
	_, err = t.Write(text)
	if err == nil && runtime.GOOS != "windows" {
		err = t.Chmod(mode)
	}
	if err == nil {
		err = t.Sync()
	}
	if err = errors.Join(err, t.Close()); err != nil {
		return "", errors.Join(err, os.Remove(t.Name()))
	}
	return t.Name(), nil
}
