package webgraph

import (
	"bytes"
	"math"
	"strings"

	"github.com/sumi-ripple/ripple/schema/weburl"
)

// maxID is the largest id of a vertex that is read: ids have 40 bits.
const maxID = 1<<40 - 1

// A vertex is a line of the vertices.
type vertex struct {
	id    uint64
	name  []byte // from the right: com.example
	hosts uint32 // of the domain; 0: the graph is one of hosts
}

// A ranking is a line of the ranks.
type ranking struct {
	harmonic, pageRank uint32 // positions, from 1
	name               []byte // from the right
}

// parseVertex parses a line without its end. The name is a part of the line.
func parseVertex(line []byte) (v vertex, ok bool) {
	id, line, tab := field(line)
	name, hosts, third := field(line)
	if v.id, ok = number(id, maxID); !ok || !tab || !isName(name) {
		return vertex{}, false
	}
	v.name = name
	if third {
		n, ok := number(hosts, math.MaxUint32)
		if !ok || n == 0 {
			return vertex{}, false
		}
		v.hosts = uint32(n)
	}
	return v, true
}

// parseEdge parses a line without its end.
func parseEdge(line []byte) (from, to uint64, ok bool) {
	for i, c := range line {
		if c == '\t' {
			to, ok = number(line[i+1:], maxID)
			return from, to, ok && i > 0
		}
		if from = from*10 + uint64(c-'0'); c < '0' || c > '9' || from > maxID {
			break
		}
	}
	return 0, 0, false
}

// parseRanking parses a line without its end. The name is a part of the line.
func parseRanking(line []byte) (r ranking, ok bool) {
	var fields [5][]byte
	more := true
	for i := range fields {
		if !more {
			return ranking{}, false
		}
		fields[i], line, more = field(line)
	}
	harmonic, ok1 := number(fields[0], math.MaxUint32)
	pageRank, ok2 := number(fields[2], math.MaxUint32)
	if !ok1 || !ok2 || harmonic == 0 || pageRank == 0 || !isName(fields[4]) {
		return ranking{}, false
	}
	return ranking{uint32(harmonic), uint32(pageRank), fields[4]}, true
}

// field cuts a line behind its first field.
func field(line []byte) (first, rest []byte, more bool) { return bytes.Cut(line, []byte{'\t'}) }

// number parses a decimal number of at most limit.
func number(text []byte, limit uint64) (n uint64, ok bool) {
	for _, c := range text {
		if n = n*10 + uint64(c-'0'); c < '0' || c > '9' || n > limit {
			return 0, false
		}
	}
	return n, len(text) > 0
}

// isName reports a text that may be the name of a host: not empty, not too long, and without spaces.
func isName(name []byte) bool {
	if len(name) == 0 || len(name) > 253 {
		return false
	}
	for _, c := range name {
		if c <= ' ' || c == 0x7f {
			return false
		}
	}
	return true
}

// withoutWWW drops a www from the end of a name that is written from the right, unless little is left: com.www is
// a domain.
func withoutWWW(name []byte) []byte {
	short, cut := bytes.CutSuffix(name, []byte(".www"))
	if !cut || bytes.IndexByte(short, '.') < 0 {
		return name
	}
	return short
}

// hostOf returns the canonical host of a name that is written from the right.
func hostOf(name []byte) (string, error) {
	labels := strings.Split(string(name), ".")
	for i, j := 0, len(labels)-1; i < j; i, j = i+1, j-1 {
		labels[i], labels[j] = labels[j], labels[i]
	}
	return weburl.NormalizeHost(strings.Join(labels, "."))
}
