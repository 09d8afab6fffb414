package config

import (
	"bytes"
	"crypto/sha256"
	"path/filepath"
	"slices"
)

// Effective returns the canonical text of the whole configuration, including the contents of lists; see
// the package comment.
func (c *Config) Effective() []byte {
	var b bytes.Buffer
	for _, t := range c.tables() {
		writeTable(&b, t)
	}
	writeEntries(&b, "quality", c.Quality, qualityKeys)
	writeEntries(&b, "blacklist", c.Blacklist, listKeys)
	writeEntries(&b, "stub", c.Stub, listKeys)
	writeEntries(&b, "page-type", c.PageTypes, pageTypeKeys)
	writeEntries(&b, "entity", c.Entities, entityKeys)
	writeEntries(&b, "extract", c.Extracts, extractKeys)
	writeEntries(&b, "decision", c.decided, decidedKeys)
	return b.Bytes()
}

func writeEntries[T any](b *bytes.Buffer, name string, all []T, keys func(*T) []key) {
	for i := range all {
		writeTable(b, table{name: name, array: true, keys: keys(&all[i])})
	}
}

func writeTable(b *bytes.Buffer, t table) {
	if b.Len() > 0 {
		b.WriteByte('\n')
	}
	b.WriteString(t.header())
	b.WriteByte('\n')
	for _, k := range t.keys {
		if text := k.text(); text != "" {
			b.WriteString(k.name + " = " + text + "\n")
		}
	}
}

// Shared returns the canonical text of the settings that all nodes of a terrain must share. It is the
// effective text without settings of one machine: files, outputs and limits.
func (c *Config) Shared() []byte {
	s, usual := *c, newConfig()
	s.State, s.Output, s.Monitor, s.Cluster = usual.State, usual.Output, usual.Monitor, usual.Cluster
	s.Cluster.Lease = c.Cluster.Lease
	s.Crawler.MaxConcurrentPagesOpen, s.Crawler.MaxRunTime = usual.Crawler.MaxConcurrentPagesOpen, usual.Crawler.MaxRunTime
	s.Network.MaxOpen, s.Network.MemoryLimit, s.Network.Proxy = usual.Network.MaxOpen, usual.Network.MemoryLimit, ""
	s.Render.MaxBrowsers, s.Render.Sandbox = usual.Render.MaxBrowsers, usual.Render.Sandbox
	s.Blacklist, s.Stub = slices.Clone(s.Blacklist), slices.Clone(s.Stub) // they contain paths
	for _, path := range s.paths() {
		*path = ""
	}
	return s.Effective()
}

// SharedHash returns the SHA-256 of the shared text.
func (c *Config) SharedHash() [32]byte { return sha256.Sum256(c.Shared()) }

// ReadingHash returns the SHA-256 of the settings that decide which pages of an archive belong to the map, and how
// they are read. It is that of the shared text without settings of requests, rendering and the page store.
func (c *Config) ReadingHash() [32]byte {
	s, usual := *c, newConfig()
	s.Retry, s.Politeness, s.Network, s.Pages = usual.Retry, usual.Politeness, usual.Network, usual.Pages
	s.Recrawl, s.Render, s.Cluster = usual.Recrawl, usual.Render, usual.Cluster
	return s.SharedHash()
}

// Hash returns the SHA-256 of the effective text. Configurations with the same meaning have the same
// hash.
func (c *Config) Hash() [32]byte { return sha256.Sum256(c.Effective()) }

// SameElsewhere reports whether an older configuration is the same except that its folder was moved.
func (c *Config) SameElsewhere(older *Config) bool {
	moved, err := ParseEffective(older.Effective())
	if err != nil {
		return false
	}
	from, to := folders(older.State.Path, c.State.Path)
	for _, p := range moved.paths() {
		if inside, err := filepath.Rel(from, *p); *p != "" && err == nil && filepath.IsLocal(inside) {
			*p = filepath.Join(to, inside)
		}
	}
	return moved.Hash() == c.Hash()
}

// folders strips the common trailing elements of two paths and returns what remains.
func folders(a, b string) (string, string) {
	for filepath.Base(a) == filepath.Base(b) && a != b {
		a, b = filepath.Dir(a), filepath.Dir(b)
	}
	return a, b
}

// URLIdentity returns the canonical text of [url]. If it differs from that of a state file, the pages
// there have other identities, and only a fresh start helps.
func (c *Config) URLIdentity() string {
	u := URL{StripParams: slices.Clone(c.URL.StripParams), MaxLength: c.URL.MaxLength}
	slices.Sort(u.StripParams)
	u.StripParams = slices.Compact(u.StripParams)
	var b bytes.Buffer
	writeTable(&b, table{name: "url", keys: u.keys()})
	return b.String()
}
