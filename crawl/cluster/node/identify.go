package node

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/renameio/v2/maybe"

	"github.com/sumi-ripple/ripple/crawl/cluster/lease"
)

// IDName is the file in a node's folder that has the ID of the node, and the [lease.FolderID] of the folder for which
// it was made, separated by a space.
const IDName = "node-id"

// Identify returns the ID of the node with a folder, which it creates if necessary. A folder that is a copy gets a new
// ID, so that no two nodes have the same one, whatever their machines are called.
func Identify(folder string) (id string, err error) {
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return "", err
	}
	here, err := lease.FolderID(folder)
	if err != nil {
		return "", err
	}
	path := filepath.Join(folder, IDName)
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	id, made, _ := strings.Cut(strings.TrimSpace(string(text)), " ")
	if len(id) == len(rand.Text()) && made == here {
		return id, nil
	}
	id = rand.Text()
	if err := maybe.WriteFile(path, fmt.Appendln(nil, id, here), 0o666); err != nil {
		return "", err
	}
	return id, nil
}
