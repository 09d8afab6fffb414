package lenient

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

const body = "<a href=/next>n</a>"

// An answer is an answer as net/http reads it from a reader.
type answer struct {
	status int
	header http.Header
	close  bool
	body   string
	err    error
}

// transported reads the answers to a number of requests like http.Transport.
func transported(from io.Reader, method string, requests int, expect func()) []answer {
	in := bufio.NewReaderSize(from, 1<<10)
	var all []answer
	for range requests {
		expect()
		a := one(in, method)
		if all = append(all, a); a.err != nil || a.close {
			break
		}
	}
	return all
}

func one(in *bufio.Reader, method string) answer {
	for {
		res, err := http.ReadResponse(in, &http.Request{Method: method})
		if err != nil {
			return answer{err: err}
		}
		if res.StatusCode/100 == 1 && res.StatusCode != 101 {
			continue
		}
		data, err := io.ReadAll(res.Body)
		return answer{res.StatusCode, res.Header, res.Close, string(data), err}
	}
}

func read(text, method string, requests int) []answer {
	r := NewReader(strings.NewReader(text))
	return transported(r, method, requests, func() { r.Expect(method, nil) })
}

func head(fields string, text string) string {
	return "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n" + fields + "\r\n" + text
}

func chunked(text string) string { return fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(text), text) }

