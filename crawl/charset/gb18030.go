package charset

import (
	"strings"
	"unicode/utf8"
)

// quadrupleE7C7 is read by the library as U+1E3F, which has been a pair since 2005.
const quadrupleE7C7 = "\x81\x35\xf4\x37"

// A span is a range of consecutive pairs and their characters.
type span struct {
	code  rune
	first rune
	n     rune
}

// spans2022 returns the pairs of GB 18030-2022 that the library does not read, except for the three
// private-use areas.
func spans2022() []span {
	return []span{
		{0xa2ab, 0xe766, 6}, {0xa2e4, 0xe76d, 1}, {0xa2ef, 0xe76e, 2}, {0xa2fd, 0xe770, 2},
		{0xa4f4, 0xe772, 11}, {0xa5f7, 0xe77d, 8}, {0xa6b9, 0xe785, 8}, {0xa6d9, 0xfe10, 1},
		{0xa6da, 0xfe12, 1}, {0xa6db, 0xfe11, 1}, {0xa6dc, 0xfe13, 4}, {0xa6ec, 0xfe17, 2},
		{0xa6f3, 0xfe19, 1}, {0xa6f6, 0xe797, 9}, {0xa7c2, 0xe7a0, 15}, {0xa7f2, 0xe7af, 13},
		{0xa896, 0xe7bc, 11}, {0xa8bc, 0x1e3f, 1}, {0xa8c1, 0xe7c9, 4}, {0xa8ea, 0xe7cd, 21},
		{0xa958, 0xe7e2, 1}, {0xa95b, 0xe7e3, 1}, {0xa95d, 0xe7e4, 3}, {0xa997, 0xe7f4, 13},
		{0xa9f0, 0xe801, 15}, {0xd7fa, 0xe810, 5}, {0xfe51, 0xe816, 3}, {0xfe59, 0x9fb4, 1},
		{0xfe61, 0x9fb5, 1}, {0xfe66, 0x9fb6, 2}, {0xfe6c, 0xe831, 1}, {0xfe6d, 0x9fb8, 1},
		{0xfe76, 0xe83b, 1}, {0xfe7e, 0x9fb9, 1}, {0xfe90, 0x9fba, 1}, {0xfe91, 0xe855, 1},
		{0xfea0, 0x9fbb, 1},
	}
}

// The private-use areas: their first characters, and the number of pairs per row.
const (
	private1, row1 = 0xe000, 94 // AAA1 to AFFE
	private2, row2 = 0xe234, 94 // F8A1 to FEFE
	private3, row3 = 0xe4c6, 96 // A140 to A7A0, without 7F
	privateEnd     = 0xe766
)

// pair2022 returns the character for a pair that the library does not read; 0: none.
func pair2022(lead, trail byte) rune {
	l, t := rune(lead), rune(trail)
	switch {
	case 0xaa <= l && l <= 0xaf && isJIS(trail):
		return private1 + (l-0xaa)*row1 + t - 0xa1
	case 0xf8 <= l && isJIS(trail):
		return private2 + (l-0xf8)*row2 + t - 0xa1
	case 0xa1 <= l && l <= 0xa7 && 0x40 <= t && t < 0x7f:
		return private3 + (l-0xa1)*row3 + t - 0x40
	case 0xa1 <= l && l <= 0xa7 && 0x80 <= t && t <= 0xa0:
		return private3 + (l-0xa1)*row3 + t - 0x41
	}
	code := l<<8 | t
	for _, s := range spans2022() {
		if s.code <= code && code < s.code+s.n {
			return s.first + code - s.code
		}
	}
	return 0
}

// code2022 returns the pair for a character that the library encodes differently; 0: none.
func code2022(r rune) rune {
	r = published(r)
	for _, s := range spans2022() {
		if s.first <= r && r < s.first+s.n {
			return s.code + r - s.first
		}
	}
	switch {
	case r < private1 || privateEnd <= r:
		return 0
	case r < private2:
		return 0xaaa1 + (r-private1)/row1<<8 + (r-private1)%row1
	case r < private3:
		return 0xf8a1 + (r-private2)/row2<<8 + (r-private2)%row2
	}
	code := 0xa140 + (r-private3)/row3<<8 + (r-private3)%row3
	if code&0xff >= 0x7f {
		code++
	}
	return code
}

// published returns the character that has replaced a private-use one since 2022.
func published(r rune) rune {
	const private, public = "\ue78d\ue78e\ue78f\ue790\ue791\ue792\ue793\ue794\ue795\ue796" +
		"\ue81e\ue826\ue82b\ue82c\ue832\ue843\ue854\ue864",
		"\ufe10\ufe12\ufe11\ufe13\ufe14\ufe15\ufe16\ufe17\ufe18\ufe19" +
			"\u9fb4\u9fb5\u9fb6\u9fb7\u9fb8\u9fb9\u9fba\u9fbb"
	if i := strings.IndexRune(private, r); i >= 0 {
		r, _ = utf8.DecodeRuneInString(public[i:])
	}
	return r
}
