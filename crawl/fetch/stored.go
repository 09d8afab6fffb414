package fetch

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/sumi-ripple/ripple/crawl/media"
)

// Stored returns the response that an archive keeps, as [Client.Do] would have returned it at that time: its body is
// still encoded, see [Response.Decode], and a type is detected if the header of a 2xx declares no valid one.
func (c *Client) Stored(url string, status int, header http.Header, body []byte, at time.Time) (*Response, error) {
	b := newBody(c, header["Content-Encoding"], &Request{URL: url})
	b.cut, b.budget = status >= 400, nil
	res := &Response{Status: status, Header: header, FirstByte: at, Done: at}
	err := b.chunks.fill(bytes.NewReader(body), b.most()+1)
	if b.ended = err == io.EOF; !b.ended && err != nil {
		return nil, err
	}
	if _, err := encodingNames(b.encoding); err != nil {
		b.release()
		return res, asError(err, bodyCause(err), "read body")
	}
	if media.Extract(header.Get("Content-Type")).Essence == "" && status/100 == 2 {
		head, _, err := b.head()
		if err != nil {
			b.release()
			return res, asError(err, bodyCause(err), "read body")
		}
		res.Sniffed, _, _ = strings.Cut(http.DetectContentType(head), ";")
		header.Set("Content-Type", res.Sniffed)
	}
	res.came = b
	return res, nil
}
