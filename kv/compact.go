package kv

import (
	"errors"
	"fmt"
	"os"

	"go.etcd.io/bbolt"

	"github.com/sumi-ripple/ripple/schema/disk"
)

// compactCommit is the size of the commits when writing a compacted file.
const compactCommit = 64 << 20

// Compact writes the content of a state file to a new file, without free space. The source is locked as for
// reading. The new file is complete and synced when Compact returns, and removed if it fails; it has the
// access rights of the source. The caller must rename it to replace the source.
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
	db.AllocSize = 1 << 20 // growth step of the file: no space that is not needed
	err = bbolt.Compact(db, from, compactCommit)
	return errors.Join(err, db.Close())
}
