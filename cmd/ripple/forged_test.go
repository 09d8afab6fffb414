package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"go.etcd.io/bbolt"

	"github.com/sumi-ripple/ripple/cmd/ripple/command"
	"github.com/sumi-ripple/ripple/cmd/ripple/decide"
	"github.com/sumi-ripple/ripple/cmd/ripple/rippletest"
	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema/config"
)

const envForged = "RIPPLE_TEST_FORGED" // folder, seed, first and last file

// TestForged runs every question on forged state files: values have other fields, or other keys,
// and right checksums. Then the files are reclassified, crawled and pruned. Everything ends,
// possibly with an error, in limited memory. It runs in child processes, like [TestMutants].
func TestForged(t *testing.T) {
	t.Parallel()
	if os.Getenv(envForged) != "" {
		sufferForged(t)
		return
	}
	files := 20
	if crawltest.Full() {
		files = 300
	}
	seed := crawltest.Seed(t)
	dir := filepath.Dir(crawledTwice(t, seed))
	deaths, told := 0, ""
	const some = 250 // per child
	for next := 0; next < files && deaths < 20; {
		cmd := exec.Command(os.Args[0], "-test.run=^TestForged$", "-test.timeout=60m")
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %d %d %d", envForged, dir, seed, next, min(files, next+some)))
		out, err := cmd.CombinedOutput()
		begun, _ := os.ReadFile(filepath.Join(dir, "begun"))
		number, what, _ := strings.Cut(string(begun), " ")
		last, _ := strconv.Atoi(number)
		next = last + 1
		if err != nil {
			deaths++
			t.Errorf("seed %d: file %d, %s: %v\n%.4000s", seed, last, what, err, out)
		}
		for line := range strings.Lines(string(out)) {
			if strings.HasPrefix(line, "files ") {
				told += "\n" + strings.TrimSpace(line)
			}
		}
	}
	t.Logf("seed %d: %d files, %d deaths or hangs; %s", seed, files, deaths, told)
}

