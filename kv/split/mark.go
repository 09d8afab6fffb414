package split

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/sumi-ripple/ripple/kv"
)

// ErrSplit reports a file that was split into shards, which are crawled in its place.
var ErrSplit = errors.New("it was split into shards")

// A Mark says in a file that it was split. A file with it is only read.
type Mark struct {
	Terrain string   `json:"terrain"` // ID of the new terrain, in hexadecimal digits
	Folder  string   `json:"folder"`  // where the new files appear once all files that were split are marked
	Commits []uint64 `json:"commits"` // the last commits before the mark, of all files that were split together
}

// MarkOf returns the mark of a file; nil: it has none.
func MarkOf(store *kv.Store) (m *Mark, err error) {
	err = store.View(func(tx *kv.Tx) error {
		text, err := tx.Meta.Value(kv.MetaSplit)
		if err == nil && text != nil {
			m, err = decodeMark(text)
		}
		return err
	})
	return m, err
}

func decodeMark(text []byte) (*Mark, error) {
	var m Mark
	err := json.Unmarshal(text, &m)
	if err == nil {
		var id []byte
		if id, err = hex.DecodeString(m.Terrain); err == nil && (len(id) != 16 || len(m.Commits) == 0 || m.Folder == "") {
			err = errors.New("it is incomplete")
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%w: the mark of a file that was split: %w", kv.ErrDamaged, err)
	}
	return &m, nil
}

// Put marks a file; nil removes the mark.
func (m *Mark) Put(store *kv.Store) error {
	return store.Update(func(tx *kv.Tx) error {
		if m == nil {
			return tx.Meta.Put(kv.MetaSplit, nil)
		}
		text, err := json.Marshal(m)
		return errors.Join(err, tx.Meta.Put(kv.MetaSplit, text))
	})
}

// Refuse returns [ErrSplit] for a file with a mark.
func Refuse(store *kv.Store) error {
	m, err := MarkOf(store)
	if err != nil || m == nil {
		return err
	}
	unless := ""
	if _, err := os.Stat(m.Folder); errors.Is(err, fs.ErrNotExist) {
		unless = "; if they never were there, run \"ripple split\" again"
	}
	return fmt.Errorf("%w of terrain %s, which are crawled instead: %s%s", ErrSplit, m.Terrain, m.Folder, unless)
}
