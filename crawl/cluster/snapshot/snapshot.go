// Package snapshot copies the state file of a shard from the machine that has it to one that asks about the map.
//
// Most answers follow from the map of the whole terrain: a shortest path crosses shards, a link is site-wide if enough
// pages of its site have it, and the state of a page depends on others. Machines therefore do not answer questions.
// They hand out copies of their files, and the one that asks merges these and answers as it does from merged files.
// That takes the time and the disk of a merge, once for each command.
//
// A [Copier] has the file. It keeps one compressed copy at a time, which readers share as long as the shard has
// committed nothing since the copy was begun. It is removed with the last reader; one that asks for nothing for half a
// minute has gone. [Fetch] reads a copy, in chunks of at most [MaxChunk] bytes, one at a time: each is the answer to a
// question, so it may be lost and asked for again, and what else the connection carries never waits for more than one.
//
// Questions and answers are untrusted. A copier serves a limited number of readers, and fails if the disk has no room
// for the copy and a fifth more. A reader writes no more than the size that was stated at first, and only if the disk
// has room for that; what it has written is as untrusted as any state file.
package snapshot

import "errors"

// MaxChunk is the maximum number of bytes of a copy in one answer.
const MaxChunk = 256 << 10

const (
	window   = 1 << 20 // of the compression, in bytes; a reader refuses a larger one
	maxName  = 64      // bytes of the name of a reader
	maxState = 4 << 10 // bytes of a question or a state
)

// Errors of a copy.
var (
	// ErrBusy reports a shard of which others have read an earlier copy for too long.
	ErrBusy = errors.New("its machine is still busy with copies for others")

	// ErrFailed reports a copy that the machine of the shard could not make.
	ErrFailed = errors.New("its machine could not copy it")

	errQuestion = errors.New("invalid question about a copy")
	errUnread   = errors.New("no copy is being read under this name")
	errAnswer   = errors.New("invalid copy")
)

// A question asks for a part of a copy.
type question struct {
	Reader string `json:"reader"` // chosen by the one who asks, for one copy
	Offset int64  `json:"offset"` // of the next chunk; its size: all was read; -1: the state of the copy, which is begun
}

// A state is the answer to a question with the offset -1. All others are answered with the bytes there.
type state struct {
	Busy   bool   `json:"busy"`   // an earlier copy is still being read; ask again
	Packed int64  `json:"packed"` // size of the compressed copy; -1: it is not ready; ask again
	Size   int64  `json:"size"`   // of the file
	Live   bool   `json:"live"`   // the shard was being crawled
	Failed string `json:"failed"` // why there is no copy; empty: there is, or will be
}
