package warc

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/sumi-ripple/ripple/schema/weburl"
)

const (
	version    = "WARC/1.1"
	dateLayout = "2006-01-02T15:04:05Z"
	profile    = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
	origPrefix = "X-Archive-Orig-"
)

// A Page is one answer of a server, with its request.
type Page struct {
	URL     string // that was requested
	At      time.Time
	Address string // IP address of the server; empty: unknown

	// Protocols are what was spoken with the server, as WARC-Protocol names it: "h2", "tls/1.3".
	Protocols []string

	Request []byte // header of the request, with the empty line
	Status  int
	Header  http.Header // of the answer
	Body    []byte      // decoded
	Digest  [sha256.Size]byte

	// Rendered is the document after its scripts have run; nil: they have not.
	Rendered *Rendered
}

// Rendered is a page as its scripts left it.
type Rendered struct {
	DOM         []byte   // HTML in UTF-8
	Navigations []string // URLs that the page tried to navigate to
}

// A Sealer makes pages ready to be appended. Sealing does the compression, which is the expensive part. The zero value
// is ready to use. A Sealer belongs to one goroutine.
type Sealer struct{ gzip *gzip.Writer }

// A Sealed is a page ready to be appended.
type Sealed struct {
	url      string
	at       time.Time
	server   fields // what is known of the connection, for each record of the exchange
	status   int
	mime     string
	digest   [sha256.Size]byte
	id       string // of the response record
	head     []byte // header of the answer, as stored
	request  []byte // member
	response []byte // member
	rendered []byte // member; nil: none
}

// Size returns the number of bytes a sealed page holds.
func (s *Sealed) Size() int { return len(s.request) + len(s.response) + len(s.head) + len(s.rendered) }

// Seal makes the records of a page. It keeps no reference to the page.
func (z *Sealer) Seal(p *Page) (*Sealed, error) {
	s := &Sealed{
		url: p.URL, at: p.At.UTC().Truncate(time.Second),
		server: fields{{"WARC-IP-Address", p.Address}},
		status: p.Status, mime: mime(p.Header.Get("Content-Type")), digest: p.Digest, head: head(p),
	}
	for _, protocol := range p.Protocols {
		s.server = append(s.server, [2]string{"WARC-Protocol", protocol})
	}
	id := newID()
	s.id = id
	block := append(slices.Clone(s.head), p.Body...)
	var err error
	s.response, err = z.member(slices.Concat(fields{
		{"WARC-Type", "response"}, {"WARC-Record-ID", id}, {"WARC-Date", s.at.Format(dateLayout)},
		{"WARC-Target-URI", p.URL},
	}, s.server, fields{
		{"WARC-Payload-Digest", digestText(p.Digest)}, {"WARC-Block-Digest", digestText(sha256.Sum256(block))},
		{"Content-Type", "application/http;msgtype=response"},
	}), block)
	if err != nil {
		return nil, err
	}
	s.request, err = z.member(slices.Concat(fields{
		{"WARC-Type", "request"}, {"WARC-Record-ID", newID()}, {"WARC-Date", s.at.Format(dateLayout)},
		{"WARC-Target-URI", p.URL},
	}, s.server, fields{
		{"WARC-Concurrent-To", id}, {"WARC-Block-Digest", digestText(sha256.Sum256(p.Request))},
		{"Content-Type", "application/http;msgtype=request"},
	}), p.Request)
	if err == nil && p.Rendered != nil {
		s.rendered, err = z.conversion(s, p.Rendered)
	}
	return s, err
}

// Navigation is the field with a URL that the scripts of a page tried to navigate to. It may be repeated.
const Navigation = "Ripple-Navigation"

