package statefile

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/kv"
)

// BeginFresh replaces a state file by an empty one that remembers which hosts asked to be left
// alone. The old file becomes the backup, replacing an earlier one, unless it has no page and a
// backup exists. A complete state file has the name at every moment, and the old one stays locked
// until the new one is in place.
func BeginFresh(v *term.Voice, path string) error {
	path, err := filepath.EvalSymlinks(path) // a link stays where it is, and leads to the new file
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	next, backup := path+".fresh", path+".bak"
	if err := MayBackUp(backup); err != nil {
		return err
	}
	if err := MayWriteState(path); err != nil {
		return err
	}
	old, err := OpenLocked(path, kv.Options{})
	unread := Unreadable(err)
	if err != nil && !unread {
		return err
	}
	defer os.Remove(next)
	if err := prepareFresh(v.Logger(), old, next, unread); err != nil {
		if old != nil {
			old.Close()
		}
		return fmt.Errorf("begin a fresh state: %w", err)
	}
	keep := old == nil || old.LastSeq() > 0 || !IsBolt(backup)
	err = errors.Join(crawl.RemoveAnswers(path), replace(path, next, backup, keep))
	if old != nil {
		err = errors.Join(err, old.Close())
	}
	if err != nil {
		return fmt.Errorf("begin a fresh state: %w", err)
	}
	v.Tell(backedUp(backup, keep))
	return nil
}

// backedUp says what the backup holds: the old state, or what was kept before.
func backedUp(backup string, kept bool) term.Remark {
	text, event := "the old state is kept as %s", "old state kept"
	if !kept {
		text, event = "the old state has no page: the backup %s stays as it is", "backup stays"
	}
	return term.Remark{Text: fmt.Sprintf(text, term.Shown(backup)), Event: event, Facts: []any{"path", backup}}
}

// MayBackUp returns an error if a file that is no state file has the name of the backup.
func MayBackUp(backup string) error {
	if _, err := os.Stat(backup); err == nil && !IsBolt(backup) {
		return term.Hint(fmt.Errorf("%s is in the way of the backup and is not a state file", term.Shown(backup)),
			"move it away")
	}
	return nil
}

// prepareFresh writes the new state under another name.
func prepareFresh(log *slog.Logger, old *kv.Store, next string, unread bool) error {
	if err := os.Remove(next); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	to, err := kv.Open(next, kv.Options{})
	if err != nil {
		return err
	}
	if unread {
		log.Warn("the old state cannot be read: the delays and suspensions of hosts could not be kept")
		return to.Close()
	}
	_, err = crawl.Fresh(old, to)
	return errors.Join(err, to.Like(old), to.Close())
}

// replace renames the new file to path. If keep is set, the old one becomes the backup first.
func replace(path, next, backup string, keep bool) error {
	if !keep {
		return kv.Rename(next, path)
	}
	if err := os.Remove(backup); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Link(path, backup); err != nil { // a file system without links
		if err := os.Rename(path, backup); err != nil {
			return err
		}
	}
	return kv.Rename(next, path)
}
