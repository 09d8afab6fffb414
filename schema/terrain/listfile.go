package terrain

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strings"
)

// maxLine is the longest line of a list file that can hold a name.
const maxLine = 4096

// ParseListFile reads names, one or more patterns a line:
//
//	ads.example.net            that name
//	*.example.net              and what is below it
//	||example.net^             likewise
//	0.0.0.0 ads.example.net    a hosts file: that name
//
// Comments begin with "#" or "!", sections with "[". Lines that hold anything else
// (options, exceptions, element rules, paths) are skipped and counted; the names of
// a hosts file that are the machine's own, such as localhost, are passed over. The
// patterns stand in the order of the file, repetitions included. The error is that
// of the reader.
func ParseListFile(r io.Reader) (patterns []Pattern, skipped int, err error) {
	lines := bufio.NewReaderSize(r, maxLine)
	for first := true; ; first = false {
		line, err := readLine(lines)
		if err != nil && err != io.EOF {
			return patterns, skipped, fmt.Errorf("read list: %w", err)
		}
		if first {
			line = strings.TrimPrefix(line, "\ufeff")
		}
		var ok bool
		if patterns, ok = appendLine(patterns, line); !ok {
			skipped++
		}
		if err == io.EOF {
			return patterns, skipped, nil
		}
	}
}

// readLine returns the next line; one that is too long becomes "\x00", which is no
// name.
func readLine(r *bufio.Reader) (string, error) {
	slice, err := r.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return string(slice), err
	}
	for errors.Is(err, bufio.ErrBufferFull) {
		_, err = r.ReadSlice('\n')
	}
	return "\x00", err
}

// appendLine adds the patterns of one line and reports whether it was understood.
func appendLine(patterns []Pattern, line string) ([]Pattern, bool) {
	if elementRule(line) {
		return patterns, false
	}
	line = strings.TrimSpace(withoutComment(line))
	if line == "" {
		return patterns, true
	}
	fields := strings.Fields(line)
	if len(fields) == 1 {
		p, ok := parseName(line)
		if !ok {
			return patterns, false
		}
		return append(patterns, p), true
	}
	if _, err := netip.ParseAddr(fields[0]); err != nil {
		return patterns, false
	}
	return appendHosts(patterns, fields[1:])
}

func appendHosts(patterns []Pattern, names []string) ([]Pattern, bool) {
	whole := true
	for _, name := range names {
		if !strings.Contains(name, ".") || name == "localhost.localdomain" || isIP(name) {
			continue
		}
		p, _, err := parsePattern(name)
		if err != nil || p.below {
			whole = false
			continue
		}
		patterns = append(patterns, p)
	}
	return patterns, whole
}

// parseName reads "name", "*.name" and "||name^".
func parseName(s string) (Pattern, bool) {
	name, below := strings.CutPrefix(s, "||")
	if below {
		if name, below = strings.CutSuffix(name, "^"); !below || strings.Contains(name, "*") {
			return Pattern{}, false
		}
	}
	p, _, err := parsePattern(name)
	if err != nil || below && isIP(p.base) {
		return Pattern{}, false
	}
	p.below = p.below || below
	return p, true
}

// elementRule reports whether a line is a rule for the elements of all pages, as
// "##.banner" or "#@#div": unlike a comment it has a selector right behind its signs.
func elementRule(line string) bool {
	signs, ok := strings.CutPrefix(strings.TrimSpace(line), "#")
	if !ok {
		return false
	}
	at := strings.IndexByte(signs, '#')
	if at < 0 || strings.Trim(signs[:at], "@?$%") != "" {
		return false
	}
	selector := strings.TrimLeft(signs[at:], "#")
	return selector != "" && !strings.ContainsRune(" \t-=", rune(selector[0]))
}

// withoutComment cuts what follows a "#" at the start of the line or after a space;
// elsewhere the sign belongs to a rule that is no name.
func withoutComment(line string) string {
	if strings.HasPrefix(line, "!") || strings.HasPrefix(line, "[Adblock") {
		return ""
	}
	for i := range len(line) {
		if line[i] == '#' && (i == 0 || line[i-1] == ' ' || line[i-1] == '\t') {
			return line[:i]
		}
	}
	return line
}
