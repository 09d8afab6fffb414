package config

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the generated part of the documentation")

// TestReference compares the configuration reference with the tables of keys. Run with -update to write
// it.
func TestReference(t *testing.T) {
	const path = "../../cmd/ripple/docs/configuration.md"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, _, found := strings.Cut(string(text), "\n## `[")
	if !found && !*update {
		t.Fatalf("%s has no reference", path)
	}
	want := strings.TrimRight(head, "\n") + "\n" + reference()
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(text) != want {
		t.Errorf("%s differs from the tables of keys; run go test ./schema/config -run TestReference -update", path)
	}
}

// reference lists every table and key in Markdown, in the order of the sample.
func reference() string {
	var b strings.Builder
	for _, t := range declared() {
		fmt.Fprintf(&b, "\n## `%s`\n\n%s\n\n", t.header(), t.doc)
		for _, k := range t.keys {
			if !k.stored {
				b.WriteString(k.item())
			}
		}
	}
	return b.String()
}

// item formats a key as a list item: its default, or that it is required, and its meaning.
func (k *key) item() string {
	shown := "`" + k.name + "`"
	switch text := k.text(); {
	case k.required:
		shown += ", required"
	case text != "":
		shown = "`" + k.name + " = " + text + "`"
	}
	return "- " + shown + ": " + k.doc + unitNote(*k) + "\n"
}
