package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sumi-ripple/ripple/cmd/ripple/output"
	"github.com/sumi-ripple/ripple/cmd/ripple/seeds"
	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/gctune"
	"github.com/sumi-ripple/ripple/schema/config"
)

// reload reads the configuration file again and resumes under it. The channel is closed when the
// crawl follows it. If the crawl cannot, reload reports that and returns the reason.
func (w *walk) reload() (followed <-chan struct{}, err error) {
	w.reloading.Lock()
	defer w.reloading.Unlock()
	if w.check != nil {
		w.log.Warn(errCheck.Text)
		return nil, errCheck
	}
	if w.writing.Load() {
		w.log.Warn(errOver.Text + ": the next one reads the configuration again")
		return nil, errOver
	}
	if err := w.crawl.HasRoom(); errors.Is(err, crawl.ErrNoRoom) {
		w.log.Error("the configuration is not taken; the crawl goes on as before", "error", err)
		return nil, term.Hint(err, "make room there and reload again")
	}
	cfg, err := w.readAgain()
	if err != nil {
		for line := range strings.Lines(term.Complaint(err)) {
			w.log.Error("the configuration is wrong", "error", strings.TrimSpace(line))
		}
		w.log.Error("the configuration is not taken; the crawl goes on as before")
		return nil, err
	}
	w.voice.Say("the configuration was read again; it applies from now on")
	for _, key := range atStart(&w.cfg.Load().Monitor, &cfg.Monitor) {
		w.log.Warn("[monitor] " + key + " applies from the next start")
	}
	w.cfg.Store(cfg) // before the limit, which is checked every few seconds
	w.limitMemory(term.CrawlMemory(cfg))
	return w.crawl.Reload(cfg), nil
}

// readAgain reads the current configuration file, and reports why it cannot be followed.
func (w *walk) readAgain() (*config.Config, error) {
	cfg, err := statefile.LoadConfig(w.path, w.voice)
	if err == nil {
		seeds := seeds.Extra{AsQuality: w.seeds.AsQuality, URLs: w.seeds.URLs}
		cfg, err = seeds.JoinKept(cfg, 0) // seeds that are refused now may be accepted later
	}
	if err == nil {
		err = w.mayFollow(cfg)
	}
	if err == nil {
		err = w.crawl.Admits(context.Background(), cfg)
	}
	if err == nil && cfg.Network.Proxy != w.cfg.Load().Network.Proxy {
		err = warnOfProxy(w.voice, cfg)
	}
	if err == nil {
		err = w.sender.Follow(cfg)
	}
	return cfg, err
}

// atStart returns those keys of [monitor] that differ and that a crawl reads only at its start.
func atStart(old, now *config.Monitor) (keys []string) {
	for _, key := range []struct {
		name string
		same bool
	}{
		{"listen", old.Listen == now.Listen}, {"token-file", old.TokenFile == now.TokenFile},
		{"hosts", slices.Equal(old.Hosts, now.Hosts)}, {"cert-file", old.CertFile == now.CertFile},
		{"key-file", old.KeyFile == now.KeyFile}, {"metrics-csv", old.MetricsCSV == now.MetricsCSV},
	} {
		if !key.same {
			keys = append(keys, key.name)
		}
	}
	return keys
}

// mayFollow returns an error if a running crawl cannot change to a configuration.
func (w *walk) mayFollow(cfg *config.Config) error {
	old := w.cfg.Load()
	switch {
	case cfg.State.Path != old.State.Path:
		return fmt.Errorf("[state] path cannot change while a crawl runs")
	case cfg.URLIdentity() != old.URLIdentity():
		return fmt.Errorf("[url] cannot change; stop the crawl and use --fresh")
	}
	if err := term.CrawlMemory(cfg).Allows(gctune.Live()); err != nil {
		return err
	}
	return errors.Join(output.Refuse(cfg), refusePages(cfg.Pages))
}
