package serve

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/sumi-ripple/ripple/cmd/ripple/decide"
	"github.com/sumi-ripple/ripple/cmd/ripple/desk"
	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl/control"
	"github.com/sumi-ripple/ripple/schema/config"
	"github.com/sumi-ripple/ripple/schema/decision"
	"github.com/sumi-ripple/ripple/schema/scope"
)

// maxDeciding limits the time of a decision or its dry run.
const maxDeciding = 10 * time.Minute

// A deciding writes and applies the decisions that are made at a desk, one request at a time. Each one runs
// "ripple decide" in a process of its own, at the lowest priority.
type deciding struct {
	config string        // path of the configuration; empty: none
	turn   chan struct{} // holds a value during a decision
}

func newDeciding(config string) *deciding { return &deciding{config, make(chan struct{}, 1)} }

// A deskDecision is a decision on a host. If the file has an entry for the host, fields that are
// not given keep their values.
type deskDecision struct {
	Host  string   `json:"host,omitempty"`
	Class string   `json:"class,omitempty"` // quality, blacklist, stub, later, or none, which removes the entry
	Seeds []string `json:"seeds,omitempty"` // of class quality
	Tags  []string `json:"tags,omitempty"`
	Note  *string  `json:"note,omitempty"`
}

// deskDecisions are one decision or several, which are all made or none.
type deskDecisions struct {
	deskDecision
	Decisions []deskDecision `json:"decisions,omitempty"` // in place of host and class; at most 1,000
	DryRun    bool           `json:"dry_run,omitempty"`   // report what would change, and write nothing
	Version   string         `json:"version,omitempty"`   // of the file that is to be changed, and no other

	Undo *decision.Patch `json:"undo,omitempty"` // restores the file; of earlier decisions, which these undo
}

// A decisionList is what the file of decisions contains.
type decisionList struct {
	Path      string         `json:"path"`   // of the file; empty: no file
	Why       string         `json:"reason"` // why none can be written
	Decisions []decide.Entry `json:"decisions"`
}

// decisions reads the file of decisions.
func (d *deciding) decisions(context.Context, desk.Query) (any, error) {
	list := decisionList{Decisions: []decide.Entry{}}
	if d.config == "" {
		list.Why = "this desk shows a state file without its configuration; open it with --config FILE"
		return list, nil
	}
	cfg, _, err := config.Load(d.config)
	if err != nil {
		return nil, undecidable(err)
	}
	if list.Path = cfg.Decisions.File; list.Path == "" {
		list.Why = term.Shown(d.config) + " names no [decisions] file"
		return list, nil
	}
	text, err := os.ReadFile(list.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return list, nil
	}
	all, err := config.ParseDecisions(list.Path, text)
	if err != nil {
		return nil, undecidable(err)
	}
	for i := range all {
		list.Decisions = append(list.Decisions, decide.EntryOf(&all[i]))
	}
	return list, nil
}

