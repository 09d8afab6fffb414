package webgraph

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/sumi-ripple/ripple/schema"
)

// rankedSources is the number of sources whose ranks are held in memory. If there are more, the ranks are read again.
const rankedSources = 5_000_000

// sources keeps the sources found in a file, as their ranks are read after them, for a batch at a time.
type sources struct {
	file   *os.File
	w      *bufio.Writer
	most   int // of a batch
	count  int
	end    int64
	begins []int64 // of batches in the file
	ranks  *ranks  // of a batch; nil: there are none
}

func newSources(dir string, most int) (*sources, error) {
	f, err := os.CreateTemp(dir, "sources-*")
	if err != nil {
		return nil, err
	}
	return &sources{file: f, w: bufio.NewWriterSize(f, 1<<20), most: most}, nil
}

// batches returns the number of batches.
func (s *sources) batches() int { return len(s.begins) }

func (s *sources) close() { _ = s.file.Close() }

// hashName hashes the name of a vertex as the ranks write it.
func hashName(name []byte) uint64 { return xxh3.Hash(withoutWWW(name)) }

// add keeps a source: the hash of its name, its host, the number of its hosts, and its origins.
func (s *sources) add(hash uint64, l *schema.Inlink) error {
	b := binary.LittleEndian.AppendUint64(s.w.AvailableBuffer(), hash)
	b = append(binary.AppendUvarint(b, uint64(len(l.Host))), l.Host...)
	b = binary.AppendUvarint(b, uint64(l.Hosts))
	b = binary.AppendUvarint(b, uint64(len(l.Origins)))
	for _, origin := range l.Origins {
		b = binary.AppendUvarint(b, uint64(origin))
	}
	if s.count%s.most == 0 {
		s.begins = append(s.begins, s.end)
	}
	s.count++
	s.end += int64(len(b))
	if _, err := s.w.Write(b); err != nil {
		return fmt.Errorf("write the sources found: %w", err)
	}
	return nil
}

// each calls f for every source of a batch with the hash of its name, in the order of add.
func (s *sources) each(batch int, f func(hash uint64, l *schema.Inlink) error) error {
	if err := s.w.Flush(); err != nil {
		return fmt.Errorf("write the sources found: %w", err)
	}
	if _, err := s.file.Seek(s.begins[batch], io.SeekStart); err != nil {
		return err
	}
	r := bufio.NewReaderSize(s.file, 1<<20)
	var hash [8]byte
	for range s.size(batch) {
		_, err := io.ReadFull(r, hash[:])
		var l schema.Inlink
		if err == nil {
			l, err = readSource(r)
		}
		if err != nil {
			return fmt.Errorf("read the sources found: %w", err)
		}
		if err := f(binary.LittleEndian.Uint64(hash[:]), &l); err != nil {
			return err
		}
	}
	return nil
}

// readSource reads what add wrote behind the hash.
func readSource(r *bufio.Reader) (l schema.Inlink, err error) {
	next := func() (n uint64) {
		if err == nil {
			n, err = binary.ReadUvarint(r)
		}
		return n
	}
	host := make([]byte, min(next(), 253))
	if err == nil {
		_, err = io.ReadFull(r, host)
	}
	l.Host, l.Hosts = string(host), uint32(next())
	for n := next(); n > 0 && err == nil; n-- {
		l.Origins = append(l.Origins, uint32(next()))
	}
	return l, err
}

// size returns the number of sources of a batch.
func (s *sources) size(batch int) int { return min(s.most, s.count-batch*s.most) }

// rank makes room for the ranks of a batch of sources.
func (s *sources) rank(batch int) error {
	hashes := make([]uint64, 0, s.size(batch))
	err := s.each(batch, func(hash uint64, _ *schema.Inlink) error {
		hashes = append(hashes, hash)
		return nil
	})
	slices.Sort(hashes)
	hashes = slices.Compact(hashes)
	s.ranks = &ranks{hashes, make([]uint32, len(hashes)), make([]uint32, len(hashes))}
	return err
}

// ranks are the ranks of sources by the hashes of their names, which are sorted. 0: none.
type ranks struct {
	hashes             []uint64
	harmonic, pageRank []uint32
}

// put keeps a ranking if it is that of a source. Of two with one name, the better ones count.
func (r *ranks) put(one ranking) {
	at, ok := slices.BinarySearch(r.hashes, hashName(one.name))
	if !ok {
		return
	}
	r.harmonic[at] = schema.BetterRank(r.harmonic[at], one.harmonic)
	r.pageRank[at] = schema.BetterRank(r.pageRank[at], one.pageRank)
}

// of returns the ranks of a source.
func (r *ranks) of(hash uint64) (harmonic, pageRank uint32) {
	if r == nil {
		return 0, 0
	}
	at, ok := slices.BinarySearch(r.hashes, hash)
	if !ok {
		return 0, 0
	}
	return r.harmonic[at], r.pageRank[at]
}

// ErrOrder reports vertices whose ids do not ascend.
var ErrOrder = errors.New("the ids of the vertices do not ascend")
