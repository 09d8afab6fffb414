package ring

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/sumi-ripple/ripple/crawl/answers"
	"github.com/sumi-ripple/ripple/crawl/fetch"
	"github.com/sumi-ripple/ripple/crawl/media"
	"github.com/sumi-ripple/ripple/crawl/page"
	"github.com/sumi-ripple/ripple/crawl/render"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
	"github.com/sumi-ripple/ripple/schema/scope"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// Settings is one effective configuration as seen by the ring. It is immutable: a changed configuration is a
// new value, and every step carries the one that it was planned under.
type Settings struct {
	Config   *config.Config
	Scope    *scope.Scope
	Rules    *weburl.Rules
	Client   *fetch.Client
	Extracts []page.Extract

	// Renderer renders pages with Answers. A page occupies one of Seats, which other crawls may share, while
	// it is rendered. All are nil if no page is rendered.
	Renderer Renderer
	Seats    *semaphore.Weighted
	Answers  *answers.Cache

	held    *semaphore.Weighted // bytes of uncommitted outcomes
	maxHeld int64
}

// A Renderer renders pages, several at a time. The caller that opened it closes it.
type Renderer interface {
	Render(context.Context, render.Page, render.Answers) (render.Rendering, error)
	Close() error
}

// Close releases what the settings have opened.
func (s *Settings) Close() error {
	s.Client.Close()
	if s.Renderer == nil {
		return nil
	}
	return errors.Join(s.Renderer.Close(), s.Answers.Close())
}

// Renders reports whether a fetched page is to be rendered.
func (s *Settings) Renders(o *Outcome) bool {
	return s.Renderer != nil && o.Step.Kind != Probe && o.Page != nil && o.Length > 0 && IsHTML(o.ContentType) &&
		s.MayRender(weburl.Host(o.Step.Norm), o.Page.Shell)
}

// MayRender reports whether a page of a host with the given signs is to be rendered.
func (s *Settings) MayRender(host string, signs schema.Shell) bool {
	cfg := &s.Config.Render
	return cfg.Renders(host, len(s.Scope.OriginsOf(host)) > 0) && (signs != 0 || cfg.Mode == config.RenderAlways)
}

// NewSettings returns the settings of a configuration, with a client of its own. The caller closes them.
func NewSettings(cfg *config.Config) (*Settings, error) {
	return SharedSettings(cfg, new(fetch.Pool), 0)
}

// SharedSettings returns the settings of a configuration, with a client from a pool. The caller closes them.
// memory is a soft memory limit in bytes; 0: none.
func SharedSettings(cfg *config.Config, clients *fetch.Pool, memory int64) (*Settings, error) {
	client, err := clients.Client(fetch.Config{
		UserAgent:      cfg.UserAgentString(),
		AcceptLanguage: cfg.UserAgent.AcceptLanguage,
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
		Leased:         cfg.Cluster.Hub != "",
		MaxOpen:        cfg.MaxOpen(),
	})
	if err != nil {
		return nil, err
	}
	most := maxHeld(memory)
	s := &Settings{Config: cfg, Scope: cfg.Scope(), Rules: cfg.Rules(), Client: client,
		held: semaphore.NewWeighted(most), maxHeld: most}
	for _, e := range cfg.Extracts {
		extract, err := page.NewExtract(e.Name, e.Selector, e.Attr)
		if err != nil {
			client.Close()
			return nil, fmt.Errorf("extract %q: %w", e.Name, err)
		}
		if e.Domain != nil {
			extract.On = e.Domain.Match
		}
		s.Extracts = append(s.Extracts, extract)
	}
	return s, nil
}

// Exempt reports whether a host has no address of its own to be spared, because it is reached through
// connect-to or a proxy.
func (s *Settings) Exempt(host string) bool { return s.Client.Mapped(host) || s.Client.Proxied(host) }

// Accepts reports whether a body of the content type may be read: accept-content-types names it and
// reject-content-types does not.
func (s *Settings) Accepts(contentType string) bool {
	kind := MediaType(contentType)
	return matchesAny(s.Config.Content.AcceptContentTypes, kind) &&
		!matchesAny(s.Config.Content.RejectContentTypes, kind)
}

// ReadsOPML reports whether a body of the content type is read as a list of links if it is in OPML.
func (s *Settings) ReadsOPML(contentType string) bool {
	return s.Config.Crawler.OPML && media.Extract(contentType).MayBeOPML() &&
		!matchesAny(s.Config.Content.RejectContentTypes, MediaType(contentType))
}

func matchesAny(patterns []string, kind string) bool {
	for _, p := range patterns {
		prefix, wild := strings.CutSuffix(p, "*")
		if p == "*/*" || wild && strings.HasPrefix(kind, strings.ToLower(prefix)) || strings.EqualFold(p, kind) {
			return true
		}
	}
	return false
}

// MediaType returns the media type in a Content-Type, in lower case and without parameters. If it is invalid,
// the result is the text before a semicolon.
func MediaType(contentType string) string {
	if t := media.Extract(contentType); t.Essence != "" {
		return t.Essence
	}
	kind, _, _ := strings.Cut(contentType, ";")
	return strings.ToLower(strings.TrimSpace(kind))
}

// IsHTML reports whether bodies of a content type are searched for links.
func IsHTML(contentType string) bool { return media.Extract(contentType).IsHTML() }

// AsksHead reports whether a page is requested with HEAD first.
func (s *Settings) AsksHead(url string) bool {
	switch s.Config.Crawler.HeadCheck {
	case config.HeadNever:
		return false
	case config.HeadAlways:
		return true
	}
	return s.HeadSuffices(url) || !LikePage(weburl.PathQuery(url))
}

// HeadSuffices reports whether a page that answers HEAD with success is not requested with GET as well.
func (s *Settings) HeadSuffices(url string) bool {
	return s.Config.Crawler.HeadCheck == config.HeadOutside && len(s.Scope.OriginsOf(weburl.Host(url))) == 0
}

// LikePage reports whether a path has an ending typical of pages.
func LikePage(pathQuery string) bool {
	p, _, _ := strings.Cut(pathQuery, "?")
	switch strings.ToLower(path.Ext(p)) {
	case "", ".htm", ".html", ".xhtml", ".shtml", ".php", ".asp", ".aspx", ".jsp", ".cgi", ".pl", ".cfm", ".do":
		return true
	}
	return false
}

// Timeout returns the time limit of a try; tries counts from 0.
func (s *Settings) Timeout(tries int) time.Duration {
	return s.Config.Retry.Timeout + time.Duration(tries)*s.Config.Retry.TimeoutStep
}

// SitemapsOnly reports whether only seeds and URLs from sitemaps are visited.
func (s *Settings) SitemapsOnly() bool { return s.Config.Crawler.Sitemaps == config.SitemapsOnly }

// Keeps reports whether an answer belongs in the page store.
func (s *Settings) Keeps(o *Outcome) bool {
	p := o.Page
	return s.Config.Pages.Keep && o.Step.Kind != Probe && o.Step.URLKind == schema.KindPage && p != nil &&
		(IsHTML(o.ContentType) || s.ReadsOPML(o.ContentType)) &&
		!p.NoArchive && (!p.NoIndex || !s.Config.Crawler.RespectNoindex)
}
