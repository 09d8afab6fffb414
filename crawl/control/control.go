// Package control is how one asks a running crawl, both ends.
//
// Nobody but the crawling process can look into a state file while it is being
// written. It therefore answers HTTP on a unix socket that follows from the state
// file's name (see [Path]):
//
//	GET  /api/v1/status            what the crawl does; with latest=1 as it was seen last
//	GET  /api/v1/feed?since=N      visits after the cursor N; with brief=1 without their links,
//	                               with last=N of the last N of them alone; where the outputs
//	                               are being written only without links, and of the last 200
//	GET  /api/v1/fetching          the requests that are open now
//	GET  /api/v1/origins           how far the run has come with its origins
//	GET  /api/v1/hosts/HOST/requests   the last requests to a host
//	GET  /api/v1/snapshot          a consistent copy of the state, about Ripple-Size bytes
//	POST /api/v1/pause             these answer with the status
//	POST /api/v1/unpause
//	POST /api/v1/stop
//	POST /api/v1/reload            the configuration is read again
//
// Answers are JSON whose fields have the names of the SQL columns, but for the
// copy, which is sent in chunks: one that ends without its last chunk is cut. An
// error is {"error": "..."} under the status that [Error] tells. Only one copy is
// made at a time, because its reader keeps the file from using space again; a
// reader that takes nothing for 10 s is left.
//
// Whoever may write the state file may command the crawl, and nobody else: the
// socket has mode 0600 from its first moment, and both ends look at who is at the
// other one. At most 64 clients are heard at a time, the others wait; one that is
// silent for 5 s is dropped.
package control

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// maxPath is how many bytes a socket's name may have everywhere; Linux takes 107.
const maxPath = 103

// bound is what a socket is called while it is made: the name of its folder goes
// before it. See [Listen].
const bound = ".d/s"

// ErrNobody reports that no crawl listens at a state file.
var ErrNobody = errors.New("no crawl is running on this state file")

// ErrSilent reports a crawl that is there and does not answer.
var ErrSilent = errors.New("the crawl does not answer; it may be suspended (SIGSTOP, Ctrl-Z)")

// An Error is what a crawl refuses with. Code is the status of HTTP: 503 for what
// may be asked again soon, 409 for what cannot be done now, 400 for a question
// that is wrong, 410 where somebody has the state file and does not crawl it: that is an
// [ErrNobody].
type Error struct {
	Code int
	Text string
}

func (e *Error) Error() string { return e.Text }

// Is is of package errors.
func (e *Error) Is(target error) bool { return target == ErrNobody && e.Code == http.StatusGone }

// Path returns where the crawl of a state file listens: beside it, or, where
// that name is too long for a socket, under the user's runtime folder by its
// hash. Different names of one file lead to one socket.
func Path(state string) (string, error) {
	path, name, err := nameOf(state)
	if err != nil || name == "" {
		return path, err
	}
	folder, err := runtimeFolder()
	return filepath.Join(folder, name), err
}

// nameOf returns the socket beside a state file or, where its name is too long, the name
// that it has in a runtime folder.
func nameOf(state string) (path, name string, err error) {
	whole, err := filepath.Abs(state)
	if err != nil {
		return "", "", fmt.Errorf("control: name of %s: %w", state, err)
	}
	if real, err := filepath.EvalSymlinks(whole); err == nil {
		whole = real
	}
	if path := whole + ".sock"; len(path+bound) <= maxPath {
		return path, "", nil
	}
	sum := sha256.Sum256([]byte(whole))
	return "", "ripple-" + hex.EncodeToString(sum[:12]) + ".sock", nil
}

// elsewhere returns where a crawl listens that was begun in another environment, as one begun
// by cron has no XDG_RUNTIME_DIR, which a session has; nothing that is not there, or not safe.
func elsewhere(state string) (paths []string) {
	_, name, err := nameOf(state)
	if err != nil || name == "" {
		return nil
	}
	uid := strconv.Itoa(os.Getuid())
	for _, folder := range []string{filepath.Join(os.TempDir(), "ripple-"+uid), "/tmp/ripple-" + uid, "/run/user/" + uid} {
		if trusted(folder) == nil {
			paths = append(paths, filepath.Join(folder, name))
		}
	}
	return paths
}

// Listens reports whether there is a socket of a crawl of a state file, wherever that was begun.
// One that was killed leaves its socket. Where that cannot be told, there may be one.
func Listens(state string) bool {
	path, err := Path(state)
	return err != nil || slices.ContainsFunc(append(elsewhere(state), path), func(path string) bool {
		_, err := os.Lstat(path)
		return !errors.Is(err, fs.ErrNotExist)
	})
}

// runtimeFolder returns a folder that belongs to this user alone.
func runtimeFolder() (string, error) {
	if dir := os.Getenv("XDG_RUNTIME_DIR"); dir != "" {
		if err := trusted(dir); err != nil {
			return "", fmt.Errorf("%w; set XDG_RUNTIME_DIR to a folder of your own, or unset it", err)
		}
		return dir, nil
	}
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("ripple-%d", os.Getuid()))
	return dir, makePrivate(dir)
}

// makePrivate makes a folder for this user alone, or finds that it is there.
func makePrivate(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("control: %w", err)
	}
	return trusted(dir)
}

// trusted reports an error if anybody but this user and root may change what is
// in a folder, or look for it.
func trusted(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("control: %w", err)
	}
	owner, known := ownerOf(info)
	switch {
	case !info.IsDir():
		return fmt.Errorf("control: %s is not a folder", dir)
	case !known:
		return nil
	case !permitted(owner, os.Getuid()):
		return fmt.Errorf("control: the folder %s belongs to another user (uid %d)", dir, owner)
	case info.Mode().Perm() != 0o700:
		return fmt.Errorf("control: the folder %s is open to other users (mode %04o); make it 0700", dir,
			info.Mode().Perm())
	}
	return nil
}

// permitted reports whether one user is trusted by another.
func permitted(uid, by int) bool { return uid == by || uid == 0 }