// decide makes decisions. Once it has started to write, it finishes, even if the client disconnects.
func (d *deciding) decide(ctx context.Context, q desk.Query) (any, error) {
	var v deskDecisions
	if err := q.Decode(&v); err != nil {
		return nil, err
	}
	edits, err := v.edits()
	if err != nil {
		return nil, &control.Error{Code: http.StatusBadRequest, Text: err.Error()}
	}
	select {
	case d.turn <- struct{}{}:
		defer func() { <-d.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if shown, err := d.show(edits); shown != nil || err != nil {
		return shown, err
	}
	if !v.DryRun {
		ctx = context.WithoutCancel(ctx)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, maxDeciding, errors.New("it takes longer than "+maxDeciding.String()))
	defer cancel()
	args := []string{"decide", "--json", "--quiet", "--config", d.config}
	flag, text := "--from", textOf(edits)
	if v.Undo != nil {
		flag = "--undo"
		if text, err = v.undoing(edits); err != nil {
			return nil, err
		}
	} else if v.Version != "" {
		args = append(args, "--if-version="+v.Version)
	}
	file, err := temporary(text)
	if err != nil {
		return nil, err
	}
	defer os.Remove(file)
	args = append(args, flag+"="+file)
	if v.DryRun {
		args = append(args, "--dry-run")
	}
	cmd, err := ordered(args...)
	if err != nil {
		return nil, err
	}
	answer, err := desk.Run(ctx, cmd)
	if err != nil {
		return nil, undecidable(err)
	}
	return json.RawMessage(answer), nil
}

// show answers with the entries if there is no file for them; else with nil.
func (d *deciding) show(edits []config.DecisionEdit) (any, error) {
	shown := &decide.Decider{Voice: term.NewVoice(io.Discard), Stdout: io.Discard, JSON: true,
		Path: cmp.Or(d.config, statefile.DefaultConfig), Edits: edits}
	if d.config != "" {
		cfg, _, err := config.Load(d.config)
		if err != nil {
			return nil, &control.Error{Code: http.StatusBadRequest, Text: err.Error()}
		}
		if cfg.Decisions.File != "" {
			return nil, nil
		}
		shown.Cfg = cfg
	}
	return &shown.Result, shown.Show()
}

// textOf returns edits as a file of decisions has them.
func textOf(edits []config.DecisionEdit) (text []byte) {
	for i := range edits {
		text = append(text, edits[i].TOML()...)
	}
	return text
}

// undoing returns what "ripple decide --undo" reads, for edits that restore earlier entries.
func (v *deskDecisions) undoing(edits []config.DecisionEdit) ([]byte, error) {
	done := decide.Result{Undo: v.Undo, Version: v.Version}
	for i := range edits {
		done.Before = append(done.Before, decide.EntryOf(&edits[i].Decision))
	}
	return json.Marshal(done)
}

// temporary writes a temporary file.
func temporary(text []byte) (string, error) {
	f, err := os.CreateTemp("", "ripple-decisions-*")
	if err != nil {
		return "", err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), nil
}

// edits returns the decisions as a file of decisions has them, or says why they are invalid.
func (v *deskDecisions) edits() ([]config.DecisionEdit, error) {
	all := v.Decisions
	switch {
	case len(all) == 0:
		all = []deskDecision{v.deskDecision}
	case v.Host != "" || v.Class != "":
		return nil, errors.New("decisions are in place of host and class")
	case len(all) > decide.Most:
		return nil, fmt.Errorf("there are %d decisions; at most %d are made together", len(all), decide.Most)
	}
	seen := map[scope.Pattern]bool{}
	edits := make([]config.DecisionEdit, len(all))
	for i := range all {
		e, err := all[i].edit()
		if err == nil && seen[e.Host] {
			err = fmt.Errorf("%s is decided twice", e.Host)
		}
		if err != nil {
			return nil, err
		}
		seen[e.Host], edits[i] = true, e
	}
	return edits, nil
}

func (v *deskDecision) edit() (config.DecisionEdit, error) {
	e := config.DecisionEdit{Given: map[string]bool{"seeds": v.Seeds != nil, "tags": v.Tags != nil, "note": v.Note != nil}}
	var err error
	if e.Host, e.Class, err = decide.Parse(v.Host, v.Class); err != nil {
		return e, err
	}
	e.Seeds, e.Tags = v.Seeds, v.Tags
	if v.Note != nil {
		e.Note = *v.Note
	}
	if strings.ContainsRune(strings.Join(append(append([]string{e.Note}, e.Tags...), e.Seeds...), " "), 0) {
		return e, errors.New("there is a NUL in it")
	}
	if after := e.Apply(nil); after != nil {
		err = after.Check()
	}
	return e, err
}

// undecidable adds the code to the error of a decision.
func undecidable(err error) error {
	var ended *desk.Ended
	code := http.StatusConflict
	if errors.As(err, &ended) && ended.Code == 2 {
		code = http.StatusBadRequest
	}
	return &control.Error{Code: code, Text: err.Error()}
}
