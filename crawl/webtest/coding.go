package webtest

import (
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// newEncoder returns an encoder for a content coding: gzip, br or zstd.
func newEncoder(w io.Writer, coding string) io.WriteCloser {
	switch coding {
	case "br":
		return brotli.NewWriterLevel(w, brotli.DefaultCompression)
	case "zstd":
		// With these options there is no error.
		enc, _ := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
		return enc
	default:
		return gzip.NewWriter(w)
	}
}

// acceptedCoding returns the first offered coding that the request accepts, or "".
func acceptedCoding(header http.Header, offered []string) string {
	if len(offered) == 0 {
		return ""
	}
	accept := strings.Join(header.Values("Accept-Encoding"), ",")
	for _, coding := range offered {
		if accepts(accept, coding) {
			return coding
		}
	}
	return ""
}

func accepts(accept, coding string) bool {
	any := false
	for part := range strings.SplitSeq(accept, ",") {
		name, params, _ := strings.Cut(part, ";")
		name = strings.ToLower(strings.TrimSpace(name))
		if name == coding {
			return !refused(params)
		}
		any = any || name == "*" && !refused(params)
	}
	return any
}

// refused reports whether a coding has a weight of zero.
func refused(params string) bool {
	_, q, ok := strings.Cut(strings.ReplaceAll(params, " ", ""), "q=")
	weight, err := strconv.ParseFloat(q, 64)
	return ok && err == nil && weight == 0
}
