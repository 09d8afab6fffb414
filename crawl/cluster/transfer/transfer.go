// Package transfer makes a file on one machine equal to a file on another, block by block.
//
// [Send] compares the sums of both files and sends the blocks that differ, one at a time: a question is sent once the
// one before it is answered. So a large file can be copied while it is still being written to, and copied again when it
// no longer is. The second call sends only what has changed. A call that has sent nothing has compared every block of
// the copy, as it is on the disk, by the first half of its SHA-256.
//
// Questions may be lost, repeated or delayed until the next one: each has the same effect if it is answered twice. A
// receiver trusts its sender with the content of the file, and with nothing else.
package transfer

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/sumi-ripple/ripple/crawl/cluster/strictjson"
	"github.com/sumi-ripple/ripple/schema"
)

const (
	blockSize = 128 << 10 // bytes; in JSON a block has less than 256 kB
	rangeSize = 128       // blocks whose sums are compared, and then written, between two syncs
	sumSize   = sha256.Size / 2

	maxQuestion = 256 << 10
)

var errQuestion = errors.New("question of a transfer")

// An Ask sends a question to the receiver, and returns the answer.
type Ask func(ctx context.Context, question []byte) (answer []byte, err error)

// A question is about the block at At and those that follow it. With data, that block is written; without, the sums of
// up to rangeSize blocks are wanted, when all that was written is on the disk.
type question struct {
	Size int64  `json:"size"` // of the whole file
	At   int64  `json:"at"`
	Data []byte `json:"data"`
}

// An answer has the sums of blocks, if they were wanted.
type answer struct {
	Sums []byte `json:"sums"`
	Why  string `json:"why"` // the file cannot be written or read; empty: it can
}

// Send makes the receiver's file equal to the first size bytes of a file, and returns how many bytes it has sent. On is
// called with the number of bytes that are equal, as far as is known; it may be nil.
func Send(ctx context.Context, from io.ReaderAt, size int64, ask Ask, on func(done int64)) (sent int64, err error) {
	block := make([]byte, blockSize)
	for at := int64(0); at < size; at += rangeSize * blockSize {
		q := question{Size: size, At: at}
		sums, err := ask.send(ctx, q)
		if want := q.blocks() * sumSize; err == nil && int64(len(sums)) != want {
			err = fmt.Errorf("sums of %d bytes, want %d", len(sums), want)
		}
		if err != nil {
			return sent, err
		}
		for i := range int64(len(sums) / sumSize) {
			at := at + i*blockSize
			n := min(blockSize, size-at)
			if _, err := from.ReadAt(block[:n], at); err != nil {
				return sent, err
			}
			if bytes.Equal(sumOf(block[:n]), sums[i*sumSize:(i+1)*sumSize]) {
				continue
			}
			if _, err := ask.send(ctx, question{size, at, block[:n]}); err != nil {
				return sent, err
			}
			sent += n
		}
		if on != nil {
			on(min(size, at+rangeSize*blockSize))
		}
	}
	return sent, nil
}

// send sends a question, and returns the sums in the answer.
func (ask Ask) send(ctx context.Context, q question) ([]byte, error) {
	text, err := ask(ctx, strictjson.Encode(q))
	if err != nil {
		return nil, err
	}
	if len(text) > maxQuestion {
		return nil, fmt.Errorf("an answer of %d bytes", len(text))
	}
	var a answer
	if err := strictjson.Decode(text, &a); err != nil {
		return nil, err
	}
	if a.Why != "" {
		return nil, fmt.Errorf("the copy: %s", schema.Clean(a.Why, 300))
	}
	return a.Sums, nil
}

// blocks returns the number of blocks that a question without data is about.
func (q question) blocks() int64 {
	return (min(q.Size-q.At, rangeSize*blockSize) + blockSize - 1) / blockSize
}

func sumOf(block []byte) []byte {
	sum := sha256.Sum256(block)
	return sum[:sumSize]
}

// A Receiver writes the copy of a file. It is safe for concurrent use.
type Receiver struct {
	most int64 // bytes

	mu   sync.Mutex
	file *os.File
}

// NewReceiver returns a receiver for a file that is open for reading and writing. The copy may have up to most bytes.
func NewReceiver(file *os.File, most int64) *Receiver { return &Receiver{file: file, most: most} }

// Answer answers an untrusted question.
func (r *Receiver) Answer(text []byte) ([]byte, error) {
	var q question
	if len(text) > maxQuestion {
		return nil, fmt.Errorf("%w of %d bytes", errQuestion, len(text))
	}
	if err := strictjson.Decode(text, &q); err != nil {
		return nil, fmt.Errorf("%w: %w", errQuestion, err)
	}
	rest := q.Size - q.At
	switch {
	case q.Size > r.most:
		return strictjson.Encode(answer{Why: fmt.Sprintf("%d bytes are too many", q.Size)}), nil
	case q.Size < 0, q.At < 0, rest <= 0, q.At%blockSize != 0:
		return nil, fmt.Errorf("%w: at %d of %d bytes", errQuestion, q.At, q.Size)
	case len(q.Data) > 0 && int64(len(q.Data)) != min(rest, blockSize):
		return nil, fmt.Errorf("%w: a block of %d bytes at %d of %d", errQuestion, len(q.Data), q.At, q.Size)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	var a answer
	var err error
	if len(q.Data) > 0 {
		_, err = r.file.WriteAt(q.Data, q.At)
	} else {
		a.Sums, err = r.sums(q)
	}
	if err != nil {
		a = answer{Why: err.Error()}
	}
	return strictjson.Encode(a), nil
}

// sums returns the sums of blocks of the file, which gets the size of the original.
func (r *Receiver) sums(q question) (sums []byte, err error) {
	info, err := r.file.Stat()
	if err == nil && info.Size() != q.Size {
		err = r.file.Truncate(q.Size)
	}
	if err == nil {
		err = r.file.Sync()
	}
	if err != nil {
		return nil, err
	}
	block := make([]byte, blockSize)
	for i := range q.blocks() {
		at := q.At + i*blockSize
		n := min(blockSize, q.Size-at)
		if _, err := r.file.ReadAt(block[:n], at); err != nil {
			return nil, err
		}
		sums = append(sums, sumOf(block[:n])...)
	}
	return sums, nil
}

// Close syncs and closes the file. Answer fails from then on.
func (r *Receiver) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return errors.Join(r.file.Sync(), r.file.Close())
}
