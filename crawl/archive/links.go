package archive

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// maxLinks is the longest record of a WAT file that is read, in bytes.
const maxLinks = 16 << 20

// errNoResponse reports a record of a WAT file that does not describe the answer of a server.
var errNoResponse = errors.New("it describes no answer")

// An envelope is the part of a WAT record that counts (Common Crawl's and the Internet Archive's Web Archive
// Transformation format).
type envelope struct {
	Envelope struct {
		Head struct {
			Type string `json:"WARC-Type"`
		} `json:"WARC-Header-Metadata"`
		Payload struct {
			HTTP struct {
				Message struct {
					Status text
				} `json:"Response-Message"`
				Headers map[string]text
				HTML    struct {
					Head struct {
						Base  text
						Title text
						Metas []struct{ Name, Content text }
						Link  []watLink
					}
					Links []watLink
				} `json:"HTML-Metadata"`
			} `json:"HTTP-Response-Metadata"`
		} `json:"Payload-Metadata"`
	}
}

type watLink struct{ Path, URL, Rel, Text text }

// A text is a string of JSON; any other value is the empty text.
type text string

func (t *text) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) == nil {
		*t = text(s)
	}
	return nil
}

// Links reads the last record of a WAT file, and ends it. It returns the answer that the record describes, as a
// page that has the title, the links with their anchors and the robots rules of the original, and nothing else:
// neither their places nor the text. If the record describes no answer, ok is false.
func (r *Reader) Links(rec *Record) (a *Answer, ok bool, err error) {
	if rec.Type != "metadata" || !strings.Contains(rec.Fields.Get("Content-Type"), "json") || rec.Length > maxLinks {
		return nil, false, r.End()
	}
	block, err := io.ReadAll(io.LimitReader(r, maxLinks))
	if err := errors.Join(err, r.End()); err != nil {
		return nil, false, err
	}
	if a, err = parseLinks(block); err == errNoResponse {
		return nil, false, nil
	}
	return a, err == nil, err
}

func parseLinks(block []byte) (*Answer, error) {
	var e envelope
	if err := json.Unmarshal(block, &e); err != nil {
		return nil, fmt.Errorf("%w: its JSON: %w", ErrRecord, err)
	}
	answer := &e.Envelope.Payload.HTTP
	status, err := strconv.Atoi(string(answer.Message.Status))
	if e.Envelope.Head.Type != "response" || err != nil || status < 100 || status > 999 {
		return nil, errNoResponse
	}
	a := &Answer{Status: status, Header: http.Header{}}
	for name, value := range answer.Headers {
		switch name = http.CanonicalHeaderKey(name); name {
		case "Content-Type", "Location", "X-Robots-Tag", "Link", "Last-Modified":
			a.Header.Set(name, string(value))
		}
	}
	if kind, _, _ := strings.Cut(a.Header.Get("Content-Type"), ";"); strings.TrimSpace(kind) != "" {
		a.Header.Set("Content-Type", strings.TrimSpace(kind)+"; charset=utf-8") // which JSON is
	}
	head := &answer.HTML.Head
	var b bytes.Buffer
	if head.Base != "" {
		fmt.Fprintf(&b, "<base href=\"%s\">", quote(head.Base))
	}
	fmt.Fprintf(&b, "<title>%s</title>", quote(head.Title))
	for _, m := range head.Metas {
		fmt.Fprintf(&b, "<meta name=\"%s\" content=\"%s\">", quote(m.Name), quote(m.Content))
	}
	for _, l := range head.Link {
		fmt.Fprintf(&b, "<link rel=\"%s\" href=\"%s\">", quote(l.Rel), quote(l.URL))
	}
	for _, l := range answer.HTML.Links {
		element, attribute, _ := strings.Cut(string(l.Path), "@/")
		switch name := strings.ToLower(element); {
		case (name == "a" || name == "area") && attribute == "href":
			fmt.Fprintf(&b, "<%s href=\"%s\" rel=\"%s\">%s</%s>\n", name, quote(l.URL), quote(l.Rel), quote(l.Text), name)
		case (name == "iframe" || name == "frame") && attribute == "src":
			fmt.Fprintf(&b, "<iframe src=\"%s\"></iframe>\n", quote(l.URL))
		}
	}
	a.Body = b.Bytes()
	return a, nil
}

func quote(t text) string { return html.EscapeString(string(t)) }
