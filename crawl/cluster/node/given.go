package node

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/sumi-ripple/ripple/crawl/cluster/strictjson"
	"github.com/sumi-ripple/ripple/kv"
)

// A given is the mark of a file that was given to another node, as stored in the file.
type given struct {
	Move string `json:"move"` // its ID
	To   peer   `json:"to"`
}

// given returns the mark of the file; nil: it was not given away.
func (f *file) given() (g *given, err error) {
	var text []byte
	err = f.View(func(tx *kv.Tx) (err error) { text, err = tx.Meta.Value(kv.MetaGiven); return err })
	if err != nil || text == nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &g); err != nil {
		return nil, fmt.Errorf("%s: to whom it was given: %w", f.path, err)
	}
	if !moveID.MatchString(g.Move) {
		return nil, fmt.Errorf("%s: to whom it was given: %w", f.path, errMessage)
	}
	return g, nil
}

// give marks the file as given to another node. What is known of its last commit stays as it is, because the copy that
// the other node has does not contain this one.
func (f *file) give(g given) error {
	return f.Update(func(tx *kv.Tx) error { return tx.Meta.Put(kv.MetaGiven, strictjson.Encode(g)) })
}

// takeBack removes the mark from a file that is held, if it has one.
func (f *file) takeBack() error {
	g, err := f.given()
	if err != nil || g == nil {
		return err
	}
	err = f.Update(func(tx *kv.Tx) error { return tx.Meta.Put(kv.MetaGiven, nil) })
	f.committed()
	return err
}

// movedFile is what is appended to the name of a file when another node has taken its shard.
const movedFile = ".moved"

// retire renames a closed file whose shard another node has, unless another file has taken its place.
func (f *file) retire() error {
	now, err := os.Stat(f.path)
	switch {
	case errors.Is(err, os.ErrNotExist), err == nil && !os.SameFile(now, f.place):
		return nil
	case err != nil:
		return err
	}
	return kv.Rename(f.path, f.path+movedFile)
}