// Answers that browsers accept have the status and the body that browsers see.
func TestBrowsersRead(t *testing.T) {
	length := fmt.Sprintf("Content-Length: %d\r\n", len(body))
	const te = "Transfer-Encoding: chunked\r\n"
	tests := []struct {
		name  string
		text  string
		close bool
	}{
		{"plain", head(length, body), false},
		{"chunked", head(te, chunked(body)), false},
		{"chunked twice", head(te+te, chunked(body)), true},
		{"identity", head("Transfer-Encoding: identity\r\n"+length, body), true},
		{"identity, chunked", head("Transfer-Encoding: identity, chunked\r\n", chunked(body)), true},
		{"chunked, identity", head("Transfer-Encoding: chunked, identity\r\n", chunked(body)), true},
		{"unknown coding", head("Transfer-Encoding: foo\r\n"+length, body), true},
		{"empty coding", head("Transfer-Encoding:\r\n"+length, body), true},
		{"chunked and a length", head(te+"Content-Length: 3\r\n", chunked(body)), true},
		{"chunked and an odd length", head(te+"Content-Length: x\r\n", chunked(body)), true},
		{"chunked of 1.0", "HTTP/1.0 200 OK\r\n" + te + length + "\r\n" + body, true},
		{"coding before its colon blank", head("Transfer-Encoding : chunked\r\n", chunked(body)), true},
		{"length before its colon blank", head(strings.Replace(length, ":", " :", 1), body), true},
		{"equal lengths", head(length+length, body), true},
		{"list of equal lengths", head("Content-Length: 19, 19\r\n", body), true},
		{"length plus", head("Content-Length: +3\r\n", body), true},
		{"length minus", head("Content-Length: -1\r\n", body), true},
		{"length undefined", head("Content-Length: undefined\r\n", body), true},
		{"length empty", head("Content-Length:\r\n", body), true},
		{"length huge", head("Content-Length: 99999999999999999999\r\n", body), true},
		{"length with zeros", head("Content-Length: 0000000000000000000019\r\n", body), false},
		{"length folded", head("Content-Length:\r\n 19\r\n", body), false},
		{"no colon", head("this is no header\r\n"+length, body), false},
		{"no name", head(": bar\r\n"+length, body), false},
		{"name is no token", head("X(A): b\r\nX A: b\r\nÜ: b\r\n"+length, body), false},
		{"control characters", head("X-A: a\x1b[2Jb\r\n"+length, body), false},
		{"folded", head("X-A: a\r\n b\r\n\tc\r\n"+length, body), false},
		{"folded first", "HTTP/1.1 200 OK\r\n X-A: b\r\n" + length + "\r\n" + body, false},
		{"folded without a field", head("abc\r\n Content-Length: 1\r\n"+length, body), false},
		{"blank before colon", head("X-A : a\r\n"+length, body), false},
		{"trailer forbidden", head(te+"Trailer: Content-Length\r\n", chunked(body)), false},
		{"status twice", "HTTP/1.1 200 OK\r\n" + head(length, body), false},
		{"status line HTTP/2", "HTTP/2 200 OK\r\n" + length + "\r\n" + body, true},
		{"status line HTTP/2.0", "HTTP/2.0 200\r\n" + length + "\r\n" + body, false},
		{"status line ICY", "ICY 200 OK\r\n\r\n" + body, true},
		{"status line in lower case", "http/1.1 200 ok\r\n" + length + "\r\n" + body, false},
		{"no version", "HTTP 200 OK\r\n\r\n" + body, true},
		{"no status", "HTTP/1.1\r\n" + length + "\r\n" + body, false},
		{"no number", "HTTP/1.1 OK\r\n" + length + "\r\n" + body, false},
		{"blanks", "HTTP/1.1   200   OK \r\n" + length + "\r\n" + body, false},
		{"status and reason", "HTTP/1.1 200OK\r\n" + length + "\r\n" + body, false},
		{"status with a zero", "HTTP/1.1 0200 OK\r\n" + length + "\r\n" + body, false},
		{"blank line before", "\r\n" + head(length, body), false},
		{"blank lines before", "\n\n\r\n" + head(length, body), false},
		{"byte order mark before", "\xef\xbb\xbf" + head(length, body), false},
		{"LF alone", strings.ReplaceAll(head(length, body), "\r\n", "\n"), false},
		{"LF, then CR LF", "HTTP/1.1 200 OK\n" + "Content-Length: 19\n\r\n" + body, false},
		{"CR between lines", "HTTP/1.1 200 OK\rContent-Length: 19\n\n" + body, true},
		{"CR CR LF", "HTTP/1.1 200 OK\r\r\n" + length + "\r\n" + body, true},
		{"80 KB", head("X-Big: "+strings.Repeat("a", 80_000)+"\r\n"+length, body), false},
		{"250 KB", head(strings.Repeat("X-Big: "+strings.Repeat("a", 80)+"\r\n", 2800)+length, body), false},
		{"80 KB, with a fault", head("X-Big: "+strings.Repeat("a", 80_000)+"\r\nfault\r\n"+length, body), false},
		{"interim", "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 100\r\n\r\n" + head(length, body), false},
		{"interim with faults", "HTTP/1.1 103\r\nLink\r\n\r\n" + head("fault\r\n"+length, body), false},
		{"chunks, LF alone", head(te, "13\n"+body+"\n0\n\n"), false},
		{"chunks with blanks", head(te, "13  \r\n"+body+"\r\n0 \r\n\r\n"), false},
		{"chunks with extensions", head(te, "5;a=b\r\n"+body[:5]+"\r\n00e ; c\r\n"+body[5:]+"\r\n0;\r\n\r\n"), false},
		{"trailers", head(te, "13\r\n"+body+"\r\n0\r\nA: b\r\nno trailer\r\n\r\n"), false},
		{"nothing behind the last chunk", head(te, "13\r\n"+body+"\r\n0\r\n"), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, split := range []func(io.Reader) io.Reader{func(r io.Reader) io.Reader { return r }, iotest.OneByteReader} {
				r := NewReader(split(strings.NewReader(tt.text)))
				got := transported(r, "GET", 1, func() { r.Expect("GET", nil) })[0]
				if got.err != nil || got.status != 200 || got.body != body || got.close != tt.close {
					t.Errorf("%d %q, close %v, %v; want %q, close %v", got.status, got.body, got.close, got.err, body, tt.close)
				}
			}
		})
	}
}

