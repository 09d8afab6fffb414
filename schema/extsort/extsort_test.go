package extsort

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What is sorted on disk is in the same order as what is sorted in memory, and nothing is lost or left.
func TestSort(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, most := range []int{1, 100, 5_000, heldBytes} {
		dir := t.TempDir()
		s := New(dir)
		s.most = most
		var want, got []string
		for range 2_000 {
			text := make([]byte, r.IntN(12))
			for i := range text {
				text[i] = byte(r.IntN(4))
			}
			want = append(want, string(text))
			if err := s.Add(text); err != nil {
				t.Fatal(err)
			}
		}
		slices.Sort(want)
		err := s.Each(func(text []byte) error {
			got = append(got, string(text))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("with %d bytes in memory (-want +got)\n%s", most, diff)
		}
		s.Close()
		s.Close()
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("left: %v, %v", left, err)
		}
	}
}

func TestSortNothing(t *testing.T) {
	s := New(t.TempDir())
	defer s.Close()
	if err := s.Each(func([]byte) error { return errors.New("called") }); err != nil {
		t.Error(err)
	}
}

// An error of the caller ends the walk, and one of the disk is not lost.
func TestSortErrors(t *testing.T) {
	dir := t.TempDir()
	s := New(dir)
	defer s.Close()
	s.most = 10
	for range 10 {
		if err := s.Add(bytes.Repeat([]byte("x"), 20)); err != nil {
			t.Fatal(err)
		}
	}
	enough, calls := errors.New("enough"), 0
	err := s.Each(func([]byte) error { calls++; return enough })
	if !errors.Is(err, enough) || calls != 1 {
		t.Errorf("%v after %d calls", err, calls)
	}
	for _, left := range []int64{25, 21, 0} {
		if err := s.file.Truncate(left); err != nil {
			t.Fatal(err)
		}
		if err := s.Each(func([]byte) error { return nil }); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("with %d bytes of the file: %v", left, err)
		}
	}
	lost := New(dir + "/none")
	lost.most = 1
	if err := lost.Add([]byte("x")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without a folder: %v", err)
	}
}
