package feed

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Cursors are the cursors of all shards of a terrain, in their order. In text, they are separated by commas.
type Cursors []uint64

// ParseCursors parses one cursor for each shard. The text 0 is the position before all visits.
func ParseCursors(text string, shards int) (Cursors, error) {
	all := make(Cursors, shards)
	if text == "0" {
		return all, nil
	}
	parts := strings.Split(text, ",")
	if len(parts) != shards {
		return nil, fmt.Errorf("it must be 0 or the cursor of a line, which has %d numbers for %[1]d shards", shards)
	}
	for i, part := range parts {
		var err error
		if all[i], err = strconv.ParseUint(part, 10, 64); err != nil || all[i] == Newest {
			return nil, fmt.Errorf("number %d of it is no cursor", i+1)
		}
	}
	return all, nil
}

// String implements [fmt.Stringer].
func (c Cursors) String() string {
	var text []byte
	for i, one := range c {
		if i > 0 {
			text = append(text, ',')
		}
		text = strconv.AppendUint(text, one, 10)
	}
	return string(text)
}

// Shards give the visits of a merged map the cursors that they have in the files of the shards. Memory holds a few
// numbers for every visit.
type Shards struct {
	visits [][]place // by shard: those of pages, in its order, of which no line has come
	shard  int       // of the last line
	run    int       // likewise
	passed Cursors   // of the lines that have come
}

// A place is where a visit is.
type place struct {
	run    int
	cursor uint64
}

// Add reads the next shard, in the order of their numbers. read reads its visits, as [ReadBrief] does.
func (s *Shards) Add(read func(since uint64) (*Batch, error)) error {
	var visits []place
	for since, more := uint64(0), true; more; {
		b, err := read(since)
		if err != nil {
			return err
		}
		for _, text := range b.Lines {
			var l struct {
				Cursor uint64 `json:"cursor"`
				Run    int    `json:"run"`
			}
			if err := json.Unmarshal(text, &l); err != nil {
				return err
			}
			visits = append(visits, place{l.Run, l.Cursor})
		}
		since, more = b.Next, b.More
	}
	s.visits, s.passed = append(s.visits, visits), append(s.passed, 0)
	return nil
}

// Line returns the next line of the merged map with the cursors of all shards after it, or nil if it is not after the
// given ones. The merged map has the visits by run, by shard, and in the order of the shard.
func (s *Shards) Line(text []byte, after Cursors) ([]byte, error) {
	var l struct {
		Run int `json:"run"`
	}
	if err := json.Unmarshal(text, &l); err != nil {
		return nil, err
	}
	if l.Run != s.run {
		s.run, s.shard = l.Run, 0
	}
	for s.shard < len(s.visits) && (len(s.visits[s.shard]) == 0 || s.visits[s.shard][0].run != l.Run) {
		s.shard++
	}
	if s.shard == len(s.visits) {
		return nil, errors.New("the merged map has a visit that no shard has")
	}
	cursor := s.visits[s.shard][0].cursor
	s.visits[s.shard], s.passed[s.shard] = s.visits[s.shard][1:], cursor
	if cursor <= after[s.shard] {
		return nil, nil
	}
	now := slices.Clone(after)
	for i, one := range s.passed {
		now[i] = max(now[i], one)
	}
	_, rest, _ := bytes.Cut(text, []byte{','})
	return fmt.Appendf(nil, "{\"cursor\":%q,%s", now, rest), nil
}
