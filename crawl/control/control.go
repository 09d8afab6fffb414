// Package control is the socket of a running crawl, both ends.
//
// Nobody but the crawling process can look into a state file while it is being
// written. It therefore listens on a unix socket that follows from the state
// file's name (see [Path]) and answers one question on each connection:
//
//	-> {"do":"status"}
//	<- {"reply":{...}}            or {"error":"..."}
//
//	-> {"do":"snapshot"}
//	<- {"size":4096}              or {"error":"..."}
//	<- the copy in chunks as HTTP/1.1 has them, the last one empty
//
// Both lines are JSON. A copy that ends without its last chunk is cut. Only one
// is made at a time, because its reader keeps the file from using space again; a
// reader that takes nothing for 10 s is left.
//
// What the questions are and mean is the business of whoever listens. The socket
// has mode 0600: whoever may write the state file may command the crawl.
package control

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

const (
	maxPath     = 103 // bytes that a socket's name may have everywhere; 107 on Linux
	maxQuestion = 4 << 10
	maxReply    = 16 << 20
	patience    = 10 * time.Second // without a byte in either direction
)

// ErrNobody reports that no crawl listens at a state file.
var ErrNobody = errors.New("no crawl is running on this state file")

// errBusy reports a second copy at a time.
var errBusy = errors.New("another copy of the state is being made; try again when it is done")

type question struct {
	Do string `json:"do"`
}

type answer struct {
	Reply json.RawMessage `json:"reply,omitempty"`
	Size  int64           `json:"size,omitempty"`
	Error string          `json:"error,omitempty"`
}

// Path returns where the crawl of a state file listens: beside it, or, where
// that name is too long for a socket, under the user's runtime folder by its
// hash. Different names of one file lead to one socket.
func Path(state string) (string, error) {
	whole, err := filepath.Abs(state)
	if err != nil {
		return "", fmt.Errorf("control: name of %s: %w", state, err)
	}
	if real, err := filepath.EvalSymlinks(whole); err == nil {
		whole = real
	}
	if path := whole + ".sock"; len(path) <= maxPath {
		return path, nil
	}
	sum := sha256.Sum256([]byte(whole))
	name := "ripple-" + hex.EncodeToString(sum[:12]) + ".sock"
	folder, err := runtimeFolder()
	return filepath.Join(folder, name), err
}

// runtimeFolder returns a folder that belongs to this user alone.
func runtimeFolder() (string, error) {
	if dir := os.Getenv("XDG_RUNTIME_DIR"); dir != "" {
		return dir, nil
	}
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("ripple-%d", os.Getuid()))
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return "", fmt.Errorf("control: %w", err)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return "", fmt.Errorf("control: %w", err)
	}
	// A folder of another user with this mode cannot be entered, and no other
	// folder is trusted.
	if !info.IsDir() || privateModes && info.Mode().Perm() != 0o700 {
		return "", fmt.Errorf("control: %s is not a folder of mode 0700", dir)
	}
	return dir, nil
}
