// Package cdxj reads the lines of a CDXJ file, the index of a web archive that pywb, OutbackCDX and WACZ use: a key, a
// time and a JSON object, in the order of the keys.
//
//	com,example)/about 20150304050607 {"url": "http://www.example.com/about", "status": "200", "filename": "a.warc.gz"}
package cdxj

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// A Line is one capture.
type Line struct {
	Key    string // SURT of the URL; each tool has its own rules for it
	At     time.Time
	URL    string
	Status int    // HTTP status; 0: not said, as of most revisits
	File   string // WARC file; empty: not said
	Offset int64  // of the record in File, in bytes; -1: not said
}

// ErrNoCapture is returned for a line that describes no capture: an empty one, or one of a header.
var ErrNoCapture = errors.New("no capture")

// ErrMalformed is wrapped by the error for a line that cannot be read.
var ErrMalformed = errors.New("malformed line of an index")

// Key returns the key of a line.
func Key(line []byte) []byte {
	key, _, _ := bytes.Cut(line, []byte(" "))
	return key
}

// Parse reads a line without its end. Values of the object may be strings or numbers.
func Parse(line []byte) (Line, error) {
	line = bytes.TrimRight(line, "\r\n")
	if len(line) == 0 || line[0] == '!' || line[0] == ' ' {
		return Line{}, ErrNoCapture
	}
	key, rest, _ := bytes.Cut(line, []byte(" "))
	digits, object, found := bytes.Cut(rest, []byte(" "))
	if !found {
		return Line{}, fmt.Errorf("%w: it has less than three parts", ErrMalformed)
	}
	at, err := parseTime(string(digits))
	if err != nil {
		return Line{}, err
	}
	var o struct {
		URL      string
		Status   value
		Filename string
		Offset   value
	}
	if err := json.Unmarshal(object, &o); err != nil {
		return Line{}, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	l := Line{Key: string(key), At: at, URL: o.URL, File: o.Filename, Offset: -1}
	if status, err := strconv.ParseUint(string(o.Status), 10, 16); err == nil {
		l.Status = int(status)
	}
	if offset, err := strconv.ParseInt(string(o.Offset), 10, 64); err == nil {
		l.Offset = max(-1, offset)
	}
	return l, nil
}

// A value is a number, also one written as a string.
type value string

func (v *value) UnmarshalJSON(text []byte) error {
	*v = value(bytes.Trim(text, `"`))
	return nil
}

// parseTime reads a time of 4 to 17 digits: year, month, day, hour, minute, second and milliseconds, which are dropped.
func parseTime(digits string) (time.Time, error) {
	const layout, least = "20060102150405", "00000101000000"
	if len(digits) < 4 || len(digits) > 17 {
		return time.Time{}, fmt.Errorf("%w: its time has %d digits", ErrMalformed, len(digits))
	}
	digits = digits[:min(len(digits), len(layout))]
	at, err := time.Parse(layout, digits+least[len(digits):])
	if err != nil {
		return time.Time{}, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return at, nil
}
