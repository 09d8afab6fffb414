package output

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestPagesFolderSyncsFirst records what is synced while the old index is in place, and what after
// the new one has its name.
func TestPagesFolderSyncsFirst(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pages")
	body := []byte("<p>a page</p>")
	hash := sha256.Sum256(body)
	sum := hex.EncodeToString(hash[:])
	var before, after []string
	d, err := openPages(path, func(folder string) error {
		if index, err := os.ReadFile(filepath.Join(path, pagesIndex)); err != nil {
			t.Error(err)
		} else if len(index) == 0 {
			before = append(before, folder)
		} else {
			after = append(after, folder)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Root.Close()
	err = d.publish(func(lines *json.Encoder) error {
		name, err := d.Put(sum, body)
		if err != nil {
			return err
		}
		return lines.Encode(name)
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(before)
	outer := filepath.Join(path, sum[:2])
	if want := []string{path, outer, filepath.Join(outer, sum[2:4])}; !slices.Equal(before, want) {
		t.Errorf("synced before the index: %q, want %q", before, want)
	}
	if want := []string{filepath.Dir(path), path}; !slices.Equal(after, want) {
		t.Errorf("synced after the index: %q, want %q", after, want)
	}
}

// TestPagesFolderMendsBodies repairs a body file with wrong content.
func TestPagesFolderMendsBodies(t *testing.T) {
	d, err := openPages(t.TempDir(), func(string) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	defer d.Root.Close()
	body, other := "whole", "wrong"
	for _, text := range []string{other, body} {
		name, err := d.Put("abcdef", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := d.Root.ReadFile(name); err != nil || string(got) != text {
			t.Errorf("%s has %q, %v; want %q", name, got, err, text)
		}
	}
}
