package statefile

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
)

// maxProblems is the maximum number of problems that are listed individually.
const maxProblems = 100

// EnvCheck names the file that this process is to check, as the child of [CheckApart].
const EnvCheck = "RIPPLE_CHECK_FILE"

// A Verdict is what a check has found, and what is printed as JSON.
type Verdict struct {
	File     string   `json:"file"`
	Whole    bool     `json:"whole"`
	URLs     int      `json:"urls"`
	Visits   int      `json:"visits"`
	Hosts    int      `json:"hosts"`
	Run      int      `json:"run_id"` // 0: nothing was crawled yet
	Origin   string   `json:"origin"` // of the file: crawl, shard or merge; empty: it cannot be read
	Digest   string   `json:"digest,omitempty"`
	Found    int      `json:"found"`    // problems
	Problems []string `json:"problems"` // the first of them
	Before   int64    `json:"bytes_before,omitempty"`
	After    int64    `json:"bytes_after,omitempty"`
}

// CheckApart checks a file in a process of its own: damage can hang or end it.
func CheckApart(ctx context.Context, path string, digest bool) (*Verdict, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, Advise(path, err)
	}
	limit := checkTime(info.Size())
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errCheckTime)
	defer cancel()
	cmd, out, err := startCheck(ctx, path, digest)
	if err != nil {
		return nil, fmt.Errorf("check %s: %w", term.Shown(path), err)
	}
	v, ended := readVerdict(out)
	err = cmd.Wait()
	switch {
	case ended != nil && ended.Refused != "":
		return nil, refusedFile(path, ended.Refused, ended.Foreign)
	case ended == nil && context.Cause(ctx) == errCheckTime:
		if err := v.late(limit, worked(cmd.ProcessState)); err != nil {
			return nil, term.Hint(fmt.Errorf("check %s: %w", term.Shown(path), err),
				"copy it to a faster disk and check it there")
		}
	case ended == nil && ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case ended == nil:
		v.note(fmt.Sprintf("the check was ended by what it read: %v", err))
	}
	v.Whole = v.Found == 0
	return v, nil
}

