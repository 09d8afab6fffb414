package session

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
)

// A configuration that is reloaded after the end of the walk is left to the next crawl, with a
// message.
func TestReloadTooLate(t *testing.T) {
	t.Parallel()
	var told bytes.Buffer
	v, path := term.NewVoice(&told), filepath.Join(t.TempDir(), "config.toml")
	text := surveytest.Minimal + "[state]\npath = \"ripple.bolt\"\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := statefile.LoadConfig(path, v)
	if err != nil {
		t.Fatal(err)
	}
	sender, err := NewSender(cfg, v.Logger())
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	c, _, err := crawl.Begin(ctx, crawltest.Open(t, cfg.State.Path), crawl.Options{Config: cfg, Log: v.Logger()})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Run(ctx); err != nil {
		t.Fatal(err)
	}
	w := newWalk(v, path, cfg)
	w.sender, w.crawl = sender, c
	w.writing.Store(true)
	if _, err := w.reload(); !errors.Is(err, errOver) ||
		!strings.Contains(told.String(), "the next one reads the configuration again") {
		t.Errorf("%v\n%s", err, told.String())
	}
	if w.cfg.Load() != cfg {
		t.Error("the outputs follow the configuration all the same")
	}
}
