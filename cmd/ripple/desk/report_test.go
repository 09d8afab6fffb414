package desk

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// Reports are read, however they arrive, and whatever else is written.
func TestReports(t *testing.T) {
	var out strings.Builder
	Report(&out, "pages", 1, 3)
	out.WriteString("terrain.db\n{\n\n" + strings.Repeat("x", 2*maxReport) + "\n")
	Report(&out, "links", 9, 8)
	Report(&out, "indexes", 4, 0)
	ReportLack(&out, "a page")
	out.WriteString(`{"step": "cut"`)
	for name, in := range map[string]io.Reader{
		"at once": strings.NewReader(out.String()), "byte by byte": iotest.OneByteReader(strings.NewReader(out.String())),
	} {
		var told []string
		to := &reports{told: func(r report) {
			text := r.Step + r.Lacks
			if share := r.share(); share != nil {
				text += fmt.Sprintf(" %d", *share)
			}
			told = append(told, text)
		}}
		if _, err := io.Copy(struct{ io.Writer }{to}, struct{ io.Reader }{in}); err != nil {
			t.Error(err)
		}
		if got := strings.Join(told, ", "); got != "pages 33, links 100, indexes, a page" {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// A client that ordered an export can read its progress until it ends.
func TestExportReports(t *testing.T) {
	e := &Exports{Formats: []Format{{Name: "gexf", Ending: ".gexf"}}, Command: func(Order, string) (*exec.Cmd, error) {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "DESK_TEST_EXPORT=1")
		return cmd, nil
	}}
	e.routes(&tickets{})
	f, err := e.order(Order{Format: "gexf"})
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(2 * time.Minute); f.Percent == nil; time.Sleep(5 * time.Millisecond) {
		if f, err = e.file(f.ID); err != nil || time.Now().After(end) {
			t.Fatalf("nothing is told of %+v, %v", f, err)
		}
	}
	if *f.Percent != 75 || f.Step != "links" || f.Status != "writing" {
		t.Errorf("%s, %s: %d %%", f.Status, f.Step, *f.Percent)
	}
	e.Close()
	if f, err = e.file(f.ID); err != nil || f.Percent != nil || f.Status != "failed" {
		t.Errorf("when the desk has ended: %+v, %v", f, err)
	}
}
