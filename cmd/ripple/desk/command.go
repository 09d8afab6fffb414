package desk

import (
	"bytes"
	"context"
	"os/exec"
	"strings"
)

// An Ended is a command that failed, and its message.
type Ended struct {
	Code int // exit code
	Text string
}

func (e *Ended) Error() string { return e.Text }

// Run runs a command that ends with its standard input (see [EndWithInput]), in a group of its own,
// and returns what it prints, unless its output is redirected. When ctx is done, the command is
// killed. The error is an [Ended] if the command has said why it failed.
func Run(ctx context.Context, cmd *exec.Cmd) ([]byte, error) {
	apart(cmd)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	defer stdin.Close()
	var out, said bytes.Buffer
	cmd.Stderr = &firstBytes{&said}
	if cmd.Stdout == nil {
		cmd.Stdout = &out
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })
	err = cmd.Wait()
	switch text := strings.TrimSpace(said.String()); {
	case err == nil:
		stop()
	case !stop():
		err = context.Cause(ctx)
	case text != "":
		err = &Ended{cmd.ProcessState.ExitCode(), strings.TrimPrefix(text, "ripple: ")}
	}
	return out.Bytes(), err
}
