package render

import (
	"testing"

	"github.com/chromedp/cdproto/network"
)

// TestOwnHeader tells what browsers and libraries add to every request from what a page chose.
func TestOwnHeader(t *testing.T) {
	for name, want := range map[string]bool{
		"Accept": false, "Sec-Fetch-Mode": false, "X-Requested-With": false, "Authorization": true, "apikey": true,
		"X-Csrf-Token": true,
	} {
		if got := ownHeader(&network.Request{Headers: network.Headers{name: "x"}}); got != want {
			t.Errorf("%s: %t, want %t", name, got, want)
		}
	}
}
