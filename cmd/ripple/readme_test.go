package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestREADME runs every command that the README shows in a console block, one
// after the other in one folder, and checks its exit code: 0 unless a comment
// says otherwise.
func TestREADME(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(t.TempDir(), "ripple")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	dir, ran := t.TempDir(), 0
	for _, line := range consoleLines(string(text)) {
		command, comment, _ := strings.Cut(strings.TrimPrefix(line, "$ "), "  # ")
		cmd := exec.Command("sh", "-c", command)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(binary)+":"+os.Getenv("PATH"))
		out, _ := cmd.CombinedOutput()
		want := 0
		if comment == "exit 1" {
			want = 1
		}
		if got := cmd.ProcessState.ExitCode(); got != want {
			t.Errorf("%s: exit %d, want %d\n%s", command, got, want, out)
		}
		if len(out) == 0 {
			t.Errorf("%s: says nothing", command)
		}
		ran++
	}
	if ran < 6 {
		t.Errorf("%d commands found in the README", ran)
	}
}

func consoleLines(text string) []string {
	var lines []string
	inside := false
	for line := range strings.SplitSeq(text, "\n") {
		switch {
		case strings.HasPrefix(line, "```"):
			inside = line == "```console"
		case inside && strings.HasPrefix(line, "$ "):
			lines = append(lines, line)
		}
	}
	return lines
}
