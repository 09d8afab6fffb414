package atomicfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/sumi-ripple/ripple/schema/disk"
)

// Manifest is the name of the file that identifies a folder of Ripple's and lists its files.
const Manifest = "ripple.json"

// asideMark is the suffix of an old folder while a new one takes its place.
const asideMark = ".ripple-old"

// CheckFolder returns why a folder must not be replaced, or nil. It is [ErrForeign] if the folder
// contains something that Ripple did not write, or a file of Ripple's whose name does not end in ext
// (".csv"). With force, files of the same names are replaced, and others that Ripple did not write
// stay.
func CheckFolder(path, ext string, force bool) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s %w: %w", path, ErrForeign, ErrNotFolder)
	case force:
		return nil
	}
	other, err := firstOther(path, ext)
	if err != nil || other == "" {
		return err
	}
	return &OtherError{path, other}
}

// An OtherError is an [ErrForeign] for a folder with a foreign file.
type OtherError struct{ Folder, Name string }

func (e *OtherError) Error() string {
	return fmt.Sprintf("%s in folder %s %v; name another folder, or use --force", e.Name, e.Folder, ErrForeign)
}

func (e *OtherError) Unwrap() error { return ErrForeign }

// firstOther returns the first name in a folder that is not Ripple's own, else the first file that does
// not end in ext.
func firstOther(path, ext string) (string, error) {
	ours, foreign, err := contents(path)
	if err != nil || foreign != "" {
		return foreign, err
	}
	for _, name := range ours {
		if name != Manifest && filepath.Ext(name) != ext {
			return name, nil
		}
	}
	return "", nil
}

// contents returns the names in a folder if all are Ripple's own, else the first one that is not.
func contents(path string) (ours []string, foreign string, err error) {
	entries, err := os.ReadDir(path)
	if err != nil || len(entries) == 0 {
		return nil, "", err
	}
	var m struct {
		Ripple string   `json:"ripple"`
		Files  []string `json:"files"`
	}
	if text, err := os.ReadFile(filepath.Join(path, Manifest)); err == nil {
		if json.Unmarshal(text, &m) != nil || m.Ripple == "" {
			m.Files = nil
		}
	}
	for _, e := range entries {
		known := len(m.Files) > 0 && (e.Name() == Manifest || slices.Contains(m.Files, e.Name()))
		if !known || !e.Type().IsRegular() {
			return nil, e.Name(), nil
		}
		ours = append(ours, e.Name())
	}
	return ours, "", nil
}

// Folder writes a folder. It calls build with the path of an empty folder in a new folder next to the
// target. build returns the names of its files and further entries of the manifest. A new folder gets
// the permissions that the umask leaves; a folder that replaces another keeps the old one's. For links
// see [disk.Behind].
func Folder(path string, build func(temporary string) (names []string, about map[string]any, err error)) error {
	path = disk.Behind(filepath.Clean(path)) // a path that ends in a slash has no parent
	dir, remove, err := Scratch(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer remove()
	temporary := filepath.Join(dir, "folder")
	if err := os.Mkdir(temporary, 0o777); err != nil {
		return err
	}
	names, about, err := build(temporary)
	if err == nil {
		err = seal(temporary, names, about)
	}
	if err == nil {
		err = publishFolder(temporary, path, append(names, Manifest))
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// seal writes the manifest and syncs a folder.
func seal(dir string, names []string, about map[string]any) error {
	all := map[string]any{"ripple": "export", "files": names}
	for key, value := range about {
		all[key] = value
	}
	text, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, Manifest), append(text, '\n'), 0o666); err != nil {
		return err
	}
	for _, name := range append(slices.Clone(names), Manifest) {
		if err := syncFile(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	_ = disk.SyncDir(dir)
	return nil
}

// publishFolder renames a finished folder to its target. An old folder of Ripple's is exchanged for it.
// In any other folder, only the named files are replaced.
func publishFolder(temporary, path string, names []string) error {
	defer func() { _ = disk.SyncDir(filepath.Dir(path)) }()
	_, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.Rename(temporary, path); err != nil {
			return err
		}
		return removeAside(path)
	}
	if err != nil {
		return err
	}
	_, foreign, err := contents(path)
	if err != nil {
		return err
	}
	if foreign == "" {
		return replaceFolder(temporary, path)
	}
	for _, name := range names {
		if err := os.Rename(filepath.Join(temporary, name), filepath.Join(path, name)); err != nil {
			return err
		}
	}
	_ = disk.SyncDir(path)
	return nil
}

// replaceFolder exchanges two folders, atomically where the system can.
func replaceFolder(temporary, path string) error {
	if err := likeOld(temporary, path); err != nil {
		return err
	}
	if exchange(temporary, path) == nil {
		return nil
	}
	return setAside(temporary, path)
}

// setAside replaces a folder where the system cannot exchange two. A kill in between leaves the old
// folder next to its place; the next replacement removes it.
func setAside(temporary, path string) error {
	old := path + asideMark
	if err := removeAside(path); err != nil {
		return err
	}
	if err := os.Rename(path, old); err != nil {
		return err
	}
	if err := os.Rename(temporary, path); err != nil {
		return errors.Join(err, os.Rename(old, path))
	}
	return removeAside(path)
}

// removeAside removes the old folder that was set aside for a new one at path.
func removeAside(path string) error {
	old := path + asideMark
	if _, foreign, err := contents(old); err != nil || foreign != "" {
		return nil // there is none, or it is not Ripple's
	}
	_ = disk.SyncDir(filepath.Dir(path)) // makes the new name durable
	return os.RemoveAll(old)
}
