package kv

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"go.etcd.io/bbolt"

	"github.com/sumi-ripple/ripple/schema/disk"
)

// formatVersion is the version of the file format. A file of any other version is refused.
const formatVersion = 10

// create creates an empty state file under a temporary name and then renames it, unless another process was
// faster. A symbolic link to a missing file is kept, and leads to the new file.
func create(path string) error {
	path = disk.Behind(path)
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".new-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if err := f.Close(); err != nil {
		return err
	}
	if err := initialise(f.Name()); err != nil {
		return err
	}
	if err := publish(f.Name(), path); err != nil {
		return err
	}
	removeStale(path) // only now: other processes may be creating it, too
	return disk.SyncDir(filepath.Dir(path))
}

// removeStale removes what interrupted creations have left behind.
func removeStale(path string) {
	entries, _ := os.ReadDir(filepath.Dir(path))
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), filepath.Base(path)+".new-") {
			_ = os.Remove(filepath.Join(filepath.Dir(path), e.Name()))
		}
	}
}

// publish gives a file its name, but keeps an existing file of that name.
func publish(temporary, path string) error {
	err := os.Link(temporary, path)
	if err == nil || errors.Is(err, os.ErrExist) {
		return nil
	}
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	return os.Rename(temporary, path) // a file system without links
}

// Rename renames a state file that no process has open for writing, replacing any existing file. If the
// folder can be synced, this survives a power failure.
func Rename(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	_ = disk.SyncDir(filepath.Dir(to)) // the folder need not be readable
	return nil
}

func initialise(path string) error {
	var seed [8]byte
	_, _ = rand.Read(seed[:]) // never fails
	return initialiseAfter(path, binary.LittleEndian.Uint64(seed[:]), 0)
}

// initialiseAfter creates an empty file whose first commit follows one of another file.
func initialiseAfter(path string, seed, commit uint64) error {
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{FreelistType: bbolt.FreelistMapType})
	if err != nil {
		return err
	}
	s := &Store{seal: newSealer(), index: index{seed: seed}}
	s.state.generation, s.state.commit = 1, commit
	err = db.Update(func(b *bbolt.Tx) error {
		for name := range bPart {
			if _, err := b.CreateBucket([]byte(name.String())); err != nil {
				return err
			}
		}
		tx := newTx(s, b, true)
		return errors.Join(tx.putFormat(), tx.putState())
	})
	return errors.Join(err, db.Close())
}
