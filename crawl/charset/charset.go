// Package charset knows the encodings of the web: which one a page is in, how its
// bytes become UTF-8, and how a query is written in it.
//
// An encoding that nothing declares is guessed from the bytes alone by github.com/gogs/chardet (MIT, a
// port of ICU's detector) and some rules. Of 14 sentences in as many encodings, cut to a title of 24
// characters, whole and four times over, it reads 13 rightly, github.com/wlynxg/chardet (MIT) 11. The rules are
// for encodings that it does not know (windows-874, windows-1257, ibm866), for those that it takes for a relative
// (koi8-u, iso-8859-6), and for short texts in Latin letters.
//
// It follows the Encoding standard, and for pages what the HTML standard says on
// determining the character encoding. No label and no bytes are an error: what
// cannot be told is read as browsers would, and bytes that mean nothing become
// U+FFFD. An [Encoding] may be used by any number of goroutines.
package charset

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
)

// Names that are told apart here.
const (
	utf8Name      = "utf-8"
	utf16beName   = "utf-16be"
	utf16leName   = "utf-16le"
	gbkName       = "gbk"
	gb18030Name   = "gb18030"
	big5Name      = "big5"
	eucJPName     = "euc-jp"
	eucKRName     = "euc-kr"
	shiftJISName  = "shift_jis"
	iso2022JPName = "iso-2022-jp"
	userDefined   = "x-user-defined"
	replacement   = "replacement"
)

// An Encoding is one of the encodings of the Encoding standard. The zero value is none.
type Encoding struct {
	name string
	text encoding.Encoding
}

// Lookup returns the encoding that a label names, as in a charset parameter, and
// whether there is one.
func Lookup(label string) (Encoding, bool) {
	label = strings.Trim(label, " \t\n\f\r")
	if !isASCII(label) {
		return Encoding{}, false
	}
	e, err := htmlindex.Get(label)
	if err != nil {
		return Encoding{}, false
	}
	name, err := htmlindex.Name(e)
	return Encoding{name, e}, err == nil
}

// named returns an encoding by its own name.
func named(name string) Encoding {
	e, _ := Lookup(name)
	return e
}

// Name is the encoding's name in lower case, such as "windows-1252".
func (e Encoding) Name() string { return e.name }

// Decode brings bytes to UTF-8, without the byte order mark of a Unicode encoding. Each
// error becomes one U+FFFD. The result is at most three times as long, and may share
// their memory.
func (e Encoding) Decode(b []byte) []byte {
	mark := []byte("\ufeff")
	switch e.name {
	case utf8Name:
		return valid(bytes.TrimPrefix(b, mark))
	case utf16beName:
		return bytes.TrimPrefix(decodeUTF16(b, binary.BigEndian), mark)
	case utf16leName:
		return bytes.TrimPrefix(decodeUTF16(b, binary.LittleEndian), mark)
	case iso2022JPName:
		return e.decodeISO2022JP(b)
	case replacement:
		return []byte("\ufffd")[:min(len("\ufffd"), 3*len(b))] // nothing of nothing
	}
	if e.isMulti() {
		return e.decodeMulti(b)
	}
	return e.decodeSingle(b)
}

// valid replaces what is not UTF-8, each error by one U+FFFD.
func valid(text []byte) []byte {
	if utf8.Valid(text) {
		return text
	}
	replaced, err := unicode.UTF8.NewDecoder().Bytes(text)
	if err != nil {
		return bytes.ToValidUTF8(text, []byte("\ufffd"))
	}
	return replaced
}

func isASCII[T string | []byte](s T) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
