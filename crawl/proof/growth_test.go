package proof

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
)

// TestEnumerationsGrow adds a page state and a kind of link to the source: everything still builds,
// and the tests of the code that counts, stores and prints such values still pass.
func TestEnumerationsGrow(t *testing.T) {
	t.Parallel()
	if !crawltest.Full() {
		t.Skip("builds most packages: set RIPPLE_PROOF=full")
	}
	dir := t.TempDir()
	replace := map[string]string{}
	for _, add := range []struct{ file, before, value, name string }{
		{"../../schema/state.go", "\n\tStateCount //", "\tstateOfTomorrow\n", "state_of_tomorrow"},
		{"../../schema/words.go", "\n\tLinkKindCount //", "\tlinkOfTomorrow\n", "link_of_tomorrow"},
	} {
		source, err := os.ReadFile(add.file)
		if err != nil {
			t.Fatal(err)
		}
		grown := strings.Replace(string(source), add.before, add.value+add.before, 1)
		receiver := map[string]string{"state.go": "func (s State) String() string {\n\tswitch s {\n",
			"words.go": "func (k LinkKind) String() string {\n\tswitch k {\n"}[filepath.Base(add.file)]
		spoken := strings.Replace(grown, receiver,
			receiver+"\tcase "+strings.TrimSpace(add.value)+":\n\t\treturn \""+add.name+"\"\n", 1)
		if grown == string(source) || spoken == grown {
			t.Fatalf("%s has another shape", add.file)
		}
		original, err := filepath.Abs(add.file)
		if err != nil {
			t.Fatal(err)
		}
		replace[original] = filepath.Join(dir, filepath.Base(add.file))
		if err := os.WriteFile(replace[original], []byte(spoken), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list, err := json.Marshal(map[string]map[string]string{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	overlay := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlay, list, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"build", "-overlay=" + overlay, "-o", os.DevNull, "../../cmd/ripple"},
		{"test", "-short", "-vet=off", "-overlay=" + overlay, "../../schema", "../../kv/survey", "../../export",
			"../../export/graph", "../../export/summary", "../meter"},
		{"test", "-vet=off", "-overlay=" + overlay, "-run=TestEvery", "../../export/sqlite"},
	} {
		if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
			t.Fatalf("go %s: %v\n%s", args[0], err, out)
		}
	}
}
