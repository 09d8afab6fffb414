// Package shard assigns hosts to shards, the parts of a terrain that is split over several state files.
//
// All hosts of a site belong to one shard. The rule, including its copy of the public suffix list, is
// versioned and frozen: upgrading a library never moves a host. It therefore shares nothing with
// package weburl, whose sites follow the newest list.
package shard

import (
	_ "embed" // for suffixes-v1.txt
	"fmt"
	"net/netip"
	"strings"
	"sync"

	"github.com/zeebo/xxh3"
)

// Version is the version of the rule. Programs with different versions never work on one terrain.
const Version = 1

// MaxShards is the largest number of shards of a terrain.
const MaxShards = 256

//go:embed suffixes-v1.txt
var suffixes string // read-only

// A Rule assigns hosts to a fixed number of shards. It is safe for concurrent use.
type Rule struct {
	shards uint64
	list   *list
}

// A list is a parsed public suffix list. All rules share one.
type list struct {
	kinds   map[string]kind // by suffix, without its mark
	deepest int             // labels of the longest suffix
}

var frozen = sync.OnceValue(func() *list {
	l := &list{kinds: make(map[string]kind, 1<<14)}
	for line := range strings.Lines(suffixes) {
		if line = strings.TrimSpace(line); !strings.HasPrefix(line, "//") {
			l.add(line)
		}
	}
	return l
})

// A kind is the set of rules that the list has for a suffix.
type kind uint8

const (
	normal    kind = 1 << iota
	wildcard       // every name directly below is a suffix
	exception      // not a suffix, although a wildcard matches
)

// New returns the rule for a number of shards, from 1 to [MaxShards].
func New(shards int) (*Rule, error) {
	if shards < 1 || shards > MaxShards {
		return nil, fmt.Errorf("%d shards: there may be 1 to %d", shards, MaxShards)
	}
	return &Rule{uint64(shards), frozen()}, nil
}

func (l *list) add(line string) {
	k := normal
	if name, ok := strings.CutPrefix(line, "*."); ok {
		line, k = name, wildcard
	} else if name, ok := strings.CutPrefix(line, "!"); ok {
		line, k = name, exception
	}
	l.kinds[line] |= k
	labels := strings.Count(line, ".") + 1
	if k == wildcard {
		labels++
	}
	l.deepest = max(l.deepest, labels)
}

// Of returns the shard of a host, from 0: the 64-bit XXH3 of its site, with seed 0, modulo the number
// of shards. host is spelled as in identities, with or without a port.
func (r *Rule) Of(host string) int {
	return int(xxh3.HashString(r.Site(host)) % r.shards)
}

// SameSite reports whether two hosts belong to one site, and so to one shard, whatever the number of shards.
func SameSite(a, b string) bool {
	r := Rule{list: frozen()}
	return r.Site(a) == r.Site(b)
}

// Site returns the registrable domain of a host by the frozen list. An IP address, a public suffix and
// an invalid name are their own sites. A port is dropped.
func (r *Rule) Site(host string) string {
	name := withoutPort(host)
	if isAddress(name) || strings.HasPrefix(name, ".") || strings.HasSuffix(name, ".") || strings.Contains(name, "..") {
		return name
	}
	suffix := r.list.suffix(name)
	if len(suffix) >= len(name) {
		return name
	}
	rest := name[:len(name)-len(suffix)-1]
	return name[strings.LastIndexByte(rest, '.')+1:]
}

// suffix returns the public suffix of a name: that of the longest matching rule, or the last label if
// none matches. An exception overrides the other rules.
func (l *list) suffix(name string) string {
	at := strings.LastIndexByte(name, '.') + 1
	suffix, above := name[at:], ""
	for range l.deepest {
		here := name[at:]
		switch k := l.kinds[here]; {
		case k&exception != 0:
			return above
		case k&normal != 0, above != "" && l.kinds[above]&wildcard != 0:
			suffix = here
		}
		if at == 0 {
			break
		}
		above, at = here, strings.LastIndexByte(name[:at-1], '.')+1
	}
	return suffix
}

func withoutPort(host string) string {
	if i := strings.LastIndexByte(host, ':'); i >= 0 && !strings.Contains(host[i:], "]") {
		return host[:i]
	}
	return host
}

func isAddress(name string) bool {
	if strings.HasPrefix(name, "[") {
		return true
	}
	if name == "" || name[len(name)-1] < '0' || name[len(name)-1] > '9' {
		return false
	}
	_, err := netip.ParseAddr(name)
	return err == nil
}
