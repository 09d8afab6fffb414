package page

import (
	"bytes"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
)

const utf8Name = "utf-8"

// Decode brings a body to UTF-8 and names the encoding it was in: that of the
// byte order mark, else the one that the content type or a <meta> in the first
// 1,024 bytes declares, else UTF-8 if the bytes are that, else windows-1252.
// Bytes that mean nothing in the encoding become U+FFFD, so the result is at
// most three times as long as the body. It may share the body's memory.
func Decode(body []byte, contentType string) ([]byte, string) {
	e, name := encodingOf(body, contentType)
	if name == utf8Name {
		return valid(bytes.TrimPrefix(body, []byte("\ufeff"))), name
	}
	if e == nil {
		return body, name
	}
	text, err := e.NewDecoder().Bytes(body)
	if err != nil {
		text = body
	}
	return valid(text), name
}

// valid replaces what is not UTF-8; [bytes.ToValidUTF8] alone would copy, slowly.
func valid(text []byte) []byte {
	if utf8.Valid(text) {
		return text
	}
	return bytes.ToValidUTF8(text, []byte("\ufffd"))
}

// encodingOf names the encoding of a body; it is nil where the bytes can be read
// as they are.
func encodingOf(body []byte, contentType string) (encoding.Encoding, string) {
	e, name, _ := charset.DetermineEncoding(body, contentType)
	undeclared := e == encoding.Encoding(charmap.Windows1252) // declared ones come wrapped
	if !undeclared || !utf8.Valid(body) {
		return e, name
	}
	if isASCII(body) {
		return nil, name
	}
	return nil, utf8Name
}

func isASCII(b []byte) bool {
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
