package weburl

import (
	"bytes"
	"strings"
)

// appendPath appends the segments of path, with dot segments resolved and odd bytes escaped. dst[root:]
// is a path that ends with "/"; this also holds after every iteration except the last.
func appendPath(dst []byte, root int, path string) []byte {
	for {
		end := segmentEnd(path)
		last := end == len(path)
		switch dots(path[:end]) {
		case 1:
		case 2:
			if len(dst) > root+1 {
				dst = parent(dst[:len(dst)-1], root)
			}
		default:
			dst = appendEscaped(dst, path[:end], pathEscapes)
			if !last {
				dst = append(dst, '/')
			}
		}
		if last {
			return dst
		}
		path = path[end+1:]
	}
}

func segmentEnd(path string) int {
	for i := range len(path) {
		if isSlash(path[i]) {
			return i
		}
	}
	return len(path)
}

// parent cuts dst after the last slash of the path that begins at root.
func parent(dst []byte, root int) []byte {
	return dst[:root+bytes.LastIndexByte(dst[root:], '/')+1]
}

// dots returns 1 for "." and 2 for "..", also if written with %2e; else 0.
func dots(segment string) int {
	if segment == "" || len(segment) > len("%2e%2e") || segment[0] != '.' && segment[0] != '%' {
		return 0
	}
	n := 0
	for segment != "" {
		switch {
		case segment[0] == '.':
			segment = segment[1:]
		case len(segment) >= 3 && segment[:2] == "%2" && lower(segment[2]) == 'e':
			segment = segment[3:]
		default:
			return 0
		}
		n++
	}
	if n > 2 {
		return 0
	}
	return n
}

// appendNormPath appends a path in canonical form. Dot segments, including those written with %2e, are
// already resolved, so decoding creates no new ones.
func appendNormPath(dst []byte, path string) []byte {
	for len(path) > 1 && path[len(path)-1] == '/' {
		path = path[:len(path)-1]
	}
	if strings.IndexByte(path, '%') < 0 {
		return append(dst, path...)
	}
	return appendUnescaped(dst, path)
}
