package inflate

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// texts are data of many kinds.
func texts() map[string][]byte {
	var text strings.Builder
	words := strings.Fields("a page about boats harbours tides and the people who mend nets there since 1890 <p> <a href='/x'>")
	for dice := rand.New(rand.NewPCG(3, 4)); text.Len() < 300_000; {
		fmt.Fprint(&text, words[dice.IntN(len(words))], dice.IntN(30), " ")
	}
	noise := make([]byte, 200_000)
	rand.NewChaCha8([32]byte{}).Read(noise)
	far := slices.Concat(noise[:window], noise[:window], noise[:100]) // matches at the greatest distance
	skewed := make([]byte, 100_000)                                   // codes of 15 bits
	for i, r := 0, rand.New(rand.NewPCG(1, 2)); i < len(skewed); i++ {
		skewed[i] = byte(min(r.ExpFloat64()*12, 255))
	}
	return map[string][]byte{"empty": nil, "one": []byte("a"), "text": []byte(text.String()), "noise": noise, "far": far,
		"zeros": make([]byte, 500_000), "skewed": skewed, "mixed": slices.Concat([]byte(text.String()[:70_000]), noise, skewed)}
}

func deflated(t testing.TB, text []byte, level int) []byte {
	t.Helper()
	var b bytes.Buffer
	z, err := flate.NewWriter(&b, level)
	if err == nil {
		_, err = z.Write(text)
	}
	if err := errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// The input is left directly behind the stream, however it comes.
func TestReader(t *testing.T) {
	f := new(Reader)
	for name, want := range texts() {
		for level := flate.HuffmanOnly; level <= flate.BestCompression; level++ {
			stream := append(deflated(t, want, level), "behind it"...)
			for kind, from := range map[string]io.Reader{"whole": bytes.NewReader(stream),
				"halves": iotest.HalfReader(bytes.NewReader(stream)), "bytes": iotest.OneByteReader(bytes.NewReader(stream))} {
				in := bufio.NewReaderSize(from, 16<<(level+2))
				f.Reset(in)
				got, err := io.ReadAll(f)
				rest, _ := io.ReadAll(in)
				if err != nil || !bytes.Equal(got, want) || string(rest) != "behind it" {
					t.Fatalf("%s at level %d in %s: %d of %d bytes, %d left, %v", name, level, kind, len(got), len(want), len(rest), err)
				}
			}
		}
	}
}

// FuzzReader compares the reader with that of the standard library.
func FuzzReader(f *testing.F) {
	for _, text := range texts() {
		for _, level := range []int{flate.HuffmanOnly, 0, 1, 9} {
			f.Add(deflated(f, text[:min(len(text), 5000)], level))
		}
	}
	for _, stream := range []string{"\x03\x00", "\x07", "\x05\xc0\x81\x00\x00\x00\x00\x00\x90\xff",
		"\x63\x04\x82\x00", "\xed\xff\xff"} {
		f.Add([]byte(stream))
	}
	ours := new(Reader)
	f.Fuzz(func(t *testing.T, stream []byte) {
		const most = 1 << 20
		from := bytes.NewReader(stream)
		want, failed := io.ReadAll(io.LimitReader(flate.NewReader(from), most))
		in := bufio.NewReaderSize(bytes.NewReader(stream), 16)
		ours.Reset(in)
		got, err := io.ReadAll(io.LimitReader(ours, most))
		switch {
		case (err == nil) != (failed == nil):
			t.Fatalf("%v, want %v", err, failed)
		case err != nil && err != io.ErrUnexpectedEOF && err != ErrCorrupt:
			t.Fatal(err)
		case err == nil && !bytes.Equal(got, want):
			t.Fatalf("%d bytes, want %d", len(got), len(want))
		case !bytes.HasPrefix(want, got) && !bytes.HasPrefix(got, want):
			t.Fatalf("%d bytes differ from the %d wanted", len(got), len(want))
		}
		if rest, _ := io.ReadAll(in); err == nil && len(got) < most && len(rest) != from.Len() {
			t.Fatalf("%d bytes are left, want %d", len(rest), from.Len())
		}
	})
}

func zipped(t testing.TB, text []byte, h gzip.Header) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Header = h
	_, err := z.Write(text)
	if err := errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestGzip(t *testing.T) {
	one := zipped(t, []byte("one"), gzip.Header{Name: "name", Comment: "comment", Extra: []byte("extra")})
	summed := slices.Concat(one[:3], []byte{one[3] | hasSum}, one[4:10+7+5+8], []byte{1, 2}, one[10+7+5+8:])
	two := zipped(t, []byte("two"), gzip.Header{})
	wrong := slices.Concat(two[:len(two)-8], []byte{1}, two[len(two)-7:])
	for _, tt := range []struct {
		name string
		in   []byte
		all  bool
		want string
		err  error
	}{
		{"one", slices.Concat(one, two), false, "one", nil},
		{"all", slices.Concat(one, summed, two), true, "oneonetwo", nil},
		{"nothing", nil, false, "", io.EOF},
		{"no header", []byte("\x1f\x8b\x07       "), false, "", ErrHeader},
		{"something behind", append(slices.Clone(one), "0123456789"...), true, "one", ErrHeader},
		{"checksum", wrong, false, "two", ErrChecksum},
		{"size", append(slices.Clone(two[:len(two)-1]), 1), false, "two", ErrChecksum},
		{"cut header", one[:15], false, "", io.ErrUnexpectedEOF},
		{"cut", one[:len(one)-9], false, "one", io.ErrUnexpectedEOF},
		{"cut end", one[:len(one)-1], false, "one", io.ErrUnexpectedEOF},
	} {
		z := &Gzip{All: tt.all}
		err := z.Reset(bufio.NewReader(bytes.NewReader(tt.in)))
		var got []byte
		if err == nil {
			got, err = io.ReadAll(z)
		}
		if string(got) != tt.want || err != tt.err {
			t.Errorf("%s: %q, %v; want %q, %v", tt.name, got, err, tt.want, tt.err)
		}
	}
}

// FuzzGzip compares the reader with that of the standard library.
func FuzzGzip(f *testing.F) {
	one := zipped(f, []byte("one"), gzip.Header{Name: "name", Comment: "comment", Extra: []byte("extra")})
	f.Add(one, false)
	f.Add(slices.Concat(one, one), true)
	f.Fuzz(func(t *testing.T, file []byte, all bool) {
		ours := &Gzip{All: all}
		err := ours.Reset(bufio.NewReader(bytes.NewReader(file)))
		var got []byte
		if err == nil {
			got, err = io.ReadAll(io.LimitReader(ours, 1<<20))
		}
		theirs, failed := gzip.NewReader(bytes.NewReader(file))
		var want []byte
		if failed == nil {
			theirs.Multistream(all)
			want, failed = io.ReadAll(io.LimitReader(theirs, 1<<20))
		}
		if failed == gzip.ErrHeader && err == nil && len(file) > 3 && file[3]&hasSum != 0 {
			return // the checksum of a header is not verified
		}
		if (err == nil) != (failed == nil) || err == nil && !bytes.Equal(got, want) {
			t.Fatalf("%d bytes, %v; want %d, %v", len(got), err, len(want), failed)
		}
	})
}

func BenchmarkReader(b *testing.B) {
	text := texts()["text"]
	stream := deflated(b, text, 6)
	in, ours := bufio.NewReaderSize(nil, 64<<10), new(Reader)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		in.Reset(bytes.NewReader(stream))
		ours.Reset(in)
		if n, err := io.Copy(io.Discard, ours); n != int64(len(text)) || err != nil {
			b.Fatal(fmt.Errorf("%d bytes, %w", n, err))
		}
	}
}
