package main

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
)

// A scrape of a running crawl shows the figures of its status, to clients with the token. After the
// crawl there is nothing to scrape.
func TestScrape(t *testing.T) {
	t.Parallel()
	c := startCrawl(t)
	d := serveState(t, filepath.Join(c.dir, "ripple.bolt"))
	d.base = strings.TrimSuffix(d.base, "api/v1/")
	code, body := d.get("metrics")
	if code != http.StatusOK {
		t.Fatalf("%d: %s", code, body)
	}
	text := string(body)
	if problems, err := promlint.New(strings.NewReader(text)).Lint(); err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
	for _, want := range []string{`ripple_run_info{run_id="1",status="running"} 1`, "ripple_build_info{",
		"ripple_commit_duration_seconds_count", "ripple_next_request_timestamp_seconds 1"} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %s in\n%s", want, text)
		}
	}
	requests := 0
	for _, found := range regexp.MustCompile(`(?m)^ripple_requests_total\{code="\w+"\} (\d+)$`).FindAllStringSubmatch(text, -1) {
		n, _ := strconv.Atoi(found[1])
		requests += n
	}
	if want := c.status().Requests; requests == 0 || requests != want {
		t.Errorf("%d requests are shown, the crawl says %d", requests, want)
	}
	if strings.Contains(text, ".test") {
		t.Error("a host is a label")
	}
	d.token += "x"
	if code, _ := d.get("metrics"); code != http.StatusUnauthorized {
		t.Errorf("with another token: %d", code)
	}
	d.token = strings.TrimSuffix(d.token, "x")
	if err := c.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	c.wait()
	if code, body := d.get("metrics"); code != http.StatusServiceUnavailable {
		t.Errorf("of a crawl that is over: %d %s", code, body)
	}
}