// conversion returns the record of a rendered page.
func (z *Sealer) conversion(s *Sealed, r *Rendered) ([]byte, error) {
	f := fields{
		{"WARC-Type", "conversion"}, {"WARC-Record-ID", newID()}, {"WARC-Date", s.at.Format(dateLayout)},
		{"WARC-Target-URI", s.url}, {"WARC-Refers-To", s.id},
		{"WARC-Block-Digest", digestText(sha256.Sum256(r.DOM))}, {"Content-Type", "text/html; charset=utf-8"},
	}
	for _, to := range r.Navigations {
		f = append(f, [2]string{Navigation, to})
	}
	return z.member(f, r.DOM)
}

// revisit returns the record of a page whose body is in another record.
func (z *Sealer) revisit(s *Sealed, of *location, at place) ([]byte, error) {
	return z.member(slices.Concat(fields{
		{"WARC-Type", "revisit"}, {"WARC-Record-ID", s.id}, {"WARC-Date", s.at.Format(dateLayout)},
		{"WARC-Target-URI", s.url},
	}, s.server, fields{
		{"WARC-Profile", profile}, {"WARC-Payload-Digest", digestText(s.digest)},
		{"WARC-Refers-To-Target-URI", of.url}, {"WARC-Refers-To-Date", of.date}, {"WARC-Refers-To", of.id},
		{"WARC-Refers-To-Filename", at.file}, {"WARC-Refers-To-File-Offset", strconv.FormatInt(at.offset, 10)},
		{"WARC-Block-Digest", digestText(sha256.Sum256(s.head))}, {"Content-Type", "application/http;msgtype=response"},
	}), s.head)
}

// info returns the record at the start of a segment.
func (z *Sealer) info(name, software string, at time.Time) ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "software: %s\r\nformat: WARC File Format 1.1\r\n"+
		"conformsTo: http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/\r\n",
		oneLine(software))
	return z.member(fields{
		{"WARC-Type", "warcinfo"}, {"WARC-Record-ID", newID()}, {"WARC-Date", at.UTC().Format(dateLayout)},
		{"WARC-Filename", name}, {"Content-Type", "application/warc-fields"},
	}, b.Bytes())
}

// head returns the header of an answer, adjusted to its decoded body.
func head(p *Page) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "HTTP/1.1 %03d %s\r\n", p.Status, http.StatusText(p.Status))
	for _, name := range sortedNames(p.Header) {
		for _, value := range p.Header[name] {
			switch http.CanonicalHeaderKey(name) {
			case "Content-Encoding", "Content-Length", "Transfer-Encoding":
				name = origPrefix + name
			}
			fmt.Fprintf(&b, "%s: %s\r\n", oneLine(name), oneLine(value))
		}
	}
	fmt.Fprintf(&b, "Content-Length: %d\r\n\r\n", len(p.Body))
	return b.Bytes()
}

