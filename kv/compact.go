package kv

import (
	"errors"
	"fmt"
	"os"

	"go.etcd.io/bbolt"

	"github.com/sumi-ripple/ripple/schema/disk"
)

// compactCommit is the size of the commits that a compacted file is written in.
const compactCommit = 64 << 20

// Compact writes what a state file holds into a new file, without the free
// space. The source is locked as for reading, the new file is whole and synced
// when Compact returns, and removed when it fails; it is readable to whom the source is.
// Giving it the place of the source is left to the caller.
func Compact(src, dst string) (err error) {
	s, err := Open(src, Options{ReadOnly: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	f, err := os.OpenFile(dst, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("compact: %w", err)
	}
	err = errors.Join(disk.Like(f, s.file), f.Close())
	if err == nil {
		err = s.explained(guard(func() error { return compactTo(dst, s.db) }))
	}
	if err != nil {
		err = fmt.Errorf("compact %s: %w", src, errors.Join(err, os.Remove(dst)))
	}
	return err
}

func compactTo(dst string, from *bbolt.DB) error {
	db, err := bbolt.Open(dst, 0o600, &bbolt.Options{FreelistType: bbolt.FreelistMapType, InitialMmapSize: mapRoom()})
	if err != nil {
		return err
	}
	db.AllocSize = 1 << 20 // what the file grows by: no room that nothing needs
	err = bbolt.Compact(db, from, compactCommit)
	return errors.Join(err, db.Close())
}
