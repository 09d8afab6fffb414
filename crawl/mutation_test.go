package crawl_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestProofsBite breaks the crawler in one place at a time, in a copy of its source
// that only the compiler sees, and runs a proof that must then fail. A crawl
// without syncs is broken by TestPowerLoss itself.
func TestProofsBite(t *testing.T) {
	if !full() {
		t.Skip("builds the package several times: set RIPPLE_PROOF=full")
	}
	tests := []struct{ name, file, from, to, proof string }{
		{
			"depths do not travel on", "depth.go",
			"t.work = append(t.work, id)\n\t\tif oldDepth", "if oldDepth", "TestDepthsAreShortestDistances",
		},
		{
			"a redirect costs a step of depth", "depth.go",
			"depth, hops = max(1, from.depth), from.hops+1", "depth, hops = from.depth+1, from.hops+1", "TestDepthsAreShortestDistances",
		},
		{
			"a URL leaves its line when it is asked", "choose.go",
			"if step != nil && id == step.ID || slices.Contains(live.open, id) {\n\t\t\treturn false",
			"if step != nil && id == step.ID || slices.Contains(live.open, id) {\n\t\t\treturn true", "TestDepthsAreShortestDistances|TestOneDigest",
		},
		{
			"what is left of a relaxation is forgotten", "recorder.go",
			"err = t.tx.SetPending(t.work)", "err = t.tx.SetPending(nil)", "TestPendingOutlivesAKill",
		},
		{
			"a start does not wait", "run.go",
			"e.Ready = r.started.Add(fullDelay(r.set.cfg, h))", "e.Ready = r.started", "TestKilled$|TestRestartsArePolite|TestVerifiedAfterKills",
		},
		{
			"visits are counted twice", "record.go",
			"t.run.Pages++", "t.run.Pages += 2", "TestOneDigest",
		},
	}
	for _, tt := range tests {
		t.Run(strings.ReplaceAll(tt.name, " ", "-"), func(t *testing.T) {
			out, err := mutated(t, tt.file, tt.from, tt.to, tt.proof)
			if err == nil {
				t.Errorf("%s: %s passes all the same", tt.name, tt.proof)
			} else if !strings.Contains(out, "--- FAIL") {
				t.Fatalf("%v\n%s", err, out)
			}
		})
	}
}

// mutated runs tests of this package with one file changed in one place.
func mutated(t *testing.T, file, from, to, run string) (string, error) {
	t.Helper()
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(string(source), from) != 1 {
		t.Fatalf("%s holds this %d times, want once: %s", file, strings.Count(string(source), from), from)
	}
	dir := t.TempDir()
	changed := filepath.Join(dir, file)
	if err := os.WriteFile(changed, []byte(strings.Replace(string(source), from, to, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	original, err := filepath.Abs(file)
	if err != nil {
		t.Fatal(err)
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {original: changed}})
	if err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(list, overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "test", "-count=1", "-vet=off", "-overlay="+list, "-run=^("+run+")", ".")
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "RIPPLE_PROOF=") {
			cmd.Env = append(cmd.Env, kv)
		}
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}