// A redirect keeps its target, with control characters escaped as in Chromium.
func TestLocation(t *testing.T) {
	r := NewReader(strings.NewReader("HTTP/1.1 302 Found\r\nLocation: /a\x01\x7fb\tc\r\nContent-Length: 0\r\n\r\n"))
	r.Expect("GET", nil)
	res, err := http.ReadResponse(bufio.NewReader(r), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := res.Header.Get("Location"); got != "/a%01%7Fb\tc" {
		t.Errorf("Location is %q", got)
	}
}

// What browsers refuse, or nobody can explain, the transport gets as it came.
func TestNobodyReads(t *testing.T) {
	for _, text := range []string{
		head("Content-Length: 1\r\nContent-Length: 2\r\n", "ab"),
		head("Content-Length: 1, 2\r\n", "ab"),
		head("Content-Length:\r\nContent-Length: 2\r\n", "ab"),
		head("X: a\x00b\r\n", ""),
		"HTTP/1.1 1000 Odd\r\n\r\n",
		"220 mail.example.com ESMTP\r\n",
		"abcdeHTTP/1.1 200 OK\r\n\r\n",
		"\r\n\r\n\r\n\r\n",
		"HTTP/1.1 200 OK\r\nServer: x\r\n",
		head("X-Big: "+strings.Repeat("a", MaxHead)+"\r\n", body),
		head("Transfer-Encoding: chunked\r\n", "0x13\r\n"+body+"\r\n0\r\n\r\n"),
		head("Transfer-Encoding: chunked\r\n", "13\r\n"+body+"0\r\n\r\n"),
		head("Transfer-Encoding: chunked\r\n", "13\r\n"+body+"\r\n"),
		head("Transfer-Encoding: chunked\r\n", body),
		"",
	} {
		if got := read(text, "GET", 1)[0]; got.err == nil && len(text) < MaxHead {
			t.Errorf("%q is read as %+v", text, got)
		}
	}
	r := NewReader(strings.NewReader(head("X-Big: "+strings.Repeat("a", 2*MaxHead)+"\r\n", body)))
	r.Expect("GET", nil)
	if n, err := io.Copy(io.Discard, r); n != int64(len(head("", body))+2*MaxHead+len("X-Big: \r\n")) || err != nil {
		t.Errorf("a head without end: %d bytes, %v", n, err)
	}
}

// An answer ends where it says, and the next one begins there.
func TestKeptConnection(t *testing.T) {
	long := head("Content-Length: 19\r\n", body)
	for _, tt := range []struct {
		name, method, text string
		bodies             []string
		more               bool // than there were requests
	}{
		{"lengths", "GET", long + long, []string{body}, true},
		{"HEAD", "HEAD", head("Content-Length: 19\r\nfault\r\n", ""), []string{""}, false},
		{"HEAD with an odd length", "HEAD", head("Content-Length: x\r\n", ""), []string{""}, false},
		{"HEAD with a body", "HEAD", long, []string{""}, true},
		{"204 with a body", "GET", "HTTP/1.1 204\r\n\r\n" + body, []string{""}, true},
		{"304", "GET", "HTTP/1.1 304 Not Modified\r\nContent-Length: 19\r\n\r\n", []string{""}, false},
		{"blank line behind", "GET", long + "\r\n", []string{body}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := read(tt.text, tt.method, len(tt.bodies)+1)
			for i, want := range tt.bodies {
				if i >= len(got) || got[i].err != nil || got[i].body != want {
					t.Fatalf("answer %d: %+v, want %q", i, got, want)
				}
			}
			if len(got) > len(tt.bodies) && got[len(tt.bodies)].err == nil {
				t.Errorf("the next request is answered %+v", got[len(tt.bodies)])
			}
		})
	}
}

