package maze

import (
	"slices"
	"testing"
	"unsafe"

	"github.com/sumi-ripple/ripple/schema"
)

func TestPrefixes(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want []string
	}{
		{"/", nil},
		{"/a", nil},
		{"/a?x", []string{"/a"}},
		{"/a/", []string{"/a"}},
		{"/a/b?x", []string{"/a", "/a/b"}},
		{"/a/b/c", []string{"/a", "/a/b"}},
		{"/?x=1", []string{"/?"}},
		{"/1/2/3/4/5/6/7/8", []string{"/1", "/1/2", "/1/2/3", "/1/2/3/4", "/1/2/3/4/5"}},
	} {
		if got := Prefixes(tt.in); !slices.Equal(got, tt.want) {
			t.Errorf("Prefixes(%q) = %q, want %q", tt.in, got, tt.want)
		}
		for _, p := range tt.want {
			if !schema.Within(tt.in, p) {
				t.Errorf("%q is not below %q", tt.in, p)
			}
		}
	}
}

// Each row lacks one of the things that a suspicion needs.
func TestSuspicion(t *testing.T) {
	maze := func(int) Page {
		return Page{SimHash: 1, Words: []uint32{1, 2, 3}, Below: 20, New: 4, Out: []schema.ID{1}}
	}
	for _, tt := range []struct {
		name  string
		pages int
		page  func(int) Page
		want  Suspicion
	}{
		{"a maze of copies", 50, maze, Clones},
		{"two copies in five pages", 50, func(i int) Page {
			p := maze(i)
			if i%5 < 3 {
				p.SimHash, p.Words = schema.SimHash(uint64(i+1)*0x9e3779b97f4a7c15), []uint32{uint32(i) * 0x9e3779b9}
			}
			return p
		}, Copies},
		{"too few pages", 49, maze, None},
		{"links that lead out", 50, func(i int) Page {
			p := maze(i)
			p.Out = []schema.ID{schema.ID(1 + 2*i), schema.ID(2 + 2*i)}
			return p
		}, None},
		{"ever fewer new URLs", 50, func(i int) Page { p := maze(i); p.New = max(0, 30-i) / 8; return p }, None},
		{"no new URLs", 50, func(i int) Page { p := maze(i); p.New = 0; return p }, None},
		{"other texts", 50, func(i int) Page {
			p := maze(i)
			p.SimHash, p.Words = schema.SimHash(uint64(i+1)*0x9e3779b97f4a7c15), []uint32{uint32(i) * 0x9e3779b9}
			return p
		}, None},
		{"other texts of the same words", 50, func(i int) Page {
			p := maze(i)
			p.SimHash = schema.SimHash(uint64(i+1) * 0x9e3779b97f4a7c15)
			return p
		}, Babble},
		{"of the same words, and most pages lead nowhere", 50, func(i int) Page {
			p := maze(i)
			p.SimHash = 0
			if p.New = 0; i%10 == 0 {
				p.New = 20
			}
			return p
		}, None},
		{"a first page with many links", 50, func(i int) Page {
			p := maze(i)
			if p.New = 1; i == 0 {
				p.New = 900
			}
			return p
		}, Clones},
	} {
		var trail Trail
		for i := range tt.pages {
			p := tt.page(i)
			trail.Add(&p)
		}
		if got := trail.Suspicion(); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}

func TestTrailSize(t *testing.T) {
	const words = wordBits / 8
	if n := unsafe.Sizeof(Trail{}) + ways*unsafe.Sizeof(way{}) + words; n > 4<<10 {
		t.Errorf("a trail takes %d bytes", n)
	}
}
