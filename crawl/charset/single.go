package charset

import "unicode/utf8"

// isSingle reports an encoding in which every byte is a character.
func (e Encoding) isSingle() bool {
	switch e.name {
	case utf8Name, utf16beName, utf16leName, replacement, iso2022JPName:
		return false
	}
	return !e.isMulti()
}

// table returns the character for each byte. Where the library has none between 0x80 and 0x9f, the standard
// has a control character.
func (e Encoding) table() [256]rune {
	var table [256]rune
	var all [256]byte
	for i := range all {
		all[i] = byte(i)
	}
	text, _ := e.text.NewDecoder().Bytes(all[:]) // each byte becomes a character, or U+FFFD
	for i := range table {
		r, size := utf8.DecodeRune(text)
		if r == utf8.RuneError && 0x80 <= i && i < 0xa0 {
			r = rune(i)
		}
		table[i], text = r, text[size:]
	}
	return table
}

func (e Encoding) decodeSingle(b []byte) []byte {
	if isASCII(b) {
		return b
	}
	table := e.table()
	text := make([]byte, 0, len(b)+len(b)/2)
	for _, c := range b {
		if c < utf8.RuneSelf {
			text = append(text, c)
		} else {
			text = utf8.AppendRune(text, table[c])
		}
	}
	return text
}
