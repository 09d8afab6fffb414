package kv

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// valueFormat is the first byte of every value.
const valueFormat = 1

// partSize is the size at which a packed value is split.
const partSize = 256 << 10

// A bucket is one of the named buckets of the file.
type bucket uint8

const (
	bMeta bucket = iota
	bConfigs
	bRuns
	bHosts
	bHostNames
	bRobots
	bURLs
	bForms
	bShapes
	bSeen
	bVisits
	bAnchors
	bDone
	bDepths
	bFrontier
	bCaps
	bVouchers
	bInlinks
	bOutbox // this and the following exist only in a file that holds a part of a terrain
	bInbound
	bPeers
	bucketCount

	bPart = bOutbox
)

func (b bucket) String() string {
	return [bucketCount]string{"meta", "configs", "runs", "hosts", "hostnames", "robots", "urls", "forms",
		"shapes", "seen", "visits", "anchors", "done", "depths", "frontier", "caps", "vouchers", "inlinks", "outbox",
		"inbound", "peers"}[b]
}

// appended reports whether keys are only ever added at the bucket's end.
func (b bucket) appended() bool {
	switch b {
	case bURLs, bShapes, bSeen, bVisits, bAnchors, bDone, bDepths:
		return true
	}
	return false
}

// A sealer computes the checksums of values.
type sealer struct {
	table *crc32.Table
	start [bucketCount]uint32
}

func newSealer() sealer {
	s := sealer{table: crc32.MakeTable(crc32.Castagnoli)}
	for b := range bucketCount {
		s.start[b] = crc32.Checksum([]byte(b.String()), s.table)
	}
	return s
}

func (s *sealer) sum(b bucket, key, body []byte) uint32 {
	return crc32.Update(crc32.Update(s.start[b], s.table, key), s.table, body)
}

// open returns the fields of a value, in the memory of the value.
func (s *sealer) open(b bucket, key, value []byte) ([]byte, error) {
	n := len(value) - 4
	if n < 1 {
		return nil, damaged(b, key, "too short")
	}
	if s.sum(b, key, value[:n]) != binary.LittleEndian.Uint32(value[n:]) {
		return nil, damaged(b, key, "wrong checksum")
	}
	if value[0] != valueFormat {
		return nil, damaged(b, key, "unknown value format")
	}
	return value[1:n], nil
}

func damaged(b bucket, key []byte, problem string) error {
	return fmt.Errorf("%w: %s %x: %s", ErrDamaged, b, key, problem)
}

func key32(v uint32) []byte { return binary.BigEndian.AppendUint32(nil, v) }
func key64(v uint64) []byte { return binary.BigEndian.AppendUint64(nil, v) }

// partKey returns the key of one part of a packed value.
func partKey(commit uint64, part int) []byte {
	return binary.BigEndian.AppendUint16(key64(commit), uint16(part))
}
