package serve

import (
	"fmt"
	"html"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/sumi-ripple/ripple/cmd/ripple/desk"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/export/atomicfile"
)

// Browse shows a desk in the user's browser, if there is one. done removes the file that the browser opens.
func Browse(d *desk.Desk, v *term.Voice) (done func()) {
	page, done, err := entrancePage(d)
	if err == nil {
		err = openBrowser(page)
	}
	if err != nil {
		v.Warn(term.Event("no browser", "the browser cannot be opened: "+err.Error()))
	}
	return done
}

// entrancePage writes a file that redirects a browser to a desk. The address of the desk admits the first client that
// uses it, and every user of this machine can read the arguments of a program. So the browser gets the name of a file
// that only this user can read.
func entrancePage(d *desk.Desk) (path string, remove func(), err error) {
	entrance, err := d.Entrance()
	if err != nil {
		return "", func() {}, err
	}
	dir, remove, err := atomicfile.Scratch(os.TempDir())
	if err != nil {
		return "", func() {}, err
	}
	path = filepath.Join(dir, "desk.html")
	text := fmt.Sprintf("<!DOCTYPE html>\n<meta charset=\"utf-8\">\n<title>Ripple</title>\n"+
		"<meta http-equiv=\"refresh\" content=\"0; url=%[1]s\">\n<a href=\"%[1]s\">The desk</a>\n",
		html.EscapeString(entrance))
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		remove()
		return "", func() {}, err
	}
	slashed := filepath.ToSlash(path)
	if runtime.GOOS == "windows" {
		slashed = "/" + slashed
	}
	return (&url.URL{Scheme: "file", Path: slashed}).String(), remove, nil
}

// openBrowser shows an address in the user's browser.
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
