package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// File names may contain characters that control a terminal. No message passes them on.
func TestNamesInMessages(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "x\x1b]0;pwn\x07\x1b[31m\u009b\u202e")
	none, text, folder := name+".none", name+".toml", name+".d"
	if err := os.WriteFile(text, []byte("max = 1"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"crawl", text}, {"crawl", none}, {"crawl", folder}, {"reclassify", text}, {"stats", "--config", text},
		{"stats", "--state", text}, {"stats", "--state", none}, {"stats", "--state", folder}, {"merge", none, "-o", "u"},
		{"merge", text, "-o", "u"}, {"verify", "--state", text}, {"verify", "--state", folder}, {"prune", "--state", text},
		{"hub", "--listen", "127.0.0.1:0", "--store", text}, {"hub", "--token-file", text}, {"hub", "--nkeys", none},
		{"hub", "--cert", none, "--key", none}, {"serve", "--state", text}, {"serve", "--state", none},
		{"export", "--state", none, "--gexf", name}, {"init", text}, {"webhook", "test", "--config", text},
		{"webhook", "test", "--config", none}, {"diff", "--state", none}, {"decide", "--config", text}, {name},
	} {
		for _, log := range []string{"text", "json"} {
			_, told, code := ran(t, append(args, "--log-format", log)...)
			if code == 0 || told == "" || strings.ContainsAny(told, "\x1b\x07\u009b\u202e") {
				t.Errorf("%q, %s: %d %q", args, log, code, told)
			}
		}
	}
}
