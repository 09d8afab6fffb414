package sitemap

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"regexp"
	"strings"
	"sync"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"github.com/sumi-ripple/ripple/crawl/media"
)

const (
	maxGzip  = 4        // files compressed more often are not sitemaps
	maxToken = 64 << 10 // bytes of one tag, comment or run of text; longer text is read in pieces
	prologue = 1024     // bytes that are searched for an XML declaration
)

var (
	errTooLong = errors.New("sitemap is longer than allowed")
	errToken   = errors.New("sitemap has a part longer than allowed")
)

// An input is the text of a sitemap: decompressed, UTF-8, without characters that XML does not allow. Its
// total length, and that between two calls of begin, is limited.
type input struct {
	r     *bufio.Reader
	spent int  // bytes since begin
	last  byte // last byte read
	ended bool // nothing more can be read
}

// open never fails; a body that cannot be decoded is read as far as possible.
func open(body []byte, contentType string, limit int64) *input {
	var raw io.Reader = bytes.NewReader(body)
	buffered := bufio.NewReader(&limited{raw, limit})
	for range maxGzip {
		if head, _ := buffered.Peek(2); !isGzip(head) {
			break
		}
		unzipped, err := gzip.NewReader(buffered)
		if err != nil {
			break
		}
		buffered = bufio.NewReader(&limited{unzipped, limit})
	}
	head, _ := buffered.Peek(prologue)
	decoder := unicode.BOMOverride(encodingOf(head, contentType).NewDecoder())
	return &input{r: bufio.NewReaderSize(transform.NewReader(buffered, decoder), 2*maxLoc)}
}

func isGzip(head []byte) bool { return bytes.HasPrefix(head, []byte{0x1f, 0x8b}) }

// encodingOf follows RFC 7303: a byte order mark (handled by the caller), the charset of the response, the
// XML declaration, UTF-8.
func encodingOf(head []byte, contentType string) encoding.Encoding {
	switch {
	case bytes.HasPrefix(head, []byte("<\x00")):
		return unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)
	case bytes.HasPrefix(head, []byte("\x00<")):
		return unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)
	}
	labels := make([]string, 0, 2)
	labels = append(labels, media.Extract(contentType).Charset)
	if m := declaration().FindSubmatch(head); m != nil {
		labels = append(labels, string(m[1]))
	}
	for _, label := range labels {
		// A declaration of UTF-16 that is readable as ASCII is wrong.
		if e, name := charset.Lookup(label); e != nil && !strings.HasPrefix(name, "utf-16") {
			return e
		}
	}
	return unicode.UTF8
}

var declaration = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`<\?xml[^>]*?\sencoding\s*=\s*["']([A-Za-z0-9._:-]+)`)
})

// first skips blanks and returns the next byte without consuming it, or 0 at the end.
func (in *input) first() byte {
	for {
		b, err := in.r.Peek(1)
		if err != nil {
			return 0
		}
		if b[0] > ' ' {
			return b[0]
		}
		in.r.Discard(1)
	}
}

// begin allows another maxToken bytes.
func (in *input) begin() { in.spent = 0 }

// again unreads the last byte if it begins a tag, for a decoder that continues where another failed.
func (in *input) again() {
	if in.last == '<' && !in.ended {
		in.last = 0
		in.r.UnreadByte()
	}
}

// ReadByte makes the input an [io.ByteReader], which an [xml.Decoder] reads without a buffer of its own, so
// that another decoder can continue where one failed.
func (in *input) ReadByte() (byte, error) {
	if in.spent++; in.spent > maxToken {
		return 0, errToken
	}
	c, err := in.r.ReadByte()
	if err != nil {
		in.ended = true
		return 0, io.EOF
	}
	in.last = c
	if c < ' ' && c != '\n' && c != '\t' && c != '\r' {
		c = ' '
	}
	return c, nil
}

// Read is needed because the decoder requires an [io.Reader]; the decoder does not use it.
func (in *input) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	c, err := in.ReadByte()
	if err != nil {
		return 0, err
	}
	p[0] = c
	return 1, nil
}

// sameInput is for declarations of an encoding that has already been decoded.
func sameInput(_ string, in io.Reader) (io.Reader, error) { return in, nil }

// A limited reader fails where [io.LimitedReader] would report the end.
type limited struct {
	r    io.Reader
	left int64
}

func (l *limited) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, errTooLong
	}
	n, err := l.r.Read(p[:min(int64(len(p)), l.left)])
	l.left -= int64(n)
	return n, err
}
