package command

import (
	"os"
	"testing"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
)

// A hub that listens at all addresses is printed with a name that nodes can use.
func TestHubIsReachable(t *testing.T) {
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	cert, key := crawltest.Certificate(t, "hub.example")
	for _, tt := range []struct {
		options hubOptions
		at      string
		want    string
	}{
		{hubOptions{}, "nats://127.0.0.1:4222", "nats://127.0.0.1:4222"},
		{hubOptions{}, "tls://0.0.0.0:4222", "tls://" + host + ":4222"},
		{hubOptions{}, "tls://[::]:4222", "tls://" + host + ":4222"},
		{hubOptions{cert: cert, key: key}, "tls://hub.example:4222", "tls://hub.example:4222"},
		{hubOptions{cert: cert, key: key}, "tls://0.0.0.0:4222", "tls://hub.example:4222"},
	} {
		if got, err := tt.options.reachable(tt.at); got != tt.want || err != nil {
			t.Errorf("%s: %q, %v; want %q", tt.at, got, err, tt.want)
		}
	}
}
