package term

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl"
)

// hostileText would colour a terminal, change the writing direction and end a line; the joiner in
// it is Persian.
const hostileText = "a\u009b31m\u202eb\nc\u2066 می\u200cخواهم"

// dangerous are its characters that must not reach a terminal.
const dangerous = "\u009b\u202e\u2066"

// TestLogIsInert logs hostile text in every place of a line.
func TestLogIsInert(t *testing.T) {
	for _, format := range []string{"text", "json"} {
		var b bytes.Buffer
		log := slog.New(newLogHandler(NewScreen(&b), slog.LevelInfo, format))
		log.With("with", hostileText).Error(hostileText, "text", hostileText, "error", errors.New(hostileText))
		got := b.String()
		if strings.ContainsAny(got, dangerous) || strings.Count(got, "\n") != 1 {
			t.Errorf("%s: %q", format, got)
		}
		if strings.Count(got, "a31mb c") != 4 || !strings.Contains(got, "می\u200cخواهم") {
			t.Errorf("%s: text is lost: %q", format, got)
		}
	}
}

// TestJSONLog checks that programs can read the unit of a time and the name of a level.
func TestJSONLog(t *testing.T) {
	var b bytes.Buffer
	log := slog.New(newLogHandler(NewScreen(&b), crawl.LevelTrace, "json"))
	log.Log(t.Context(), crawl.LevelTrace, "page is tried again", "tries", 1, "wait", 1500*time.Millisecond)
	want := `"level":"TRACE","msg":"page is tried again","tries":1,"wait_seconds":1.5}`
	if got := b.String(); !strings.Contains(got, want) {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestJSONIsInert prints hostile text as JSON, without loss.
func TestJSONIsInert(t *testing.T) {
	var b bytes.Buffer
	if err := PrintJSON(&b, map[string]string{"title": hostileText}); err != nil {
		t.Fatal(err)
	}
	var got map[string]string
	if err := json.Unmarshal(b.Bytes(), &got); err != nil || got["title"] != hostileText {
		t.Errorf("%v, %q", err, got)
	}
	if strings.ContainsAny(b.String(), dangerous) {
		t.Errorf("%q", b.String())
	}
}
