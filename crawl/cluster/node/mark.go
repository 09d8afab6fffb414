package node

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2/maybe"
)

// MarkName is the file in a node's folder that names the terrain of the node: its ID in hexadecimal digits. A node
// may have no shards, because they were moved away or never crawled. With the mark it neither begins another
// terrain when the hub has lost its charter, nor joins one that was begun there since.
const MarkName = "terrain-id"

// Reasons why a node waits for others to restore the charter of a hub that has none.
var (
	errMarked = errors.New("the hub knows no terrain, and this node has been part of one")
	errUsed   = errors.New("the hub knows no terrain, but may have lost one")
)

// marked returns the terrain with which a folder is marked; nil: none.
func marked(folder string) (terrain []byte, err error) {
	path := filepath.Join(folder, MarkName)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		terrain, err = hex.DecodeString(string(bytes.TrimSpace(text)))
	}
	if err == nil && len(terrain) != 16 {
		err = fmt.Errorf("%d bytes", len(terrain))
	}
	if err != nil {
		return nil, fmt.Errorf("%s is not a valid mark of a terrain; if the folder has files of shards, remove it: %w",
			path, err)
	}
	return terrain, nil
}

// mark marks a folder with a terrain, and creates the folder if it is missing.
func mark(folder string, terrain []byte) error {
	if was, err := marked(folder); err != nil || bytes.Equal(was, terrain) {
		return err
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	return maybe.WriteFile(filepath.Join(folder, MarkName), []byte(hex.EncodeToString(terrain)+"\n"), 0o666)
}
