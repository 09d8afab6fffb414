package serve

import (
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/sumi-ripple/ripple/cmd/ripple/desk"
	"github.com/sumi-ripple/ripple/schema/config"
)

// The argument of a browser is a file that only this user can read, and that is removed in the end.
// It leads to the desk without containing the token.
func TestEntrancePage(t *testing.T) {
	d, err := desk.Listen(desk.Options{Monitor: config.Monitor{Listen: "127.0.0.1:0"}, Reader: &desk.Reader{}})
	if err != nil {
		t.Fatal(err)
	}
	address, remove, err := entrancePage(d)
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "file" {
		t.Fatalf("%s, %v", address, err)
	}
	path := filepath.FromSlash(u.Path)
	if runtime.GOOS != "windows" {
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", info, err)
		}
	}
	_, token, _ := strings.Cut(d.Programs(), "Bearer ")
	text, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(text), "/#token=") || strings.Contains(string(text), token) {
		t.Errorf("%s, %v", text, err)
	}
	remove()
	if _, err := os.Stat(path); err == nil {
		t.Error("the file is left")
	}
}
