package robots_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sumi-ripple/ripple/crawl/robots"
)

// TestVectors runs the published cases of Google's robotstxt, robotstxt-spec-test and reppy. None of them
// contradicts this package.
func TestVectors(t *testing.T) {
	folder := os.Getenv("RIPPLE_VECTORS")
	if folder == "" {
		t.Skip("RIPPLE_VECTORS is not set: no published vectors")
	}
	data, err := os.ReadFile(filepath.Join(folder, "robots.json"))
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Name      string
		Body      string `json:"robots_txt"`
		BodyBytes []byte `json:"robots_txt_b64"`
		Agent     string `json:"user_agent"`
		URL       string
		Allowed   bool
	}
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	for _, tt := range cases {
		body := append([]byte(tt.Body), tt.BodyBytes...)
		if got := robots.Parse(body, tt.Agent).Check(pathQuery(tt.URL)); got.Allowed != tt.Allowed {
			t.Errorf("%s: %s asks for %q: %+v, want allowed %v\n%s", tt.Name, tt.Agent, tt.URL, got, tt.Allowed, body)
		}
	}
	if len(cases) < 400 {
		t.Errorf("only %d cases", len(cases))
	}
}

// pathQuery returns what follows the authority of a URL, unchanged.
func pathQuery(url string) string {
	_, rest, ok := strings.Cut(url, "://")
	if !ok {
		return url
	}
	i := strings.IndexAny(rest, "/?")
	if i < 0 {
		return "/"
	}
	return rest[i:]
}
