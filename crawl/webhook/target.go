package webhook

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/sumi-ripple/ripple/crawl/fetch"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

const (
	sendTimeout = 15 * time.Second // up to the end of the answer's header
	mostAnswer  = 512              // bytes of an answer that Test reads
)

// A target is where messages are sent, with the keys that sign them. It keeps no connections.
type target struct {
	cfg     *config.Config
	keys    [][]byte
	client  *fetch.Client
	timeout time.Duration // up to the end of the answer's header
}

// newTarget returns the target of a configuration, or nil if it has none. The resolver may be nil.
func newTarget(cfg *config.Config, resolver *fetch.Resolver) (*target, error) {
	if cfg.Monitor.Webhook == "" {
		return nil, nil
	}
	text, err := os.ReadFile(cfg.Monitor.WebhookSecretFile)
	if err != nil {
		return nil, fmt.Errorf("[monitor] webhook-secret-file: %w", err)
	}
	keys, err := config.WebhookSecrets(text)
	if err != nil {
		return nil, fmt.Errorf("[monitor] webhook-secret-file: it %w", err)
	}
	client, err := fetch.New(fetch.Config{
		UserAgent: cfg.UserAgentString(), ConnectTimeout: sendTimeout, Timeout: sendTimeout,
		Proxy: cfg.Network.Proxy, CAFile: cfg.Network.CAFile, ConnectTo: cfg.Network.ConnectTo,
		AllowPrivate: cfg.Network.AllowPrivate, MaxOpen: 1, Resolver: resolver,
	})
	return &target{cfg, keys, client, sendTimeout}, err
}

// host returns the part of the address that may be shown.
func (t *target) host() string {
	u, err := url.Parse(t.cfg.Monitor.Webhook)
	if err != nil {
		return ""
	}
	return u.Host
}

// address returns the configured address as requested, with a lower-case scheme and spaces encoded.
func (t *target) address() string {
	address := t.cfg.Monitor.Webhook
	if u, err := url.Parse(address); err == nil {
		address = u.String()
	}
	return strings.ReplaceAll(address, " ", "%20")
}

// An Answer is the result of one delivery. Its texts come from the receiver.
type Answer struct {
	ID         string
	Host       string        // that was requested
	Status     int           // 0: no answer
	Took       time.Duration // to the end of the header, or to the failure
	RetryAfter time.Duration // -1: not given
	Body       []byte        // the first 512 bytes, if requested
	Reason     schema.Reason // why there is no answer
}

// Delivered reports whether the receiver accepted the message.
func (a *Answer) Delivered() bool { return a.Status/100 == 2 }

// post sends a message once. If ctx ends first, the result is unknown.
func (t *target) post(ctx context.Context, m *schema.Message, wantsBody bool) Answer {
	sent := time.Now()
	res, err := t.client.Do(ctx, fetch.Request{
		Method: http.MethodPost, URL: t.address(), Header: t.header(m, sent), Body: m.Body, Cut: true,
		Timeout: t.timeout,
		Accept: func(int, http.Header) int64 {
			if wantsBody {
				return mostAnswer
			}
			return 0
		},
	})
	a := Answer{ID: m.ID, Host: t.host(), Took: time.Since(sent), RetryAfter: -1}
	if res != nil { // failures after the header change nothing
		defer res.Release()
		_ = res.Decode(nil)
		a.Status, a.Body, a.RetryAfter = res.Status, res.Body, res.RetryAfter()
		a.Took = res.FirstByte.Sub(sent)
		return a
	}
	var failed *fetch.Error
	if errors.As(err, &failed) {
		a.Reason = failed.Reason()
	}
	return a
}

// header signs a message with every key, for the time it is sent.
func (t *target) header(m *schema.Message, at time.Time) http.Header {
	stamp := strconv.FormatInt(at.Unix(), 10)
	signatures := make([]string, len(t.keys))
	for i, key := range t.keys {
		mac := hmac.New(sha256.New, key)
		fmt.Fprintf(mac, "%s.%s.%s", m.ID, stamp, m.Body)
		signatures[i] = "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	}
	header := http.Header{}
	header.Set("Content-Type", "application/json")
	header.Set("Accept", "*/*")
	header.Set("webhook-id", m.ID)
	header.Set("webhook-timestamp", stamp)
	header.Set("webhook-signature", strings.Join(signatures, " "))
	return header
}
