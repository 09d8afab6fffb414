package serve

import (
	"context"
	"encoding/json"
	"errors"
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
)

// maxDeciding limits the time of a decision or its dry run.
const maxDeciding = 10 * time.Minute

// A deciding writes and applies the decisions that are made at a desk, one at a time. Each one runs
// "ripple decide" in a process of its own, at the lowest priority.
type deciding struct {
	config string        // path of the configuration; empty: none
	turn   chan struct{} // holds a value during a decision
}

func newDeciding(config string) *deciding { return &deciding{config, make(chan struct{}, 1)} }

// A deskDecision is a decision on a host. If the file has an entry for the host, fields that are
// not given keep their values.
type deskDecision struct {
	Host    string   `json:"host"`
	Class   string   `json:"class"`           // quality, blacklist, stub or later
	Seeds   []string `json:"seeds,omitempty"` // of class quality
	Tags    []string `json:"tags,omitempty"`
	Note    *string  `json:"note,omitempty"`
	DryRun  bool     `json:"dry_run,omitempty"` // report what would change, and write nothing
	Version string   `json:"version,omitempty"` // of the file that the dry run read; another version is not changed
}

// The contents of the file of decisions.
type (
	decisionList struct {
		Path      string          `json:"path"`   // of the file; empty: no file
		Why       string          `json:"reason"` // why none can be written
		Decisions []decisionEntry `json:"decisions"`
	}
	decisionEntry struct {
		Host  string   `json:"host"`
		Class string   `json:"class"`
		Seeds []string `json:"seeds"`
		Tags  []string `json:"tags"`
		Note  string   `json:"note"`
	}
)

// decisions reads the file of decisions.
func (d *deciding) decisions(context.Context, desk.Query) (any, error) {
	list := decisionList{Decisions: []decisionEntry{}}
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
	for _, e := range all {
		list.Decisions = append(list.Decisions, decisionEntry{
			e.Host.String(), string(e.Class), append([]string{}, e.Seeds...), append([]string{}, e.Tags...), e.Note,
		})
	}
	return list, nil
}

// decide applies a decision. Once it has started, it finishes, even if the client disconnects.
func (d *deciding) decide(ctx context.Context, q desk.Query) (any, error) {
	var v deskDecision
	if err := q.Decode(&v); err != nil {
		return nil, err
	}
	if err := v.check(); err != nil {
		return nil, err
	}
	select {
	case d.turn <- struct{}{}:
		defer func() { <-d.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if d.config == "" {
		return v.shown()
	}
	if !v.DryRun {
		ctx = context.WithoutCancel(ctx)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, maxDeciding, errors.New("it takes longer than "+maxDeciding.String()))
	defer cancel()
	cmd, err := ordered(v.args(d.config)...)
	if err != nil {
		return nil, err
	}
	text, err := desk.Run(ctx, cmd)
	if err != nil {
		return nil, undecidable(err)
	}
	return json.RawMessage(text), nil
}

// check rejects an invalid decision.
func (v *deskDecision) check() error {
	_, e, err := v.entry()
	if err == nil {
		err = e.Check()
	}
	if err == nil && strings.ContainsRune(strings.Join(append(append(e.Tags, e.Seeds...), e.Note), " "), 0) {
		err = errors.New("there is a NUL in it")
	}
	if err != nil {
		return &control.Error{Code: http.StatusBadRequest, Text: err.Error()}
	}
	return nil
}

// shown answers with the decision as TOML if there is no file.
func (v *deskDecision) shown() (any, error) {
	o, e, err := v.entry()
	if err != nil {
		return nil, err
	}
	d := &decide.Decider{Voice: term.NewVoice(io.Discard), Stdout: io.Discard, JSON: true, Path: statefile.DefaultConfig,
		Host: e.Host, Edit: o.Edit(e.Host, e.Class)}
	return &d.Result, d.Show()
}

// entry returns the decision as the command line takes it, and as an entry.
func (v *deskDecision) entry() (*decide.Choice, config.Decision, error) {
	host, class, err := decide.Parse(v.Host, v.Class)
	o := &decide.Choice{Seeds: v.Seeds, Tags: v.Tags,
		Given: map[string]bool{"seed": v.Seeds != nil, "tag": v.Tags != nil, "note": v.Note != nil}}
	if v.Note != nil {
		o.Note = *v.Note
	}
	return o, o.Edit(host, class)(nil), err
}

// args returns the arguments of "ripple decide" for the same decision.
func (v *deskDecision) args(config string) []string {
	args := []string{"decide", "--json", "--quiet", "--config", config}
	if v.DryRun {
		args = append(args, "--dry-run")
	}
	if v.Version != "" {
		args = append(args, "--if-version="+v.Version)
	}
	for flag, values := range map[string][]string{"--seed=": v.Seeds, "--tag=": v.Tags} {
		for _, value := range values {
			args = append(args, flag+value)
		}
		if values != nil && len(values) == 0 {
			args = append(args, flag)
		}
	}
	if v.Note != nil {
		args = append(args, "--note="+*v.Note)
	}
	return append(args, "--", v.Host, v.Class)
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
