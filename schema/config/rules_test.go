package config

import (
	"errors"
	"strings"
	"testing"
)

// One file named twice: the later write would replace the earlier one, or the map.
func TestWrittenTwice(t *testing.T) {
	_, _, err := parseText(minimal + "[output]\ndatabase-path = \"ripple.bolt\"\nmap-path = \"x\"\n" +
		"[monitor]\nreport-path = \"./a/../x\"\nmetrics-csv = \"m\"\ntoken-file = \"./m\"\n")
	var got *Errors
	if !errors.As(err, &got) || len(got.List) != 3 {
		t.Fatalf("%v", err)
	}
	for i, want := range []string{"[output] database-path: [state] path names that file, too",
		"[monitor] report-path: [output] map-path names that file, too",
		"[monitor] token-file: [monitor] metrics-csv names that file, too"} {
		if got.List[i].Text != want || got.List[i].Line == 0 {
			t.Errorf("line %d: %q, want %q", got.List[i].Line, got.List[i].Text, want)
		}
	}
}

// A seed that is a pattern, not a URL.
func TestPatternAsSeed(t *testing.T) {
	text := strings.Replace(minimal, `domain = "`, `domain = "*.`, 1)
	_, _, err := parseText(strings.Replace(text, `seeds = ["https://`, `seeds = ["https://*.`, 1))
	const want = `"https://*.example.com/" is a pattern, not a URL: name one of its hosts`
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v", err)
	}
}

// A list file given as a URL.
func TestListAtURL(t *testing.T) {
	_, _, err := parseText(minimal + "[[blacklist]]\nfile = \"https://lists.test/hosts.txt\"\n")
	const want = `[[blacklist]] file: "https://lists.test/hosts.txt" is a URL: download it, and name the file`
	var got *Errors
	if !errors.As(err, &got) || len(got.List) != 1 || got.List[0].Text != want {
		t.Errorf("%v, want %s", err, want)
	}
}