// startCheck starts the process that checks a file, and returns what it prints.
func startCheck(ctx context.Context, path string, digest bool) (*exec.Cmd, io.Reader, error) {
	self, err := term.ThisProgram()
	if err != nil {
		return nil, nil, err
	}
	cmd := exec.CommandContext(ctx, self, "check-file")
	cmd.Args[0] = os.Args[0]
	cmd.Env = append(os.Environ(), EnvCheck+"="+path)
	if digest {
		cmd.Args = append(cmd.Args, "--digest")
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	return cmd, out, cmd.Start()
}

var (
	errCheckTime  = errors.New("the check takes too long")
	errCheckWaits = errors.New("the check takes too long because the disk is slow; this says nothing about the file")
)

// worked is the time that a process has had a processor.
func worked(p *os.ProcessState) time.Duration { return p.UserTime() + p.SystemTime() }

// checkTime is generous: a small file takes milliseconds.
func checkTime(size int64) time.Duration {
	return 9*time.Second + time.Duration(size>>20)*500*time.Millisecond
}

func refusedFile(path, reason string, foreign bool) error {
	err := errors.New(reason)
	if foreign {
		return Advise(path, fmt.Errorf("%s: %w", term.Shown(path), kv.ErrForeign))
	}
	return fmt.Errorf("check %s: %w", term.Shown(path), err)
}

// maxProblemText is the maximum length of a problem in a line of the child. At six bytes of JSON per byte, a line stays
// below maxLine.
const (
	maxProblemText = 128 << 10
	maxLine        = 1 << 20
)

// A checkLine is what the child says, one JSON object a line: problems, then one
// line that says how it ended.
type checkLine struct {
	Problem string   `json:",omitempty"`
	Refused string   `json:",omitempty"` // the file could not be looked at
	Foreign bool     `json:",omitempty"`
	Verdict *Verdict `json:",omitempty"` // the end
}

// readVerdict reads until the child has said how it ended; nil: it has not.
func readVerdict(r io.Reader) (*Verdict, *checkLine) {
	v := &Verdict{Problems: []string{}}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
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

func (v *Verdict) note(problem string) {
	if v.Found++; len(v.Problems) < maxProblems {
		v.Problems = append(v.Problems, problem)
	}
}

// late records that a check exceeded its time limit; worked is the processor time it got. If it mostly waited for the
// disk and has found nothing so far, that says nothing about the file: late returns errCheckWaits.
func (v *Verdict) late(limit, worked time.Duration) error {
	why := "its pages lead in circles"
	switch {
	case worked >= limit/2:
	case v.Found == 0:
		return errCheckWaits
	default:
		why = "it waits for the disk"
	}
	v.note(fmt.Sprintf("the check did not end within %s: %s", term.Span(limit), why))
	return nil
}

// CheckFile looks a file through and writes what it finds.
func CheckFile(w io.Writer, path string, digest bool) error {
	if info, err := os.Stat(path); err == nil {
		term.LimitAddressSpace(2<<30 + 2*info.Size())
	}
	out := json.NewEncoder(w)
	found := 0
	note := func(problem string) {
		found++
		_ = out.Encode(checkLine{Problem: term.Clean(problem, maxProblemText)})
	}
	if err := kv.Check(path, note); err != nil {
		return out.Encode(checkLine{Refused: term.Clean(err.Error(), maxProblemText), Foreign: errors.Is(err, kv.ErrForeign)})
	}
	v := &Verdict{}
	if err := v.survey(path, digest && found == 0, note); err != nil && (found == 0 || !errors.Is(err, kv.ErrDamaged)) {
		note(err.Error())
	}
	return out.Encode(checkLine{Verdict: v})
}

// The origins of a state file.
const (
	fromCrawl = "crawl" // of one machine
	fromShard = "shard" // a crawl of a part of a terrain
	fromMerge = "merge" // of the files of shards
)

// originOf returns how a state file was created: by a crawl, as a shard, or by a merge.
func originOf(store *kv.Store) (string, error) {
	var merged []byte
	err := store.View(func(tx *kv.Tx) (err error) { merged, err = tx.Meta.Value(kv.MetaMerged); return err })
	part := store.Part()
	switch {
	case err != nil:
		return "", err
	case merged != nil || part.Merged():
		return fromMerge, nil
	case part.Shards != 0:
		return fromShard, nil
	}
	return fromCrawl, nil
}

// Advice returns what to do about a damaged file.
func (v *Verdict) Advice() string {
	fresh := "start again with \"ripple crawl --fresh\", which keeps this file beside the new one"
	switch v.Origin {
	case fromMerge:
		return "bring back a backup, or merge the shards again, each with its newest file"
	case fromShard:
		return "bring back its newest copy, or if there is none, recreate it with \"ripple shard recreate\""
	case fromCrawl:
		return "bring back a backup, or " + fresh
	}
	return "bring back a backup; if it was merged from shards, merge them again; " +
		"if it is the file of one machine, " + fresh
}

// survey checks what the records mean.
func (v *Verdict) survey(path string, digest bool, note func(string)) error {
	store, err := kv.Open(path, kv.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	defer store.Close()
	if v.Origin, err = originOf(store); err != nil {
		return err
	}
	v.URLs, v.Visits, v.Hosts = store.URLs(), int(store.LastSeq()), store.Hosts()
	s, err := survey.New(store)
	if errors.Is(err, survey.ErrNoRun) {
		return nil
	}
	if err != nil {
		return err
	}
	v.Run = int(s.Run().ID)
	if err := survey.Check(s, note); err != nil || !digest {
		return err
	}
	v.Digest, err = survey.Digest(s)
	return err
}
