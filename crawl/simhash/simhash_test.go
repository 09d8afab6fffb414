package simhash

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sumi-ripple/ripple/schema"
)

func of(text string) schema.SimHash {
	var h Hasher
	h.Write([]byte(text))
	return h.Sum()
}

// prose returns n words, many of which are short and frequent.
func prose(seed uint64, n int) []string {
	rng := rand.New(rand.NewPCG(seed, 7))
	words := make([]string, n)
	for i := range words {
		words[i] = fmt.Sprintf("w%d", int(40*rng.ExpFloat64()*rng.ExpFloat64()))
	}
	return words
}

// Case, punctuation, white space and the bounds of pieces make no difference.
func TestSameText(t *testing.T) {
	text := strings.Join(prose(1, 60), " ") + " Größe ÉCOLE привет"
	want := of(text)
	if want == 0 {
		t.Fatal("no fingerprint")
	}
	for name, same := range map[string]string{
		"case":        strings.ToUpper(text),
		"punctuation": strings.ReplaceAll(text, " ", ", – "),
		"lines":       "\n" + strings.ReplaceAll(text, " ", "\r\n\t") + ".",
		"entities":    strings.ReplaceAll(text, " ", "\u00a0"),
	} {
		if got := of(same); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	for at := range len(text) {
		if text[at]&0xc0 == 0x80 {
			continue
		}
		var h Hasher
		h.Write([]byte(text[:at]))
		h.Write([]byte(text[at:]))
		if got := h.Sum(); got != want || h.Sum() != want {
			t.Fatalf("in two pieces, the first %d bytes long: %v, want %v", at, got, want)
		}
	}
}

func TestLeastText(t *testing.T) {
	han := strings.Repeat("山水花鳥風月", 50) // 300 letters
	for name, tt := range map[string]struct {
		text string
		want bool
	}{
		"nothing":              {"", false},
		"49 words":             {strings.Join(prose(1, 49), " "), false},
		"50 words":             {strings.Join(prose(1, 50), " "), true},
		"249 letters":          {string([]rune(han)[:249]), false},
		"250 letters":          {string([]rune(han)[:250]), true},
		"Thai":                 {strings.Repeat("สวัสดีครับ", 25), true},
		"Japanese":             {strings.Repeat("コーヒーを飲む。", 36), true},
		"both below the limit": {string([]rune(han)[:249]) + strings.Join(prose(1, 49), " "), false},
		"marks and spaces":     {strings.Repeat("— … \u2003", 400), false},
		"not UTF-8":            {strings.Repeat("\xff \xfe", 400), false},
	} {
		if got := of(tt.text); (got != 0) != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestWords(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "one": 1, "one, two – 3": 3, "x1y it's": 3, "山水花鳥風": 1, "山水花鳥 and 風月雪": 2, "— … ": 0,
	} {
		var h Hasher
		h.Write([]byte(text))
		if got := h.Words(); got != want || h.Words() != want {
			t.Errorf("%q: %d words, want %d", text, got, want)
		}
	}
}

// Texts that differ in one word of 5,000 are near-duplicates, and texts about other things are far apart.
func TestDistance(t *testing.T) {
	for seed := range uint64(200) {
		words := prose(seed, 5_000)
		a, other := of(strings.Join(words, " ")), of(strings.Join(prose(seed+1_000, 5_000), " "))
		words[int(seed)*25] = "another"
		if b := of(strings.Join(words, " ")); !a.Near(b) {
			t.Errorf("one word in 5,000 changes %d bits", a.Distance(b))
		}
		if a.Distance(other) < 10 {
			t.Errorf("two texts differ in %d bits", a.Distance(other))
		}
	}
}

// Every bit is set in about half of the fingerprints, and does not depend on another.
func TestBitsAreEven(t *testing.T) {
	const n = 2_000
	var set [64]int
	var same [64]int
	for seed := range uint64(n) {
		h := uint64(of(strings.Join(prose(seed, 80), " ")))
		for i := range 64 {
			set[i] += int(h >> i & 1)
			same[i] += int((h ^ bits.RotateLeft64(h, 1)) >> i & 1)
		}
	}
	for i := range 64 {
		if set[i] < n*2/5 || set[i] > n*3/5 || same[i] < n*2/5 || same[i] > n*3/5 {
			t.Errorf("bit %d: set in %d of %d, unlike the next in %d", i, set[i], n, same[i])
		}
	}
}

// FuzzTally: the counts side by side decide like counts one by one.
func FuzzTally(f *testing.F) {
	for _, n := range []int{0, 1, 2, 3, 4, 5, 63, 64, 65, 1000} {
		f.Add(uint64(n), n)
	}
	f.Fuzz(func(t *testing.T, seed uint64, n int) {
		if n < 0 || n > 5_000 {
			return
		}
		rng := rand.New(rand.NewPCG(seed, 1))
		var votes tally
		var counts [64]int
		for range n {
			v := rng.Uint64() | 1<<63
			votes.add(v)
			for i := range counts {
				counts[i] += int(v >> i & 1)
			}
		}
		want := uint64(0)
		for i, c := range slices.All(counts[:]) {
			if 2*c > n {
				want |= 1 << i
			}
		}
		if got := votes.majority(); got != want {
			t.Errorf("%d values: %064b, want %064b", n, got, want)
		}
	})
}

// FuzzPieces compares a text read at once with the same text read character by character.
func FuzzPieces(f *testing.F) {
	f.Add("0AAA 0000 000 Eightlet and LONGERTHANEIGHT words w0rds 12345678 12345678a [`{@/:^_\x7f\x00")
	f.Add(strings.Join(prose(1, 60), "-") + "Émigré überall naïve中文字符串测试 x\xffy aé1 12345678é é12345678")
	f.Fuzz(func(t *testing.T, text string) {
		var whole, single Hasher
		whole.Write([]byte(text))
		for len(text) > 0 {
			_, size := utf8.DecodeRuneInString(text)
			single.Write([]byte(text[:size]))
			text = text[size:]
		}
		if whole.Sum() != single.Sum() || whole.Words() != single.Words() ||
			!slices.Equal(whole.Vocabulary(), single.Vocabulary()) {
			t.Errorf("%v, character by character %v", whole, single)
		}
	})
}

func BenchmarkHasher(b *testing.B) {
	text := []byte(strings.Join(prose(1, 1_700), " "))
	var h Hasher
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		h.Reset()
		h.Write(text)
		h.Sum()
	}
}

// Pages of which one word differs, such as a date, are found as near-duplicates: the longer, the more surely.
func TestRecall(t *testing.T) {
	for _, tt := range []struct {
		words int
		least float64
	}{{300, 0.5}, {1_000, 0.85}, {3_000, 0.98}, {10_000, 0.99}} {
		const n = 400
		found := 0
		for seed := range uint64(n) {
			words := prose(seed, tt.words)
			a := of(strings.Join(words, " "))
			words[int(seed)%tt.words] = "another"
			if a.Near(of(strings.Join(words, " "))) {
				found++
			}
		}
		recall := float64(found) / n
		if recall < tt.least {
			t.Errorf("%d words: recall %.3f, want %.2f", tt.words, recall, tt.least)
		}
		t.Logf("%d words: recall %.3f", tt.words, recall)
	}
}
