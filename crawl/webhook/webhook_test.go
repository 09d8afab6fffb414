package webhook

import (
	"encoding/base64"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

// secret returns the n-th test secret, in its file format.
func secret(n int) string {
	return "whsec_" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat(string(rune('a'+n)), 32)))
}

// configured returns a configuration whose messages go to an address, signed with the given secrets.
func configured(t testing.TB, address, network string, secrets ...string) *config.Config {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "secret"), []byte(strings.Join(secrets, "\r\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, _, err := config.Parse(fmt.Appendf(nil, `
[user-agent]
crawler-name = "T"
[state]
path = "valley.bolt"
[network]
%s
[monitor]
webhook = %q
webhook-secret-file = "secret"
[[quality]]
domain = "a.test"
seeds = ["https://a.test/"]
`, network, address), dir, os.ReadFile)
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

func newStore(t testing.TB) *kv.Store {
	t.Helper()
	return crawltest.Open(t, filepath.Join(t.TempDir(), "valley.bolt"))
}

func update(t testing.TB, box Box, f func(*kv.Tx) error) {
	t.Helper()
	if err := box.Update(f); err != nil {
		t.Fatal(err)
	}
}

// waiting returns the waiting messages.
func waiting(t testing.TB, box Box) (all []*schema.Message) {
	t.Helper()
	err := box.View(func(tx *kv.Tx) error {
		return tx.Messages.Each(func(m *schema.Message) (bool, error) {
			all = append(all, m)
			return true, nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }
