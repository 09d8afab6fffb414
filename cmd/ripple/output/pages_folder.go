package output

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
)

// A pagesFolder is a folder of bodies under their hashes, with an index.
type pagesFolder struct {
	path string
	Root *os.Root
	sync func(folder string) error
	used map[string]bool // folders with bodies that the index lists, and their parents
}

// openPages creates a folder unless it exists, and marks it as Ripple's before it writes anything
// else there.
func openPages(path string, sync func(folder string) error) (*pagesFolder, error) {
	if err := os.MkdirAll(path, 0o777); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	f, err := root.OpenFile(pagesIndex, os.O_CREATE|os.O_WRONLY, 0o666)
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return &pagesFolder{path: path, Root: root, sync: sync, used: map[string]bool{}}, nil
}

// publish replaces the index by one that a function writes while it stores the bodies. Their
// folders are synced before the index gets its name, and the folder of the index afterwards.
func (d *pagesFolder) publish(write func(*json.Encoder) error) error {
	temporary := pagesIndex + ".new"
	err := d.create(temporary, func(f *os.File) error {
		out := bufio.NewWriter(f)
		lines := json.NewEncoder(out)
		lines.SetEscapeHTML(false)
		return errors.Join(write(lines), out.Flush())
	})
	if err == nil {
		err = d.syncUsed()
	}
	if err != nil {
		_ = d.Root.Remove(temporary)
		return err
	}
	if err := d.Root.Rename(temporary, pagesIndex); err != nil {
		return err
	}
	_ = d.sync(filepath.Dir(filepath.Clean(d.path))) // the parent folder need not be readable
	return d.sync(d.path)
}

// Put writes a body under its hash, unless it exists, and returns its name.
func (d *pagesFolder) Put(sum string, body []byte) (name string, err error) {
	dir := sum[:2] + "/" + sum[2:4]
	d.used[sum[:2]], d.used[dir] = true, true
	name = dir + "/" + sum + ".html"
	if d.holds(name, body) {
		return name, nil
	}
	if err := d.Root.MkdirAll(dir, 0o777); err != nil {
		return "", err
	}
	err = d.create(name+".new", func(f *os.File) error {
		_, err := f.Write(body)
		return err
	})
	if err != nil {
		_ = d.Root.Remove(name + ".new")
		return "", err
	}
	return name, d.Root.Rename(name+".new", name)
}

// holds reports whether a file has exactly these bytes.
func (d *pagesFolder) holds(name string, body []byte) bool {
	info, err := d.Root.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() != int64(len(body)) {
		return false
	}
	there, err := d.Root.ReadFile(name)
	return err == nil && bytes.Equal(there, body)
}

// create writes a file and syncs it.
func (d *pagesFolder) create(name string, write func(*os.File) error) error {
	f, err := d.Root.Create(name)
	if err != nil {
		return err
	}
	if err = write(f); err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// syncUsed makes the names of all bodies durable.
func (d *pagesFolder) syncUsed() error {
	for name := range d.used {
		if err := d.sync(filepath.Join(d.path, filepath.FromSlash(name))); err != nil {
			return err
		}
	}
	return d.sync(d.path)
}
