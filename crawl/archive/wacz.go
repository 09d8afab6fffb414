package archive

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"path"
	"slices"
	"strings"
)

// An Entry is a WARC file in a WACZ file.
type Entry struct {
	Name   string
	Offset int64 // in the WACZ file
	Size   int64
	SHA256 []byte // by the manifest; nil: it states none
}

// Entries returns the WARC files in a WACZ file (Web Archive Collection Zipped 1.1.1), in its order. They must be
// stored without compression, as the format demands, and must not overlap. Nothing is unpacked, and names are not
// used as paths.
//
// What its manifest lacks or contradicts is in doubts, each of which begins with the name of a file. The content of
// the WARC files is not compared with it.
func Entries(file io.ReaderAt, size int64) (all []Entry, doubts []error, err error) {
	z, err := zip.NewReader(file, size)
	if err != nil && err != zip.ErrInsecurePath {
		return nil, nil, fmt.Errorf("%w: %w", ErrRecord, err)
	}
	room := size
	for _, f := range z.File {
		if !isWARC(f.Name) {
			continue
		}
		at, err := f.DataOffset()
		if err != nil {
			return nil, nil, fmt.Errorf("%w: %w", ErrRecord, err)
		}
		n := int64(f.UncompressedSize64)
		if f.Method != zip.Store || f.UncompressedSize64 != f.CompressedSize64 || n < 0 || at < 0 || at > size-n {
			return nil, nil, fmt.Errorf("%w: %.100q in it is compressed or damaged", ErrRecord, f.Name)
		}
		if room -= n; room < 0 {
			return nil, nil, fmt.Errorf("%w: what is in it overlaps", ErrRecord)
		}
		all = append(all, Entry{Name: f.Name, Offset: at, Size: n})
	}
	if len(all) == 0 {
		return nil, nil, fmt.Errorf("%w: it holds no WARC file", ErrRecord)
	}
	return all, compare(all, z), nil
}

func isWARC(name string) bool {
	return path.Dir(name) == "archive" && (strings.HasSuffix(name, ".warc") || strings.HasSuffix(name, ".warc.gz") ||
		strings.HasSuffix(name, ".warc.zst"))
}

const (
	manifestName = "datapackage.json"
	digestName   = "datapackage-digest.json" // of the manifest; there need not be one
	maxManifest  = 2 << 20                   // bytes
	maxResources = 10_000
)

// compare sets the digests of entries by the manifest, and returns what is doubtful.
func compare(all []Entry, z *zip.Reader) (doubts []error) {
	text, err := readFile(z, manifestName)
	var listed map[string][]byte
	if err == nil {
		listed, err = parseManifest(text)
	}
	if err != nil {
		return []error{fmt.Errorf("%s: %w", manifestName, err)}
	}
	if err := verifyManifest(z, text); err != nil {
		doubts = append(doubts, fmt.Errorf("%s: %w", digestName, err))
	}
	for i := range all {
		sum, ok := listed[all[i].Name]
		switch {
		case !ok:
			doubts = append(doubts, fmt.Errorf("%s: the manifest does not list it", all[i].Name))
		case sum == nil:
			doubts = append(doubts, fmt.Errorf("%s: the manifest states no SHA-256 of it", all[i].Name))
		}
		all[i].SHA256 = sum
		delete(listed, all[i].Name)
	}
	var missing []error
	for name := range listed {
		if isWARC(name) {
			missing = append(missing, fmt.Errorf("%s: the manifest lists it, but it is missing", name))
		}
	}
	slices.SortFunc(missing, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return append(doubts, missing...)
}

// errNoFile reports a file that is not in a WACZ file.
var errNoFile = errors.New("there is none")

// readFile returns the content of a file that has at most maxManifest bytes.
func readFile(z *zip.Reader, name string) ([]byte, error) {
	i := slices.IndexFunc(z.File, func(f *zip.File) bool { return f.Name == name })
	if i < 0 {
		return nil, errNoFile
	}
	r, err := z.File[i].Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	text, err := io.ReadAll(io.LimitReader(r, maxManifest+1))
	if err == nil && len(text) > maxManifest {
		err = errors.New("it is too long")
	}
	return text, err
}

// parseManifest returns the SHA-256 of each resource that a manifest lists, by its path; nil: it states none. Of two
// resources with one path the first counts.
func parseManifest(text []byte) (map[string][]byte, error) {
	var manifest struct {
		Resources []struct{ Path, Hash string }
	}
	if err := json.Unmarshal(text, &manifest); err != nil {
		return nil, fmt.Errorf("its JSON: %w", err)
	}
	if len(manifest.Resources) > maxResources {
		return nil, errors.New("it lists too many files")
	}
	listed := map[string][]byte{}
	for _, r := range manifest.Resources {
		if _, again := listed[r.Path]; !again {
			listed[r.Path] = parseHash(r.Hash)
		}
	}
	return listed, nil
}

// parseHash returns the SHA-256 in a text such as "sha256:9f86..."; nil: it is none.
func parseHash(text string) []byte {
	digits, ok := strings.CutPrefix(text, "sha256:")
	sum, err := hex.DecodeString(digits)
	if !ok || err != nil || len(sum) != sha256.Size {
		return nil
	}
	return sum
}

// verifyManifest compares the manifest with its digest, if there is one.
func verifyManifest(z *zip.Reader, manifest []byte) error {
	text, err := readFile(z, digestName)
	if err == errNoFile {
		return nil
	}
	var digest struct{ Hash string }
	if err == nil {
		err = json.Unmarshal(text, &digest)
	}
	if err != nil {
		return err
	}
	if sum := sha256.Sum256(manifest); !bytes.Equal(sum[:], parseHash(digest.Hash)) {
		return errors.New("the manifest has another SHA-256")
	}
	return nil
}

// A Digester computes the SHA-256 of a file while a [Reader] reads it.
type Digester struct {
	file io.ReaderAt
	size int64
	hash hash.Hash
	done int64 // bytes
}

// NewDigester returns a digester of a file of the given size.
func NewDigester(file io.ReaderAt, size int64) *Digester {
	return &Digester{file: file, size: size, hash: sha256.New()}
}

// ReadAt reads the file. What was read before, or lies behind a gap, is not added to the digest.
func (d *Digester) ReadAt(p []byte, offset int64) (int, error) {
	n, err := d.file.ReadAt(p, offset)
	if offset <= d.done && offset+int64(n) > d.done {
		d.hash.Write(p[d.done-offset : n])
		d.done = offset + int64(n)
	}
	return n, err
}

// Sum reads the rest of the file, and returns the digest of all of it.
func (d *Digester) Sum() ([]byte, error) {
	_, err := io.Copy(io.Discard, io.NewSectionReader(d, d.done, d.size-d.done))
	return d.hash.Sum(nil), err
}
