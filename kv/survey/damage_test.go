package survey_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"go.etcd.io/bbolt"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
)

// TestSealedDamage changes bytes of records and corrects their checksums: every read ends, with
// [kv.ErrDamaged] or without an error.
func TestSealedDamage(t *testing.T) {
	w := surveytest.New(t, surveytest.Minimal)
	var names []string
	for i := range 90 {
		names = append(names, fmt.Sprintf("a.test/p%d", i), fmt.Sprintf("h%d.test/%d", i%9, i))
	}
	w.Visit("a.test/", w.Links(names[:100]...))
	for _, name := range names[:20] {
		w.Visit(name, w.Links("a.test/", "b.test/"+name))
	}
	w.Change(func(r *schema.Run) { r.Status = schema.RunCompleted })
	w.Begin()
	w.Visit("a.test/", w.Links(names...))
	w.Visit("a.test/p1", w.Links("a.test/new"))
	whole, err := os.ReadFile(w.Store.Path())
	if err != nil {
		t.Fatal(err)
	}
	tries := 60
	if os.Getenv("RIPPLE_PROOF") == "full" {
		tries = 600
	}
	r := rand.New(rand.NewPCG(1, 7))
	found := 0
	for range tries {
		path := filepath.Join(t.TempDir(), "state.bolt")
		if err := os.WriteFile(path, whole, 0o600); err != nil {
			t.Fatal(err)
		}
		changed := changeRecord(t, path, r)
		err := readAll(path)
		if err != nil && !errors.Is(err, kv.ErrDamaged) {
			t.Errorf("%s: %v", changed, err)
		}
		if err != nil {
			found++
		}
		os.Remove(path)
	}
	if found < tries/10 {
		t.Errorf("%d of %d were found", found, tries)
	}
}

// changeRecord changes a byte or two of a URL block or a visit.
func changeRecord(t *testing.T, path string, r *rand.Rand) string {
	t.Helper()
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	name := []string{"urls", "visits"}[r.IntN(2)]
	key, value := []byte(nil), []byte(nil)
	err = db.Update(func(tx *bbolt.Tx) error {
		b := tx.Bucket([]byte(name))
		for at, c := r.IntN(b.Stats().KeyN), b.Cursor(); at >= 0; at-- {
			if key == nil {
				key, value = c.First()
			} else {
				key, value = c.Next()
			}
		}
		value = append([]byte(nil), value...)
		body := value[1 : len(value)-4]
		for range 1 + r.IntN(2) {
			body[r.IntN(min(len(body), 24))] = byte(r.IntN(256))
		}
		castagnoli := crc32.MakeTable(crc32.Castagnoli)
		sum := crc32.Update(crc32.Checksum([]byte(name), castagnoli), castagnoli, key)
		binary.LittleEndian.PutUint32(value[len(value)-4:], crc32.Update(sum, castagnoli, value[:len(value)-4]))
		return b.Put(append([]byte(nil), key...), value)
	})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%s %x: %x", name, key, value)
}

// readAll reads everything that a survey reports about both runs.
func readAll(path string) error {
	store, err := kv.Open(path, kv.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	defer store.Close()
	newest, err := survey.New(store)
	if err != nil {
		return err
	}
	for _, run := range []schema.RunID{2, 1} {
		s, err := newest.At(run)
		if err != nil {
			return err
		}
		_, err = survey.Digest(s)
		err = errors.Join(err, s.EachPage(func(*survey.Page) error { return nil }),
			s.Links.Each(func(schema.ID, schema.Link, schema.RunID, schema.RunID) error { return nil }))
		_, counts := s.Counts()
		ids := make([]bool, s.URLs()+1)
		known := func(id schema.ID) bool { return !ids[id] }
		err = errors.Join(err, counts, s.Links.EachTo(known, func(schema.ID, schema.Link) error { return nil }),
			s.Links.EachTargetWritten(func(from, to schema.ID) { _ = known(from) || known(to) }))
		if err != nil {
			return err
		}
	}
	return nil
}
