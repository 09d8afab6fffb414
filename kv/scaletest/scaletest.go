// Package scaletest makes state files as large as those of real crawls, for benchmarks and tests
// that read one.
//
// A file is what a crawl of a generated web would have left: hosts whose sizes follow Zipf's law,
// links that mostly stay on their host and lead to few pages, redirects, dead links, unvisited
// pages, titles, anchors, robots.txt. Its records are consistent, as those of a crawl are. The same
// size always gives the same records. With [Size].Runs a terrain is walked again, for tests that
// compare runs.
//
// Files are made once and kept in the folder that the environment variable RIPPLE_SCALE names,
// where all packages share them; without it [File] skips. To make them all beforehand, with a few
// GB of disk and a quarter of an hour for the largest:
//
//	RIPPLE_SCALE=/folder go test -run TestFiles -timeout 0 -v ./kv/scaletest
package scaletest

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema/disk"
	"github.com/sumi-ripple/ripple/schema/disk/disktest"
)

// folderVariable names the folder of the files.
const folderVariable = "RIPPLE_SCALE"

// A Size says how large a terrain is. Its numbers are reached within a few percent.
type Size struct {
	Pages   int // known
	Visited int // 0: about nine tenths of Pages; the others are beyond the depth of the crawl
	Links   int
	Hosts   int
	Runs    int // 0: one; a further one finds most pages as they were
}

// Small is quickly made; it is the size for tests.
func Small() Size { return Size{Pages: 20_000, Links: 90_000, Hosts: 100} }

// Medium is a terrain of some hundred hosts that were crawled to the end.
func Medium() Size { return Size{Pages: 743_000, Links: 3_200_000, Hosts: 560} }

// Large is a terrain of many hosts.
func Large() Size { return Size{Pages: 3_000_000, Links: 20_000_000, Hosts: 14_000} }

// Huge is the size of a crawl after months.
func Huge() Size { return Size{Pages: 10_000_000, Links: 100_000_000, Hosts: 100_000} }

// Known has ten million known pages like a crawl of documentation, most of them never visited,
// walked twice.
func Known() Size {
	return Size{Pages: 10_000_000, Visited: 2_900_000, Links: 52_000_000, Hosts: 50_000, Runs: 2}
}

// Name is the name of the size's file.
func (s Size) Name() string {
	name := fmt.Sprintf("%d-pages", s.Pages)
	if s.Visited > 0 {
		name += fmt.Sprintf("-%d-visited", s.Visited)
	}
	name += fmt.Sprintf("-%d-links-%d-hosts", s.Links, s.Hosts)
	if s.Runs > 1 {
		name += fmt.Sprintf("-%d-runs", s.Runs)
	}
	return name + ".bolt"
}

// visited is the part of the known pages that is visited.
func (s Size) visited() float64 {
	if s.Visited > 0 {
		return float64(s.Visited) / float64(s.Pages)
	}
	return visitedPages
}

// File returns the path of a file of a size, which it makes if it is not there. Others
// read the file too: who wants to change it changes a copy. Without RIPPLE_SCALE it
// skips the test or benchmark.
func File(t testing.TB, size Size) string {
	t.Helper()
	folder := os.Getenv(folderVariable)
	if folder == "" {
		t.Skip(folderVariable + " names no folder for large state files")
	}
	path := filepath.Join(folder, size.Name())
	if err := keep(path, size); err != nil {
		t.Fatal(err)
	}
	return path
}

// Made makes a file of a size for one test, and returns its path.
func Made(t testing.TB, size Size) string {
	t.Helper()
	path := filepath.Join(disktest.Folder(t), size.Name())
	if err := Make(path, size); err != nil {
		t.Fatal(err)
	}
	return path
}

// Open opens a file for reading, until the test ends.
func Open(t testing.TB, path string) *kv.Store {
	t.Helper()
	store, err := kv.Open(path, kv.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return store
}

// keep makes the file of a size unless it is there. Several that do so at once make it
// each, under names of their own.
func keep(path string, size Size) error {
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	folder, err := os.MkdirTemp(filepath.Dir(path), "making-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	made := filepath.Join(folder, size.Name())
	if err := Make(made, size); err != nil {
		return err
	}
	if err := os.Rename(made, path); err != nil {
		return err
	}
	return disk.SyncDir(filepath.Dir(path))
}
