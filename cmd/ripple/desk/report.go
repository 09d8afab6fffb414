package desk

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// A report is the progress of a process that writes an export, as a line of its output.
type report struct {
	Step  string `json:"step"`
	Done  int    `json:"done"`
	Total int    `json:"total"` // 0: unknown

	Lacks string `json:"lacks,omitempty"` // what the export leaves out, reported at its end
}

// Report reports the progress of an export to the desk.
func Report(out io.Writer, step string, done, total int) {
	report{Step: step, Done: done, Total: total}.write(out)
}

// ReportLack reports to the desk what an export leaves out.
func ReportLack(out io.Writer, text string) { report{Lacks: text}.write(out) }

func (r report) write(out io.Writer) {
	if line, err := json.Marshal(r); err == nil {
		fmt.Fprintf(out, "%s\n", line)
	}
}

// share returns how much is done, in percent; nil: unknown.
func (r report) share() *int {
	if r.Total <= 0 {
		return nil
	}
	percent := int(100 * int64(max(0, min(r.Done, r.Total))) / int64(r.Total))
	return &percent
}

// reports are parsed from the output of a process. Other lines are ignored.
type reports struct {
	told func(report)
	rest []byte // incomplete line
}

const maxReport = 1 << 12 // bytes of a line

func (r *reports) Write(b []byte) (int, error) {
	for line := range bytes.Lines(b) {
		if r.rest = append(r.rest, line[:min(len(line), maxReport-len(r.rest))]...); line[len(line)-1] != '\n' {
			continue
		}
		var one report
		if json.Unmarshal(r.rest, &one) == nil {
			r.told(one)
		}
		r.rest = r.rest[:0]
	}
	return len(b), nil
}
