package demo

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/schema/config"
)

// Served returns an error if the configuration is that of a demonstration and no process serves its web.
// Any other configuration, and one that cannot be read, is nothing to complain about here.
func Served(path string) error {
	dir := filepath.Dir(path)
	if _, err := os.Stat(filepath.Join(dir, demoMark)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	cfg, _, err := config.Load(path)
	if err != nil {
		return nil
	}
	addr := cfg.Network.ConnectTo["*.test"]
	if addr == "" {
		return nil
	}
	conn, err := net.DialTimeout("tcp", addr, time.Second) // it is on this machine
	if err == nil {
		return conn.Close()
	}
	return term.Usage("this is the folder of the demo, and nothing serves its web at %s now; run "+
		"\"ripple demo --serve --dir %s\" and leave it running (it replaces what is in the folder), then crawl here again",
		addr, term.Shown(dir))
}