// crawledTwice is [crawled] with a second run, which is cut short.
func crawledTwice(t testing.TB, seed uint64) string {
	t.Helper()
	path := rippletest.CrawledWhole(t, seed)
	cfg, _, err := config.Load(path)
	if err == nil {
		err = crawlMutant(cfg.State.Path, cfg, time.Second)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func sufferForged(t *testing.T) {
	var dir string
	var seed uint64
	var first, end int
	if _, err := fmt.Sscan(os.Getenv(envForged), &dir, &seed, &first, &end); err != nil {
		t.Fatal(err)
	}
	state, path := filepath.Join(dir, "state.bolt"), filepath.Join(dir, "forged")
	raw, records := used(t, state), recordsOf(t, state)
	cfg, _, err := config.Load(filepath.Join(dir, "config.toml"))
	if err != nil {
		t.Fatal(err)
	}
	all := func() (answered, refused, changed, unchanged int) {
		answered, refused = askAll(dir, path)
		changed, unchanged = changeAll(path, cfg)
		return answered, refused, changed, unchanged
	}
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	all() // fills what is filled only once
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	usual := filledBy(func() { all() })
	var answered, refused, changed, unchanged int
	for i := first; i < end; i++ {
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		what := forge(t, rand.New(rand.NewPCG(seed, uint64(i))), path, records)
		if err := os.WriteFile(filepath.Join(dir, "begun"), fmt.Appendf(nil, "%d %s", i, what), 0o600); err != nil {
			t.Fatal(err)
		}
		hang := time.AfterFunc(2*time.Minute, func() { panic(fmt.Sprintf("file %d hangs", i)) })
		filled := filledBy(func() {
			a, r, c, u := all()
			answered, refused, changed, unchanged = answered+a, refused+r, changed+c, unchanged+u
		})
		hang.Stop()
		if filled > 2*usual+256<<20 {
			t.Fatalf("file %d: %d MB were filled, and usually are %d", i, filled>>20, usual>>20)
		}
	}
	if answered == 0 || refused == 0 || changed == 0 || unchanged == 0 {
		t.Errorf("files from %d on: nothing was answered or changed, or nothing was refused", first)
	}
	fmt.Printf("files from %d on: %d questions were answered, %d refused; %d changes were made, %d refused\n",
		first, answered, refused, changed, unchanged)
}

// filledBy returns how many bytes of memory a function allocates, including those freed at once.
func filledBy(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// askAll runs all questions on a state file, and counts the answers and the errors.
func askAll(dir, path string) (answered, refused int) {
	for _, question := range [][]string{
		{"stats", "--json"}, {"stats"}, {"broken", "--json"}, {"suggest", "--min-origins", "1", "--json"}, {"diff"},
		{"diff", "--json"}, {"feed"}, {"summary"},
		{"inspect", "h0.gen.test", "https://h0.gen.test/", "h1.gen.test", "https://h1.gen.test/"},
		{"path", "https://h2.gen.test/"}, {"path", "https://h3.gen.test/"},
	} {
		err := command.New(io.Discard, io.Discard).Run(context.Background(), append(question, "--state", path))
		if err == nil || errors.Is(err, term.ErrQuiet) {
			answered++
		} else {
			refused++
		}
	}
	_ = statefile.CheckFile(io.Discard, path, true)
	if exportMutant(path, filepath.Join(dir, "forged.db")) == nil {
		return answered + 1, refused
	}
	return answered, refused + 1
}

// changeAll makes every change to a state file, one after another, and counts those that were made
// and those that were refused.
func changeAll(path string, cfg *config.Config) (changed, refused int) {
	for _, change := range []func() error{
		func() error {
			return decide.Reclassify(path, cfg, func(*kv.Store, *decide.Change) error { return nil })
		},
		func() error { return crawlMutant(path, cfg, 50*time.Millisecond) },
		func() error {
			prune := []string{"prune", "--keep-runs", "1", "--state", path}
			return command.New(io.Discard, io.Discard).Run(context.Background(), prune)
		},
	} {
		if err := change(); err == nil {
			changed++
		} else {
			refused++
		}
	}
	_ = statefile.CheckFile(io.Discard, path, true)
	return changed, refused
}

// A rawRecord is a value of a bucket, with its checksum.
type rawRecord struct{ bucket, key, value []byte }

func recordsOf(t testing.TB, path string) (records []rawRecord) {
	t.Helper()
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	err = db.View(func(tx *bbolt.Tx) error {
		return tx.ForEach(func(name []byte, b *bbolt.Bucket) error {
			return b.ForEach(func(k, v []byte) error {
				records = append(records, rawRecord{bytes.Clone(name), bytes.Clone(k), bytes.Clone(v)})
				return nil
			})
		})
	})
	if err = errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	return records
}

// forge changes the fields or keys of a few values of a file, and says which.
func forge(t testing.TB, r *rand.Rand, path string, records []rawRecord) (what string) {
	t.Helper()
	byBucket := map[string][]rawRecord{}
	for _, one := range records {
		byBucket[string(one.bucket)] = append(byBucket[string(one.bucket)], one)
	}
	// Data that is read when a file is opened is compared with other data at once, so the rest is
	// forged more often.
	names := strings.Fields("visits visits visits visits visits visits hosts hosts hosts urls urls frontier frontier " +
		"anchors anchors runs runs meta meta forms hostnames robots configs caps seen shapes done depths")
	names = slices.DeleteFunc(names, func(name string) bool { return len(byBucket[name]) == 0 })
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		for range 1 + r.IntN(2) {
			all := byBucket[names[r.IntN(len(names))]]
			one := all[r.IntN(len(all))]
			b := tx.Bucket(one.bucket)
			key, fields := bytes.Clone(one.key), bytes.Clone(one.value[1:len(one.value)-4])
			switch r.IntN(12) {
			case 0: // an additional value, or one in place of another
				key[len(key)-1]++
			case 1:
				other := all[r.IntN(len(all))]
				fields = other.value[1 : len(other.value)-4]
			case 2, 3:
				fields = forgedText(r, fields)
			default:
				fields = forgedFields(r, fields)
			}
			what += fmt.Sprintf(" %s %x: %.100x", one.bucket, key, fields)
			if err := b.Put(key, sealed(one.bucket, key, fields)); err != nil {
				return err
			}
		}
		return nil
	})
	if err = errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	return what
}

// forgedFields changes fields without knowledge of their meaning.
func forgedFields(r *rand.Rand, fields []byte) []byte {
	fields = bytes.Clone(fields)
	for range 1 + r.IntN(4)/3 {
		at := r.IntN(len(fields) + 1)
		if r.IntN(2) == 0 { // the first fields matter most
			at = r.IntN(min(len(fields), 24) + 1)
		}
		switch r.IntN(8) {
		case 0:
			fields = fields[:at]
		case 1:
			fields = slices.Insert(fields, at, byte(r.Uint32()))
		case 2:
			if at < len(fields) {
				fields[at] = byte(r.Uint32())
			}
		default: // replaces a number
			_, size := binary.Uvarint(fields[at:])
			number := binary.AppendUvarint(nil, oddNumbers()[r.IntN(len(oddNumbers()))]+uint64(r.IntN(3))-1)
			fields = slices.Replace(fields, at, at+max(0, size), number...)
		}
	}
	return fields
}

// oddNumbers returns numbers near limits.
func oddNumbers() []uint64 {
	return []uint64{1, 2, 8, 64, 127, 255, 256, 300, 1000, 1 << 16, 1 << 20, 1 << 30, 1 << 31, 1 << 32,
		1 << 33, 1 << 53, 1 << 62, 1 << 63, 1<<64 - 2}
}

// forgedText changes the compressed text in a field, if there is one.
func forgedText(r *rand.Rand, fields []byte) []byte {
	at := bytes.Index(fields, []byte{0x28, 0xb5, 0x2f, 0xfd}) // RFC 8878
	in, err := zstd.NewReader(nil)
	if err != nil || at < 1 {
		return forgedFields(r, fields)
	}
	defer in.Close()
	text, err := in.DecodeAll(fields[at:], nil)
	if err != nil {
		return forgedFields(r, fields)
	}
	length := binary.AppendUvarint(nil, uint64(len(text)))
	head := bytes.TrimSuffix(fields[:at], length)
	text = forgedFields(r, text)
	out, err := zstd.NewWriter(nil)
	if err != nil {
		return fields
	}
	defer out.Close()
	return out.EncodeAll(text, binary.AppendUvarint(bytes.Clone(head), uint64(len(text))))
}

// sealed adds the format and the checksum to fields, as package kv does.
func sealed(bucket, key, fields []byte) []byte {
	table := crc32.MakeTable(crc32.Castagnoli)
	value := append([]byte{1}, fields...)
	sum := crc32.Update(crc32.Update(crc32.Checksum(bucket, table), table, key), table, value)
	return binary.LittleEndian.AppendUint32(value, sum)
}