// Answers that arrive one at a time are all read, valid or not.
func TestManyAnswers(t *testing.T) {
	answers := []string{
		head("Content-Length: 19\r\n", body), head("fault\r\nContent-Length: 19\r\n", body),
		head("Transfer-Encoding: chunked\r\n", "13;x\r\n"+body+"\r\n0\r\nA: b\r\n\r\n"),
		"HTTP/1.1 103\r\n\r\n" + head("Content-Length: 19\r\n", body),
	}
	answers = slices.Repeat(answers, 3)
	left, firsts := answers, 0
	var now io.Reader = strings.NewReader("")
	r := NewReader(readerFunc(func(p []byte) (int, error) { return now.Read(p) }))
	got := transported(r, "GET", len(answers), func() {
		r.Expect("GET", func() { firsts++ })
		now, left = strings.NewReader(left[0]), left[1:]
	})
	for i, a := range got {
		if a.err != nil || a.body != body || a.close {
			t.Errorf("answer %d: %+v", i, a)
		}
	}
	if len(got) != len(answers) || firsts != len(answers) {
		t.Errorf("%d answers, %d first bytes, want %d", len(got), firsts, len(answers))
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// Bytes without a request end the connection.
func TestUnasked(t *testing.T) {
	r := NewReader(strings.NewReader(head("Content-Length: 19\r\n", body)))
	if text, err := io.ReadAll(r); len(text) > 0 || err != nil {
		t.Errorf("%q, %v", text, err)
	}
}

// FuzzReader checks that a reader never panics, returns little more than it reads, agrees with net/http on
// valid answers however they arrive, and does not change what it has repaired.
func FuzzReader(f *testing.F) {
	for _, text := range []string{
		head("Content-Length: 19\r\n", body), head("Transfer-Encoding: chunked\r\n", chunked(body)),
		head("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\nno colon\r\n", "13 ;a\n"+body+"\n0\nA: b\n\n"),
		"HTTP/1.1 103\r\nLink: a\r\n b\r\n\r\n\r\nhttp/1.0\r\nContent-Length : +3\r\n\r\nabc", "ICY 200\r\n\r\nabc",
		"HTTP/2 200OK\rX: y\r\r\n\n", head("Content-Length: 3, 3\r\nConnection: keep-alive\r\n", "abcdef"),
		head("Trailer: Content-Length\r\nTransfer-Encoding: chunked\r\n", "1;"+strings.Repeat("x", 5000)+"\r\na\r\n0\r\n\r\n"),
	} {
		f.Add([]byte(text), false)
		f.Add([]byte(text), true)
	}
	f.Fuzz(func(t *testing.T, text []byte, headOnly bool) {
		method := map[bool]string{false: "GET", true: "HEAD"}[headOnly]
		pass := func(in io.Reader) []byte {
			r := NewReader(in)
			r.Expect(method, nil)
			out, err := io.ReadAll(r)
			if err != nil {
				t.Fatal(err)
			}
			return out
		}
		out := pass(bytes.NewReader(text))
		if most := 2*len(text) + 256*(1+bytes.Count(text, []byte("\n"))); len(out) > most {
			t.Fatalf("%d bytes of %d", len(out), len(text))
		}
		if slow := pass(iotest.OneByteReader(bytes.NewReader(text))); !bytes.Equal(answered(slow, method), answered(out, method)) {
			t.Fatalf("%q, byte by byte %q", out, slow)
		}
		if again := pass(bytes.NewReader(out)); !bytes.Equal(again, out) {
			t.Fatalf("%q is mended to %q", out, again)
		}
		want := one(bufio.NewReader(bytes.NewReader(text)), method)
		if end := headEnd(text); want.err != nil || want.status < 100 || hasBareCR(text) || end < 0 || bytes.Contains(text, []byte{0}) {
			return
		}
		got := one(bufio.NewReader(bytes.NewReader(out)), method)
		for name := range want.header {
			if strings.Contains(name, " ") {
				return // the name was repaired, and may be one of the framing
			}
		}
		if got.err != nil || got.status != want.status || got.body != want.body {
			t.Fatalf("%+v, net/http reads %+v", got, want)
		}
		for name, values := range want.header {
			if !slices.Equal(got.header[name], values) && name != "Connection" && name != "Trailer" && name != "Content-Length" {
				t.Errorf("%s: %q, net/http reads %q", name, got.header[name], values)
			}
		}
	})
}

// answered returns what net/http makes of a text.
func answered(text []byte, method string) []byte {
	a := one(bufio.NewReader(bytes.NewReader(text)), method)
	return fmt.Appendf(nil, "%d %v %q %v", a.status, a.header, a.body, a.err != nil)
}

// BenchmarkReader measures the cost of an answer in excess of copying it.
func BenchmarkReader(b *testing.B) {
	fields := strings.Repeat("X-Field: of a usual length, some 60 bytes, as servers send it\r\n", 12)
	text := head(fields+"Content-Length: 30000\r\n", strings.Repeat("x", 30_000))
	cut := head(fields+"Transfer-Encoding: chunked\r\n", strings.Repeat("1000\r\n"+strings.Repeat("x", 4096)+"\r\n", 7)+"0\r\n\r\n")
	for _, bm := range []struct{ name, text string }{
		{"length", text}, {"chunked", cut}, {"mended", strings.Replace(text, "X-Field:", "X-Field", 1)},
	} {
		b.Run(bm.name, func(b *testing.B) {
			var now *strings.Reader
			r := NewReader(readerFunc(func(p []byte) (int, error) { return now.Read(p) }))
			buf := make([]byte, 8<<10)
			b.ReportAllocs()
			for b.Loop() {
				now = strings.NewReader(bm.text)
				r.Expect("GET", nil)
				for {
					if _, err := r.Read(buf); err == io.EOF {
						break
					}
				}
			}
		})
	}
}