func sortedNames(h http.Header) []string {
	names := make([]string, 0, len(h))
	for name := range h {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// oneLine replaces line ends and other characters not allowed in fields.
func oneLine(s string) string {
	control := func(c byte) bool { return c < ' ' && c != '\t' || c == 0x7f }
	b := []byte(s)
	for i, c := range b {
		if control(c) {
			b[i] = ' '
		}
	}
	return string(b)
}

func mime(contentType string) string {
	media, _, _ := strings.Cut(contentType, ";")
	return strings.ToLower(strings.TrimSpace(media))
}

type fields [][2]string

// member returns one record as one gzip member. It omits fields without a value.
func (z *Sealer) member(f fields, block []byte) ([]byte, error) {
	var out bytes.Buffer
	if z.gzip == nil {
		z.gzip = gzip.NewWriter(&out)
	}
	z.gzip.Reset(&out)
	var b bytes.Buffer
	b.WriteString(version + "\r\n")
	for _, field := range f {
		if field[1] != "" {
			b.WriteString(field[0] + ": " + oneLine(field[1]) + "\r\n")
		}
	}
	fmt.Fprintf(&b, "Content-Length: %d\r\n\r\n", len(block))
	for _, part := range [][]byte{b.Bytes(), block, []byte("\r\n\r\n")} {
		if _, err := z.gzip.Write(part); err != nil {
			return nil, err
		}
	}
	err := z.gzip.Close()
	return out.Bytes(), err
}

// keyOf returns the key of a URL in an index, as the players of web archives look it up: its SURT in lower case,
// without www. at the beginning, and with the parameters of its query in order.
func keyOf(url string) string {
	scheme, rest, ok := strings.Cut(strings.ToLower(url), "://")
	if !ok {
		return url
	}
	if digits, isWWW := strings.CutPrefix(rest, "www"); isWWW {
		if name, found := strings.CutPrefix(strings.TrimLeft(digits, "0123456789"), "."); found {
			rest = name
		}
	}
	host, path, query := rest, "/", ""
	if i := strings.IndexAny(rest, "/?"); i >= 0 {
		host, path = rest[:i], rest[i:]
	}
	path, query, _ = strings.Cut(path, "?")
	name, port := weburl.SplitPort(host)
	if port == map[string]string{"http": ":80", "https": ":443"}[scheme] {
		port = ""
	}
	labels := strings.Split(name, ".")
	slices.Reverse(labels)
	key := strings.Join(labels, ",") + port + ")" + path
	if query == "" {
		return key
	}
	parameters := strings.Split(query, "&")
	slices.Sort(parameters)
	return key + "?" + strings.Join(parameters, "&")
}

func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("<urn:uuid:%x-%x-%x-%x-%x>", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

func digestText(sum [sha256.Size]byte) string {
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Digest returns a digest as text that is the same for every spelling of the same bytes: archives have those of SHA-1
// and SHA-256 in base 32 or base 16.
func Digest(text string) string {
	algorithm, value, _ := strings.Cut(text, ":")
	algorithm, value = strings.ToLower(algorithm), strings.TrimRight(value, "=")
	if n := len(value); algorithm == "sha1" && n == 32 || algorithm == "sha256" && n == 52 {
		sum, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(strings.ToUpper(value))
		if err == nil {
			return algorithm + ":" + hex.EncodeToString(sum)
		}
	}
	if _, err := hex.DecodeString(value); err == nil {
		value = strings.ToLower(value)
	}
	return algorithm + ":" + value
}

// An entry is one line of an index.
type entry struct {
	key, stamp string
	URL        string `json:"url"`
	Mime       string `json:"mime"`
	Status     string `json:"status,omitempty"`
	Digest     string `json:"digest"`
	Length     string `json:"length"`
	Offset     string `json:"offset"`
	Filename   string `json:"filename"`
	Rendered   string `json:"ripple-rendered,omitempty"` // length of the conversion record that follows
}

const revisitMime = "warc/revisit"

func (e *entry) line() ([]byte, error) {
	rest, err := json.Marshal(e)
	return fmt.Appendf(nil, "%s %s %s\n", strings.ReplaceAll(oneLine(e.key), " ", "%20"), e.stamp, rest), err
}

// parseEntry parses a line of an index. end is the offset at which its records end.
func parseEntry(line []byte) (e entry, end int64, ok bool) {
	key, rest, ok1 := bytes.Cut(line, []byte(" "))
	stamp, rest, ok2 := bytes.Cut(rest, []byte(" "))
	if !ok1 || !ok2 || len(stamp) != 14 || json.Unmarshal(rest, &e) != nil {
		return e, 0, false
	}
	e.key, e.stamp = string(key), string(stamp)
	offset, err1 := strconv.ParseInt(e.Offset, 10, 64)
	length, err2 := strconv.ParseInt(e.Length, 10, 64)
	if err1 != nil || err2 != nil || offset < 0 || length < 0 || offset > 1<<62 || length > 1<<40 {
		return e, 0, false
	}
	if e.Rendered != "" {
		follows, err := strconv.ParseInt(e.Rendered, 10, 64)
		if err != nil || follows < 0 || follows > 1<<40 {
			return e, 0, false
		}
		length += follows
	}
	return e, offset + length, true
}
