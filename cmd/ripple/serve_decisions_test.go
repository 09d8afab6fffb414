package main

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/cmd/ripple/decide"
	"github.com/sumi-ripple/ripple/cmd/ripple/rippletest"
)

// withDecisions makes a configuration name a file of decisions, which it returns.
func withDecisions(t *testing.T, cfg string) string {
	t.Helper()
	text, err := os.ReadFile(cfg)
	if err == nil {
		err = os.WriteFile(cfg, append(text, "\n[decisions]\nfile = \"decided.toml\"\n"...), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(filepath.Dir(cfg), "decided.toml")
}

// decide sends a decision, and returns the answer, which must have the wanted code.
func (d *testDesk) decide(want int, body string) (answer decide.Result, text string) {
	d.t.Helper()
	code, got := d.send("decisions", body)
	if code != want {
		d.t.Fatalf("%s: %d, want %d: %.500s", body, code, want, got)
	}
	if code == http.StatusOK {
		if err := json.Unmarshal(got, &answer); err != nil {
			d.t.Fatal(err)
		}
		var plain any
		promised, _ := d.schemas()
		if err := json.Unmarshal(got, &plain); err != nil || promised["decide"].Validate(plain) != nil {
			d.t.Errorf("not as promised: %v, %v: %.500s", err, promised["decide"].Validate(plain), got)
		}
	}
	return answer, string(got)
}

// A decision is previewed, then saved and applied, and is visible in every view.
func TestDecideAtDesk(t *testing.T) {
	t.Parallel()
	cfg := rippletest.Crawled(t, 5)
	file := withDecisions(t, cfg)
	d := serveConfig(t, filepath.Join(filepath.Dir(cfg), "state.bolt"), cfg)
	first := d.json("suggest").(map[string]any)["discovered"].([]any)[0].(map[string]any)
	host := first["domain"].(string)
	said, _ := json.Marshal(host)
	quality := `{"host":` + string(said) + `,"class":"quality","tags":["near","x y"],"note":"--note",`
	seen, _ := d.decide(http.StatusOK, quality+`"dry_run":true}`)
	if c := seen.Change; seen.Written || seen.Path != file || c == nil || c.Changed == 0 || len(c.Turned) == 0 ||
		!strings.Contains(seen.TOML, "near") {
		t.Errorf("the dry run: %+v", seen)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("the dry run has written")
	}
	done, _ := d.decide(http.StatusOK, quality+`"version":"`+seen.Version+`"}`)
	if !done.Written || done.Applied != "reclassify" || done.Change.Changed != seen.Change.Changed {
		t.Errorf("decided: %+v, %+v, was foreseen as %+v", done, done.Change, seen.Change)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != seen.TOML {
		t.Errorf("the file holds %q, %v", text, err)
	}
	_, changed := d.decide(http.StatusConflict, `{"host":`+string(said)+`,"class":"stub","version":"`+seen.Version+`"}`)
	if !strings.Contains(changed, "was changed meanwhile; nothing was written") {
		t.Errorf("refused with %s", changed)
	}
	d.noted(host)
	state := filepath.Join(filepath.Dir(cfg), "state.bolt")
	if diff := cmp.Diff(printed(t, "inspect", "--json", host, "--state", state), d.json("hosts/"+host)); diff != "" {
		t.Errorf("the host, as inspect (-) and the desk have it: %s", diff)
	}
	now, told := d.json("status").(map[string]any), printed(t, "stats", "--json", "--state", state).(map[string]any)
	left := told["left"].(map[string]any)
	if now["pages_to_visit"] != left["pages_to_visit"] || now["pages_waiting"] != told["frontier"] ||
		now["pages_waiting"] != float64(done.Change.Waiting) {
		t.Errorf("status: %v to visit, %v wait; stats: %v, %v; the decision told %d", now["pages_to_visit"],
			now["pages_waiting"], left["pages_to_visit"], told["frontier"], done.Change.Waiting)
	}
	d.undone(file, host, done)
}

// undone decides about several hosts at once, then undoes that and the decision done before.
func (d *testDesk) undone(file, host string, done decide.Result) {
	d.t.Helper()
	was, _ := os.ReadFile(file)
	several, _ := d.decide(http.StatusOK, `{"decisions":[{"host":"x.gen.test","class":"stub"},`+
		`{"host":"y.gen.test","class":"later","note":"n"},{"host":"`+host+`","class":"blacklist"}],"version":"`+
		done.Version+`"}`)
	if text, _ := os.ReadFile(file); !several.Written || len(several.Decisions) != 3 || several.Host != "" ||
		string(text) == string(was) || several.Before[0].Class != "none" || several.Before[2].Note != "--note" {
		d.t.Errorf("several: %+v\n%s", several, text)
	}
	undo := func(r decide.Result) string {
		body, err := json.Marshal(map[string]any{"decisions": r.Before, "version": r.Version, "undo": r.Undo})
		if err != nil {
			d.t.Fatal(err)
		}
		return string(body)
	}
	d.decide(http.StatusOK, undo(several))
	if text, _ := os.ReadFile(file); string(text) != string(was) {
		d.t.Errorf("undone: %q, was %q", text, was)
	}
	d.decide(http.StatusConflict, undo(several)) // the file has changed since
	long := "# ours\n" + string(was) + "\n# by hand\n[[decision]]\nhost = \"z.test\"\nclass = \"later\"\n"
	if err := os.WriteFile(file, []byte(long), 0o600); err != nil {
		d.t.Fatal(err)
	}
	removed, _ := d.decide(http.StatusOK, `{"host":"`+host+`","class":"none"}`)
	d.decide(http.StatusOK, undo(removed))
	if text, _ := os.ReadFile(file); string(text) != long {
		d.t.Errorf("an entry that was removed, undone: %q, was %q", text, long)
	}
	if err := os.WriteFile(file, was, 0o600); err != nil {
		d.t.Fatal(err)
	}
	last, _ := d.decide(http.StatusOK, undo(done))
	if text, _ := os.ReadFile(file); len(text) > 0 || last.Change == nil || last.Change.Changed == 0 {
		d.t.Errorf("all undone: %q, %+v", text, last.Change)
	}
	if known := d.json("hosts/" + host).(map[string]any); known["class"] != "discovered" || known["note"] != "" {
		d.t.Errorf("the host is %v, %v", known["class"], known["note"])
	}
}

// noted checks that the notes about a host are shown.
func (d *testDesk) noted(host string) {
	d.t.Helper()
	known := d.json("hosts/" + host).(map[string]any)
	if known["class"] != "quality" || known["note"] != "--note" || len(known["tags"].([]any)) != 2 {
		d.t.Errorf("the host is %v %v %v", known["class"], known["tags"], known["note"])
	}
	hosts := d.json("hosts?tag=x+y").(map[string]any)
	if first := hosts["hosts"].([]any)[0].(map[string]any); hosts["total"] != 1.0 || first["domain"] != host ||
		len(hosts["tags"].([]any)) != 2 {
		d.t.Errorf("by tag: %v", hosts)
	}
	if none := d.json("hosts?tag=far").(map[string]any)["total"]; none != 0.0 {
		d.t.Errorf("%v hosts have a tag that nobody gave", none)
	}
	list := d.json("decisions").(map[string]any)["decisions"].([]any)
	if len(list) != 1 || list[0].(map[string]any)["host"] != host {
		d.t.Errorf("decisions: %v", list)
	}
	for _, c := range d.json("suggest").(map[string]any)["discovered"].([]any) {
		if c.(map[string]any)["entity"] == host {
			d.t.Error("it is still suggested")
		}
	}
}

// Without a file, or without a configuration, the entry is only shown; invalid decisions are
// refused.
func TestDecideNowhere(t *testing.T) {
	t.Parallel()
	cfg := rippletest.Crawled(t, 5)
	state := filepath.Join(filepath.Dir(cfg), "state.bolt")
	alone, plain := serveState(t, state), serveConfig(t, state, cfg)
	for _, tt := range []struct {
		desk *testDesk
		why  string
	}{{alone, "there is no"}, {plain, "names no [decisions] file"}} {
		for _, dry := range []string{"true", "false"} {
			got, _ := tt.desk.decide(http.StatusOK, `{"host":"h1.gen.test","class":"later","dry_run":`+dry+`}`)
			if got.Written || got.Path != "" || !strings.Contains(got.Why, tt.why) ||
				!strings.Contains(got.TOML, "later") {
				t.Errorf("shown: %+v", got)
			}
		}
		if list := tt.desk.json("decisions").(map[string]any); list["path"] != "" || list["reason"] == "" {
			t.Errorf("decisions: %v", list)
		}
	}
	withDecisions(t, cfg)
	for body, want := range map[string]string{
		`{"host":"*.gen.test","class":"stub"}`:                                               "is a pattern",
		`{"host":"h1.gen.test","class":"good"}`:                                              "is not one of quality",
		`{"host":"","class":"stub"}`:                                                         "",
		`{"host":"--help","class":"stub"}`:                                                   "",
		`{"host":"h1.gen.test","class":"stub","tags":["a,b"]}`:                               "is not a tag",
		`{"host":"h1.gen.test","class":"stub","seeds":["x"]}`:                                "only quality has seeds",
		`{"host":"h1.gen.test","class":"stub","note":"a\u0000b"}`:                            "",
		`{"host":"h1.gen.test","class":"stub","color":"red"}`:                                "not the JSON",
		`{"host":"b.test","class":"quality","seeds":["x://y"]}`:                              "{\"error\":\"",
		`{"host":"b.test","class":"stub","decisions":[{"host":"c.test","class":"stub"}]}`:    "in place of",
		`{"decisions":[{"host":"b.test","class":"stub"},{"host":"B.test","class":"later"}]}`: "decided twice",
		`{"decisions":[{"host":"b.test","class":"stub"},{"host":"c.test","class":"nice"}]}`:  "is not one of",
		`{"decisions":[` + strings.Repeat(`{"host":"b.test","class":"stub"},`, 1000) +
			`{"host":"b.test","class":"stub"}]}`: "at most 1000",
	} {
		if _, text := plain.decide(http.StatusBadRequest, body); !strings.Contains(text, want) {
			t.Errorf("%s: %s", body, text)
		}
	}
}

// A running crawl applies a decision at once.
func TestDecideWhileCrawling(t *testing.T) {
	t.Parallel()
	c := startCrawl(t)
	file := withDecisions(t, c.path)
	d := serveConfig(t, filepath.Join(c.dir, "ripple.bolt"), c.path)
	got, _ := d.decide(http.StatusOK, `{"host":"b.test","class":"blacklist"}`)
	if got.Applied != "reload" || !got.Written {
		t.Errorf("decided: %+v", got)
	}
	c.awaitTold("the configuration was read again")
	if err := os.WriteFile(file, []byte("nonsense"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, text := d.decide(http.StatusBadRequest, `{"host":"b.test","class":"stub"}`)
	if !strings.Contains(text, "decided.toml") {
		t.Errorf("a file that cannot be read: %s", text)
	}
}
