package fetch

import (
	"bytes"
	"context"
	"fmt"
	"slices"
)

// RequestHead returns the head of a request in HTTP/1.1 form, with the empty line: the request as sent to the
// server, for the page store.
func (c *Client) RequestHead(req Request) ([]byte, error) {
	target, err := parseURL(req.URL)
	if err != nil {
		return nil, err
	}
	hr := c.build(context.Background(), target, &req)
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\n", hr.Method, target.RequestURI(), hr.Host)
	names := make([]string, 0, len(hr.Header))
	for name := range hr.Header {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		for _, value := range hr.Header[name] {
			fmt.Fprintf(&b, "%s: %s\r\n", name, value)
		}
	}
	b.WriteString("\r\n")
	return b.Bytes(), nil
}
