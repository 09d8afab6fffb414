package main

import (
	"os/exec"
	"runtime"

	"github.com/sumi-ripple/ripple/cmd/ripple/desk"
)

// browse shows a desk in the browser of whoever called, if there is one.
func browse(d *desk.Desk, v *voice) {
	entrance, err := d.Entrance()
	if err == nil {
		err = openBrowser(entrance)
	}
	if err != nil {
		v.warn(remark{"the browser cannot be opened: " + err.Error(), "no browser", nil})
	}
}

// openBrowser shows an address in the browser of whoever called.
func openBrowser(address string) error {
	var cmd *exec.Cmd
	switch runtime.GOOS {
	case "windows":
		cmd = exec.Command("rundll32", "url.dll,FileProtocolHandler", address)
	case "darwin":
		cmd = exec.Command("open", address)
	default:
		cmd = exec.Command("xdg-open", address)
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}
