package archive

import (
	"archive/zip"
	"fmt"
	"io"
	"path"
	"strings"
)

// An Entry is a WARC file in a WACZ file.
type Entry struct {
	Name   string
	Offset int64 // in the WACZ file
	Size   int64
}

// Entries returns the WARC files in a WACZ file (Web Archive Collection Zipped 1.1.1), in its order. They must be
// stored without compression, as the format demands, and must not overlap. Nothing is unpacked, and names are not
// used as paths.
func Entries(file io.ReaderAt, size int64) ([]Entry, error) {
	z, err := zip.NewReader(file, size)
	if err != nil && err != zip.ErrInsecurePath {
		return nil, fmt.Errorf("%w: %w", ErrRecord, err)
	}
	var all []Entry
	room := size
	for _, f := range z.File {
		if path.Dir(f.Name) != "archive" || !isWARC(f.Name) {
			continue
		}
		at, err := f.DataOffset()
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrRecord, err)
		}
		n := int64(f.UncompressedSize64)
		if f.Method != zip.Store || f.UncompressedSize64 != f.CompressedSize64 || n < 0 || at < 0 || at > size-n {
			return nil, fmt.Errorf("%w: %.100q in it is compressed or damaged", ErrRecord, f.Name)
		}
		if room -= n; room < 0 {
			return nil, fmt.Errorf("%w: what is in it overlaps", ErrRecord)
		}
		all = append(all, Entry{Name: f.Name, Offset: at, Size: n})
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%w: it holds no WARC file", ErrRecord)
	}
	return all, nil
}

func isWARC(name string) bool {
	return strings.HasSuffix(name, ".warc") || strings.HasSuffix(name, ".warc.gz") || strings.HasSuffix(name, ".warc.zst")
}
