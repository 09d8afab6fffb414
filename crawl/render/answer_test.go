package render

import (
	"strconv"
	"strings"
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

// TestAcceptable forwards the values of Accept that libraries set, and none that servers may not expect.
func TestAcceptable(t *testing.T) {
	for value, want := range map[string]bool{
		"": true, "application/json, text/plain, */*": true, "application/vnd.api+json;q=0.9": true,
		strings.Repeat("x", 128): true, strings.Repeat("x", 129): false, `a/b;c="d"`: false, "a\nb": false, "\u00fc": false,
		"a/{b}": false, "a\x7f": false,
	} {
		if got := Acceptable(value); got != want {
			t.Errorf("%q: %t, want %t", value, got, want)
		}
	}
}

// TestManyRefusals records each refusal and each navigation once, however many there are: a page that compared every
// one with all before it would take hours.
func TestManyRefusals(t *testing.T) {
	const many = 500_000
	v := &visit{}
	for i := range 2 * many {
		v.refused(Request{"POST", Resource{URL: strconv.Itoa(i % many)}}, Sends)
	}
	for i := range 2 * many {
		v.navigation(strconv.Itoa(i % 10_000))
	}
	if len(v.result.Refused) != many || len(v.result.Navigations) != 10_000 {
		t.Errorf("%d refusals and %d navigations", len(v.result.Refused), len(v.result.Navigations))
	}
}
