package serve

import (
	"os"
	"os/exec"
	"strconv"
	"strings"

	"github.com/sumi-ripple/ripple/cmd/ripple/desk"
	"github.com/sumi-ripple/ripple/cmd/ripple/output"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
)

// deskExports returns the exports that can be ordered at the desk of a state file.
func deskExports(path string) *desk.Exports {
	var offers []desk.Format
	for _, f := range output.Formats() {
		if f.Offer.Name != "" {
			offers = append(offers, f.Offer)
		}
	}
	return &desk.Exports{
		Formats: offers,
		Command: func(o desk.Order, target string) (*exec.Cmd, error) {
			return ordered(exportArgs(o, path, target)...)
		},
	}
}

// exportArgs returns the arguments of the command that writes the same export.
func exportArgs(o desk.Order, path, target string) []string {
	args := []string{"export", "--quiet", "--state", path, "--" + o.Format, target}
	if o.Format == "summary" {
		args = []string{"summary", "--quiet", "--state", path, "--out", target}
	}
	with := strings.Join(o.With, ",")
	if o.Format == "opml" {
		with = ""
	}
	for flag, value := range map[string]string{
		"--level": o.Level, "--run": o.Run, "--without": strings.Join(o.Without, ","),
		"--kinds": strings.Join(o.Kinds, ","), "--only": strings.Join(o.Only, ","), "--with": with,
	} {
		if value != "" {
			args = append(args, flag+"="+value)
		}
	}
	if o.MinWeight > 0 {
		args = append(args, "--min-weight", strconv.Itoa(o.MinWeight))
	}
	return args
}

// ordered returns the command that runs an order of a desk.
func ordered(args ...string) (*exec.Cmd, error) {
	self, err := term.ThisProgram()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, append([]string{"ordered", "--"}, args...)...)
	cmd.Args[0] = os.Args[0]
	return cmd, nil
}
