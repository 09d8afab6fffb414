// Package control implements both ends of the API of a running crawl.
//
// Only the crawling process can read a state file while it is being written. It therefore serves HTTP on a
// unix socket whose name follows from the state file's name (see [Path]):
//
//	GET  /api/v1/status            what the crawl does; with latest=1 as it was seen last
//	GET  /api/v1/feed?since=N      visits after the cursor N; with brief=1 without their links,
//	                               with last=N of the last N of them alone; where the outputs
//	                               are being written only without links, and of the last 200
//	GET  /api/v1/fetching          the requests that are open now
//	GET  /api/v1/origins           the progress of the run with each origin
//	GET  /api/v1/history           the progress of a run over time; with run=N of run N
//	GET  /api/v1/hosts/HOST/requests   the last requests to a host
//	GET  /api/v1/snapshot          a consistent copy of the state, about Ripple-Size bytes
//	POST /api/v1/pause             the answer of this and the next three is the status
//	POST /api/v1/unpause
//	POST /api/v1/stop
//	POST /api/v1/reload            reads the configuration again
//
// Answers are JSON with the SQL columns' names as field names. The copy is sent in chunks instead: without
// its last chunk it is incomplete. An error is {"error": "..."} with the status code of [Error]. Only one
// copy is made at a time, because its reader keeps the file from reusing space; a reader that accepts nothing
// for 10 s is dropped.
//
// Only users who may write the state file may command the crawl: the socket has mode 0600 from the start, and
// both ends check the user at the other end. At most 64 clients are served at a time, and others wait; a
// client that is silent for 5 s is dropped.
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

// maxPath is the length in bytes that a socket's name may have on every system; Linux accepts 107.
const maxPath = 103

// bound is the name of a socket while it is created, after the name of its folder. See [Listen].
const bound = ".d/s"

// ErrNobody reports that no crawl is listening for a state file.
var ErrNobody = errors.New("no crawl is running on this state file")

// ErrSilent reports a crawl that exists but does not answer.
var ErrSilent = errors.New("the crawl does not answer; it may be suspended (SIGSTOP, Ctrl-Z)")

// An Error is a refusal by a crawl. Code is the HTTP status: 503 if the request may soon be repeated, 409 if
// it cannot be fulfilled now, 400 for an invalid request, and 410 if a process holds the state file but does
// not crawl it, which is an [ErrNobody].
type Error struct {
	Code int
	Text string
}

func (e *Error) Error() string { return e.Text }

// Is makes errors.Is(err, ErrNobody) true for an answer with status 410.
func (e *Error) Is(target error) bool { return target == ErrNobody && e.Code == http.StatusGone }

// Path returns the socket on which the crawl of a state file listens: next to the file, or, if that name is
// too long for a socket, in the user's runtime folder under a hash of the name. Different names of one file
// lead to one socket.
func Path(state string) (string, error) {
	path, name, err := nameOf(state)
	if err != nil || name == "" {
		return path, err
	}
	folder, err := runtimeFolder()
	return filepath.Join(folder, name), err
}

// nameOf returns the socket next to a state file or, if its name is too long, its name in a runtime folder.
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

// elsewhere returns the sockets of a crawl started in another environment: cron, for example, sets no
// XDG_RUNTIME_DIR, unlike a session. Folders that do not exist or are not safe are left out.
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

// Listens reports whether there is a socket for a state file, in any environment. A killed crawl leaves its
// socket behind. If it cannot be determined, the result is true.
func Listens(state string) bool {
	path, err := Path(state)
	return err != nil || slices.ContainsFunc(append(elsewhere(state), path), func(path string) bool {
		_, err := os.Lstat(path)
		return !errors.Is(err, fs.ErrNotExist)
	})
}

// runtimeFolder returns a folder that only this user can access.
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

// makePrivate creates a folder for this user only, if it does not exist.
func makePrivate(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("control: %w", err)
	}
	return trusted(dir)
}

// trusted returns an error if a user other than this one and root may change or look up the contents of a
// folder.
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

// permitted reports whether user uid is trusted by user by.
func permitted(uid, by int) bool { return uid == by || uid == 0 }
