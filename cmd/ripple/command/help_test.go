package command

import (
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Every command's help says what it does and shows an example, on lines of 88 characters.
func TestHelp(t *testing.T) {
	root := newRootCommand(newApp(New(io.Discard, io.Discard)))
	for _, c := range append(root.Commands(), root) {
		if c.Hidden || c.IsAdditionalHelpTopicCommand() {
			continue
		}
		t.Run(c.Name(), func(t *testing.T) { checkHelp(t, c) })
	}
}

// The flags of every command are listed once, by the help of ripple.
func TestGlobalFlags(t *testing.T) {
	root := newRootCommand(newApp(New(io.Discard, io.Discard)))
	c, _, err := root.Find([]string{"path"})
	if err != nil {
		t.Fatal(err)
	}
	text := c.UsageString()
	if strings.Contains(text, "Global Flags") || !strings.HasSuffix(text, everywhere+"\n") {
		t.Errorf("the help of path ends with %q", text)
	}
	c.InheritedFlags().VisitAll(func(f *pflag.Flag) {
		if !strings.Contains(everywhere, "--"+f.Name) || !strings.Contains(root.UsageString(), "--"+f.Name) {
			t.Errorf("--%s is not named", f.Name)
		}
	})
}

func checkHelp(t *testing.T, c *cobra.Command) {
	if strings.HasSuffix(c.Short, ".") || c.Long != "" && !strings.HasSuffix(strings.TrimSpace(c.Long), ".") &&
		c.Name() != "export" {
		t.Errorf("Short is a phrase, Long are sentences: %q, %q", c.Short, c.Long)
	}
	if !strings.Contains(c.Example, "ripple") {
		t.Errorf("there is no example: %q", c.Example)
	}
	for line := range strings.Lines(c.Long) {
		if len(line) > 89 {
			t.Errorf("%d characters: %s", len(line), line)
		}
	}
}

// The usage of a command names its arguments, and its help explains them.
func TestHelpOfInspect(t *testing.T) {
	c, _, err := newRootCommand(newApp(New(io.Discard, io.Discard))).Find([]string{"inspect"})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"usage": c.Use, "short": c.Short, "long": c.Long, "example": c.Example} {
		if !strings.Contains(strings.ToLower(text), "host") && !strings.Contains(text, "inspect example.com") {
			t.Errorf("%s: no word of hosts: %s", name, text)
		}
	}
}
