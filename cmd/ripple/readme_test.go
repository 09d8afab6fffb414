package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sumi-ripple/ripple/cmd/ripple/docs"
)

// TestREADME runs every command that the README shows in a console block, one after another in one
// folder. It checks the exit code, 0 unless a comment says otherwise, and that the output contains
// what is shown below the command.
func TestREADME(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if n := runConsole(t, string(text), t.TempDir()); n < 6 {
		t.Errorf("%d commands found in the README", n)
	}
}

// TestTopics runs the commands that the topics of "ripple help" show, in the folder of the demo, as TestREADME does.
func TestTopics(t *testing.T) {
	t.Parallel()
	demo := ripple("demo", "-q")
	demo.Dir = t.TempDir()
	if out, err := demo.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, topic := range docs.Topics() {
		if topic.Name == "archives" { // see TestArchives
			continue
		}
		runConsole(t, topic.Text, filepath.Join(demo.Dir, "ripple-demo"))
	}
}

// runConsole runs the commands in a text, beginning in a folder. It returns their number.
func runConsole(t *testing.T, text, dir string) int {
	t.Helper()
	shown := consoleCommands(text)
	for _, c := range shown {
		if strings.HasPrefix(c.line, "curl ") && !c.served(t, dir) {
			continue
		}
		out, code, now := c.run(t, dir)
		dir = now
		if code != c.code {
			t.Errorf("%s: exit %d, want %d\n%s", c.line, code, c.code, out)
		}
		if len(out) == 0 {
			t.Errorf("%s: says nothing", c.line)
		}
		if missing := c.missing(out); missing != "" {
			t.Errorf("%s does not say %q in its place:\n%s", c.line, missing, out)
		}
	}
	return len(shown)
}

// A consoleCommand is a command in a console block, with its shown output.
type consoleCommand struct {
	line string
	code int
	says []string // lines in order; "...": there may be others
	env  []string
}

// served serves the state in a folder for the command. It reports whether the necessary program
// exists.
func (c *consoleCommand) served(t *testing.T, dir string) bool {
	t.Helper()
	if _, err := exec.LookPath("curl"); err != nil {
		t.Logf("%s is not tried: %v", c.line, err)
		return false
	}
	cmd := ripple("serve", "--listen", "127.0.0.1:0")
	cmd.Dir = dir
	address, _ := servedDesk(t, cmd)
	desk, token, _ := strings.Cut(address, "/ ")
	c.env = []string{"DESK=" + desk, "TOKEN=" + token}
	return true
}

// run returns the output of a command, its exit code, and the folder in which it leaves the shell.
func (c *consoleCommand) run(t *testing.T, dir string) (out string, code int, now string) {
	t.Helper()
	left := filepath.Join(t.TempDir(), "folder")
	cmd := exec.Command("sh", "-c", c.line+"; code=$?; pwd >'"+left+"'; exit $code")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), c.env...)
	said, _ := cmd.CombinedOutput()
	folder, err := os.ReadFile(left)
	if err != nil {
		t.Fatal(err)
	}
	return string(said), cmd.ProcessState.ExitCode(), strings.TrimSpace(string(folder))
}

// missing returns the first shown line that is not in its place in the output.
func (c *consoleCommand) missing(out string) string {
	lines, skip := strings.Split(strings.TrimSpace(out), "\n"), false
	for _, want := range c.says {
		if want == "..." {
			skip = true
			continue
		}
		for skip && len(lines) > 0 && strings.TrimRight(lines[0], " ") != want {
			lines = lines[1:]
		}
		if len(lines) == 0 || strings.TrimRight(lines[0], " ") != want {
			return want
		}
		lines, skip = lines[1:], false
	}
	return ""
}

func consoleCommands(text string) []consoleCommand {
	var commands []consoleCommand
	inside := false
	for line := range strings.SplitSeq(text, "\n") {
		switch {
		case strings.HasPrefix(line, "```"):
			inside = line == "```console"
		case inside && strings.HasPrefix(line, "$ "):
			command, comment, _ := strings.Cut(strings.TrimPrefix(line, "$ "), "  # ")
			c := consoleCommand{line: command}
			if comment == "exit 1" {
				c.code = 1
			}
			commands = append(commands, c)
		case inside && len(commands) > 0:
			last := &commands[len(commands)-1]
			if strings.Count(last.line, `"`)%2 == 1 { // a quoted text continues
				last.line += "\n" + line
				continue
			}
			last.says = append(last.says, line)
		}
	}
	return commands
}
