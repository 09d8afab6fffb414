package crawl

import (
	"fmt"
	"path"
	"strings"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/sumi-ripple/ripple/crawl/fetch"
	"github.com/sumi-ripple/ripple/crawl/page"
	"github.com/sumi-ripple/ripple/schema/config"
	"github.com/sumi-ripple/ripple/schema/terrain"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// settings are what one effective configuration means for the ring. They are
// immutable: a changed configuration is another value, and every step carries
// the one that it was planned under.
type settings struct {
	cfg      *config.Config
	terrain  *terrain.Terrain
	rules    *weburl.Rules
	client   *fetch.Client
	extracts []page.Extract
	sealed   *semaphore.Weighted // bytes of pages that wait to be stored
}

func newSettings(cfg *config.Config) (*settings, error) {
	client, err := fetch.New(fetch.Config{
		UserAgent:      cfg.UserAgentString(),
		ConnectTimeout: cfg.Retry.ConnectTimeout,
		Timeout:        cfg.Retry.Timeout,
		MaxBytes:       cfg.Content.MaxResponseBytes,
		Compress:       cfg.Content.Compress,
		HTTP2:          cfg.Network.HTTP2,
		KeepAlive:      cfg.Network.KeepAlive,
		Proxy:          cfg.Network.Proxy,
		CAFile:         cfg.Network.CAFile,
		ConnectTo:      cfg.Network.ConnectTo,
		AllowPrivate:   cfg.Network.AllowPrivate,
		MaxOpen:        cfg.Crawler.MaxConcurrentPagesOpen,
	})
	if err != nil {
		return nil, err
	}
	s := &settings{cfg: cfg, terrain: cfg.Terrain(), rules: cfg.Rules(), client: client, sealed: newSealedBound()}
	for _, e := range cfg.Extracts {
		extract, err := page.NewExtract(e.Name, e.Selector, e.Attr)
		if err != nil {
			return nil, fmt.Errorf("extract %q: %w", e.Name, err)
		}
		if e.Domain != nil {
			extract.On = e.Domain.Match
		}
		s.extracts = append(s.extracts, extract)
	}
	return s, nil
}

// exempt reports whether a host has no address of its own to be spared: it is
// reached through connect-to or a proxy.
func (s *settings) exempt(host string) bool { return s.client.Mapped(host) || s.client.Proxy() != "" }

// accepts reports whether a body of the content type may be read (SPEC 2
// [content]): named by accept-content-types and not by reject-content-types.
func (s *settings) accepts(contentType string) bool {
	media := mediaType(contentType)
	return matchesAny(s.cfg.Content.AcceptContentTypes, media) && !matchesAny(s.cfg.Content.RejectContentTypes, media)
}

func matchesAny(patterns []string, media string) bool {
	for _, p := range patterns {
		if prefix, ok := strings.CutSuffix(p, "*"); ok && strings.HasPrefix(media, strings.ToLower(prefix)) || strings.EqualFold(p, media) {
			return true
		}
	}
	return false
}

func mediaType(contentType string) string {
	media, _, _ := strings.Cut(contentType, ";")
	return strings.ToLower(strings.TrimSpace(media))
}

func isHTML(contentType string) bool {
	media := mediaType(contentType)
	return media == "text/html" || media == "application/xhtml+xml"
}

// asksHead reports whether a page is asked by HEAD first (SPEC 6).
func (s *settings) asksHead(pathQuery string) bool {
	switch s.cfg.Crawler.HeadCheck {
	case config.HeadNever:
		return false
	case config.HeadAlways:
		return true
	}
	p, _, _ := strings.Cut(pathQuery, "?")
	switch strings.ToLower(path.Ext(p)) {
	case "", ".htm", ".html", ".xhtml", ".shtml", ".php", ".asp", ".aspx", ".jsp", ".cgi", ".pl", ".cfm", ".do":
		return false
	}
	return true
}

// timeout returns the time limit of a try, counted from 0.
func (s *settings) timeout(tries int) time.Duration {
	return s.cfg.Retry.Timeout + time.Duration(tries)*s.cfg.Retry.TimeoutStep
}

// sitemapsOnly reports whether only seeds and URLs of sitemaps are visited.
func (s *settings) sitemapsOnly() bool { return s.cfg.Crawler.Sitemaps == config.SitemapsOnly }
