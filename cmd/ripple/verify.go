package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sumi-ripple/ripple/crawl/control"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
)

// maxProblems bounds the problems that are told one by one.
const maxProblems = 100

type verifyOptions struct {
	digest  bool
	compact bool
	json    bool
}

func (o *verifyOptions) addFlags(f *pflag.FlagSet) {
	f.BoolVar(&o.digest, "digest", false, "print the SHA-256 of the map: two crawls of one web have the same")
	f.BoolVar(&o.compact, "compact", false, "then write the state into a new file without its free space, which takes\nthe place of the old one")
	f.BoolVar(&o.json, "json", false, "print JSON")
}

func newVerifyCommand(a *app) *cobra.Command {
	var opts verifyOptions
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Check the state file's invariants",
		Long: `Check the state file: every record's checksum, and that all records agree:
every waiting entry has a page, every page one state, every counter is what can
be counted, and every depth is the shortest distance.

The check runs in a process of its own with limits of memory and time, because
a damaged file may end it. Of a running crawl it checks a consistent copy.`,
		Example: "  ripple verify\n  ripple verify --state terrain.bolt --digest\n  ripple verify --compact",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return runVerify(cmd.Context(), a, opts) },
	}
	opts.addFlags(cmd.Flags())
	return cmd
}

// A verdict is what a check has found, and what is printed as JSON.
type verdict struct {
	File     string   `json:"file"`
	Whole    bool     `json:"whole"`
	URLs     int      `json:"urls"`
	Visits   int      `json:"visits"`
	Hosts    int      `json:"hosts"`
	Run      int      `json:"run"` // 0: nothing was crawled yet
	Digest   string   `json:"digest,omitempty"`
	Found    int      `json:"found"`    // problems
	Problems []string `json:"problems"` // the first of them
	Before   int64    `json:"bytes_before,omitempty"`
	After    int64    `json:"bytes_after,omitempty"`
}

func runVerify(ctx context.Context, a *app, opts verifyOptions) error {
	path, err := a.statePath()
	if err != nil {
		return err
	}
	target, release, err := quietFile(ctx, path, opts)
	if err != nil {
		return err
	}
	defer release()
	v, err := checkApart(ctx, target, opts)
	if err != nil {
		return err
	}
	v.File = path
	if v.Whole && opts.compact {
		if v.Before, v.After, err = compact(path); err != nil {
			return err
		}
	}
	if err := v.print(a.stdout, opts); err != nil {
		return err
	}
	if !v.Whole {
		return hint(fmt.Errorf("%s is damaged: %s", shown(path), count(v.Found, "problem", "problems")),
			"bring back a backup, or begin anew with \"ripple crawl --fresh\", which keeps this file beside the new one")
	}
	return nil
}

// quietFile returns a file that nobody writes: the state file, or a copy of the
// one that is being crawled.
func quietFile(ctx context.Context, path string, opts verifyOptions) (target string, release func(), err error) {
	if _, err := os.Stat(path); err != nil {
		return "", nil, stateError(path, fmt.Errorf("open state file: %w", err))
	}
	var live crawlStatus
	switch err := control.Ask(ctx, path, "status", &live); {
	case errors.Is(err, control.ErrNobody):
		return path, func() {}, nil
	case err != nil:
		return "", nil, err
	case opts.compact:
		return "", nil, usage("a crawl writes %s; stop it before --compact: ripple stop --state %s", shown(path), shown(path))
	}
	f, err := os.CreateTemp("", "ripple-copy-*.bolt")
	if err != nil {
		return "", nil, fmt.Errorf("copy the state: %w", err)
	}
	release = func() { os.Remove(f.Name()) }
	err = control.Snapshot(ctx, path, f, func(size int64) error { return fits(filepath.Dir(f.Name()), size) })
	if err = errors.Join(err, f.Close()); err != nil {
		release()
		return "", nil, err
	}
	return f.Name(), release, nil
}

// print tells what was found.
func (v *verdict) print(w io.Writer, opts verifyOptions) error {
	if opts.json {
		return printJSON(w, v)
	}
	return flushed(w, func(w io.Writer) error {
		for _, p := range v.Problems {
			fmt.Fprintln(w, clean(p, 400))
		}
		if more := v.Found - len(v.Problems); more > 0 {
			fmt.Fprintf(w, "and %s more\n", commas(more))
		}
		if v.Whole {
			fmt.Fprintf(w, "%s is whole: %s, %s, %s\n", shown(v.File), count(v.URLs, "URL", "URLs"), count(v.Visits, "visit", "visits"), count(v.Hosts, "host", "hosts"))
		}
		if v.Digest != "" {
			fmt.Fprintf(w, "digest %s\n", v.Digest)
		}
		if v.Before > 0 {
			fmt.Fprintf(w, "compacted from %s to %s bytes\n", commas(int(v.Before)), commas(int(v.After)))
		}
		return nil
	})
}

// envCheck names the file that this process is to check, as the child of
// [checkApart].
const envCheck = "RIPPLE_CHECK_FILE"

