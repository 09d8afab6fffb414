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
	sendTimeout = 15 * time.Second // up to the last header of the answer
	mostAnswer  = 512              // bytes of an answer that a test reads
)

// A target is where messages go, and the keys that sign them. It keeps no connection.
type target struct {
	cfg     *config.Config
	keys    [][]byte
	client  *fetch.Client
	timeout time.Duration // up to the last header of an answer
}

// newTarget returns the target of a configuration; nil: it names none. The resolver may
// be nil.
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

// host is what may be shown of the address.
func (t *target) host() string {
	u, err := url.Parse(t.cfg.Monitor.Webhook)
	if err != nil {
		return ""
	}
	return u.Host
}

// address is that of the configuration as it is asked, with a scheme in lower case and without blanks.
func (t *target) address() string {
	address := t.cfg.Monitor.Webhook
	if u, err := url.Parse(address); err == nil {
		address = u.String()
	}
	return strings.ReplaceAll(address, " ", "%20")
}

// An Answer is what came of one sending. Its texts are the receiver's.
type Answer struct {
	ID         string
	Host       string        // that was asked
	Status     int           // 0: there was no answer
	Took       time.Duration // to the last header, or to the failure
	RetryAfter time.Duration // -1: not given
	Body       []byte        // the first 512 bytes, if they were wanted
	Reason     schema.Reason // why there is no answer
}

// Delivered reports whether the receiver has taken the message.
func (a *Answer) Delivered() bool { return a.Status/100 == 2 }

// post sends a message once. Where ctx ends first, what came of it is not known.
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
	if res != nil { // what fails after the header changes nothing
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

// header signs a message for the moment at which it is sent, with every key.
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