// checkApart checks a file in a process of its own: damage can hang or end it.
func checkApart(ctx context.Context, path string, opts verifyOptions) (*verdict, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, stateError(path, err)
	}
	limit := checkTime(info.Size())
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errCheckTime)
	defer cancel()
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("check %s: %w", shown(path), err)
	}
	cmd := exec.CommandContext(ctx, self, "check-file")
	cmd.Args[0] = os.Args[0]
	cmd.Env = append(os.Environ(), envCheck+"="+path)
	if opts.digest {
		cmd.Args = append(cmd.Args, "--digest")
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("check %s: %w", shown(path), err)
	}
	v, ended := readVerdict(out)
	err = cmd.Wait()
	switch {
	case ended != nil && ended.Refused != "":
		return nil, refusedFile(path, ended.Refused, ended.Foreign)
	case ended == nil && context.Cause(ctx) == errCheckTime:
		v.note(fmt.Sprintf("the check did not end within %s: its pages lead in circles", span(limit)))
	case ended == nil && ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case ended == nil:
		v.note(fmt.Sprintf("the check was ended by what it read: %v", err))
	}
	v.Whole = v.Found == 0
	return v, nil
}

var errCheckTime = errors.New("the check takes too long")

// checkTime is generous: a small file takes milliseconds.
func checkTime(size int64) time.Duration {
	return 9*time.Second + time.Duration(size>>20)*500*time.Millisecond
}

func refusedFile(path, reason string, foreign bool) error {
	err := errors.New(reason)
	if foreign {
		return stateError(path, fmt.Errorf("%s: %w", shown(path), kv.ErrForeign))
	}
	return fmt.Errorf("check %s: %w", shown(path), err)
}

// A checkLine is what the child says, one JSON object a line: problems, then one
// line that says how it ended.
type checkLine struct {
	Problem string   `json:",omitempty"`
	Refused string   `json:",omitempty"` // the file could not be looked at
	Foreign bool     `json:",omitempty"`
	Verdict *verdict `json:",omitempty"` // the end
}

// readVerdict reads until the child has said how it ended; nil: it has not.
func readVerdict(r io.Reader) (*verdict, *checkLine) {
	v := &verdict{Problems: []string{}}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var line checkLine
		if json.Unmarshal(lines.Bytes(), &line) != nil {
			continue
		}
		switch {
		case line.Verdict != nil:
			line.Verdict.Found, line.Verdict.Problems = v.Found, v.Problems
			return line.Verdict, &line
		case line.Refused != "":
			return v, &line
		default:
			v.note(line.Problem)
		}
	}
	return v, nil
}

func (v *verdict) note(problem string) {
	if v.Found++; len(v.Problems) < maxProblems {
		v.Problems = append(v.Problems, problem)
	}
}

// newCheckFileCommand is the child's side. It is not meant for people.
func newCheckFileCommand(a *app) *cobra.Command {
	var digest bool
	cmd := &cobra.Command{
		Use:    "check-file",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			path := os.Getenv(envCheck)
			if path == "" {
				return usage("use \"ripple verify\"")
			}
			return checkFile(a.stdout, path, digest)
		},
	}
	cmd.Flags().BoolVar(&digest, "digest", false, "")
	return cmd
}

// checkFile looks a file through and writes what it finds.
func checkFile(w io.Writer, path string, digest bool) error {
	if info, err := os.Stat(path); err == nil {
		limitMemory(2<<30 + 2*info.Size())
	}
	out := json.NewEncoder(w)
	found := 0
	note := func(problem string) {
		found++
		_ = out.Encode(checkLine{Problem: problem})
	}
	if err := kv.Check(path, note); err != nil {
		return out.Encode(checkLine{Refused: err.Error(), Foreign: errors.Is(err, kv.ErrForeign)})
	}
	v := &verdict{}
	if err := v.survey(path, digest && found == 0, note); err != nil {
		note(err.Error())
	}
	return out.Encode(checkLine{Verdict: v})
}

// survey checks what the records mean.
func (v *verdict) survey(path string, digest bool, note func(string)) error {
	store, err := kv.Open(path, kv.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	defer store.Close()
	v.URLs, v.Visits, v.Hosts = store.URLs(), int(store.LastSeq()), store.Hosts()
	s, err := survey.New(store)
	if errors.Is(err, survey.ErrNoRun) {
		return nil
	}
	if err != nil {
		return err
	}
	v.Run = int(s.Run().ID)
	if err := s.Check(note); err != nil || !digest {
		return err
	}
	v.Digest, err = s.Digest()
	return err
}

// compact gives a new file without free space the name of the state file. The
// old one stays locked against writers until then.
func compact(path string) (before, after int64, err error) {
	old, err := kv.Open(path, kv.Options{ReadOnly: true})
	if err != nil {
		return 0, 0, stateError(path, err)
	}
	defer func() { err = errors.Join(err, old.Close()) }()
	next := path + ".compact"
	if err := os.Remove(next); err != nil && !errors.Is(err, os.ErrNotExist) {
		return 0, 0, fmt.Errorf("compact: %w", err)
	}
	if err := fits(filepath.Dir(path), old.Size()); err != nil {
		return 0, 0, err
	}
	if err := kv.Compact(path, next); err != nil {
		return 0, 0, err
	}
	defer os.Remove(next)
	was, err1 := os.Stat(path)
	is, err2 := os.Stat(next)
	if err := errors.Join(err1, err2); err != nil {
		return 0, 0, fmt.Errorf("compact: %w", err)
	}
	if err := os.Rename(next, path); err != nil {
		return 0, 0, fmt.Errorf("compact: %w", err)
	}
	return was.Size(), is.Size(), syncDir(filepath.Dir(path))
}

// syncDir makes a new name last through a power loss, where folders can be synced.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return nil
	}
	_ = d.Sync() // not every system can
	return d.Close()
}
