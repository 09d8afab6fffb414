package term

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"sync"
	"text/tabwriter"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/lmittmann/tint"
	"golang.org/x/term"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/schema/amount"
	"github.com/sumi-ripple/ripple/schema/sanitize"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// A Screen is stderr as a person sees it. On a terminal it can keep a block of lines below everything else that is
// written. It is safe for concurrent use.
type Screen struct {
	mu    sync.Mutex
	w     io.Writer
	fd    int
	Term  bool
	Size  func() (width, height int)
	block []string
	drawn []string // lines of the block that stand on the terminal
}

func NewScreen(w io.Writer) *Screen {
	s := &Screen{w: w}
	s.Size = func() (int, int) {
		width, height, err := term.GetSize(s.fd)
		if err != nil || width < 2 || height < 2 {
			return 80, 24
		}
		return width, height
	}
	if f, ok := w.(*os.File); ok {
		s.fd = int(f.Fd())
		s.Term = term.IsTerminal(s.fd) && os.Getenv("TERM") != "dumb"
	}
	return s
}

// coloured reports whether the terminal shows colours and the user wants them.
func (s *Screen) coloured() bool { return s.Term && os.Getenv("NO_COLOR") == "" }

// Write writes whole lines above the block.
func (s *Screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.drawn) == 0 && len(s.block) == 0 {
		return s.w.Write(p)
	}
	var b bytes.Buffer
	s.erase(&b)
	b.Write(p)
	s.draw(&b)
	if _, err := s.w.Write(b.Bytes()); err != nil {
		return 0, err
	}
	return len(p), nil
}

// PrintTo hides the block, writes text to w, which may be the same terminal, and shows the block again.
func (s *Screen) PrintTo(w io.Writer, text string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if shown := len(s.drawn) > 0; shown {
		var b bytes.Buffer
		s.erase(&b)
		_, _ = s.w.Write(b.Bytes())
		defer func() {
			b.Reset()
			s.draw(&b)
			_, _ = s.w.Write(b.Bytes())
		}()
	}
	_, err := io.WriteString(w, text)
	return err
}

// tell writes lines above the block. On a terminal they are wrapped between words unless whole is set.
func (s *Screen) tell(text string, whole bool) {
	if s.Term && !whole {
		width, _ := s.Size()
		text = wrap(text, width-1)
	}
	_, _ = s.Write([]byte(text + "\n"))
}

// Show replaces the block; nil removes it.
func (s *Screen) Show(lines []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.block = lines
	var b bytes.Buffer
	s.erase(&b)
	s.draw(&b)
	_, _ = s.w.Write(b.Bytes())
}

// erase removes the drawn lines. A terminal that has become narrower since has wrapped them.
func (s *Screen) erase(b *bytes.Buffer) {
	width, _ := s.Size()
	rows := 0
	for _, line := range s.drawn {
		rows += max(1, (utf8.RuneCountInString(line)+width-1)/width)
	}
	if rows > 0 {
		fmt.Fprintf(b, "\r\x1b[%dA\x1b[J", rows)
	}
	s.drawn = nil
}

// draw writes the block, folded to the width of the terminal.
func (s *Screen) draw(b *bytes.Buffer) {
	width, height := s.Size()
	for _, line := range s.block {
		s.drawn = append(s.drawn, fold(line, width-1)...)
	}
	s.drawn = s.drawn[:min(len(s.drawn), height-1)]
	for _, line := range s.drawn {
		b.WriteString(line + "\n")
	}
}

// foldIndent is the column in which the text of a status line begins, after its label.
const foldIndent = "          "

// fold breaks a line between words. A word longer than a line is cut.
func fold(line string, width int) (lines []string) {
	indent := ""
	for utf8.RuneCountInString(line) > width {
		runes := []rune(line)
		least := len(indent)
		for least < len(runes) && runes[least] == ' ' {
			least++
		}
		end := width
		for end > least && runes[end] != ' ' {
			end--
		}
		if end <= least {
			return append(lines, Cut(line, width))
		}
		lines = append(lines, strings.TrimRight(string(runes[:end]), " ·"))
		if indent = foldIndent; 2*len(indent) > width {
			indent = "  "
		}
		line = indent + strings.TrimLeft(string(runes[end:]), " ·")
	}
	return append(lines, line)
}

// wrap breaks lines between words and indents the continuation. A word longer than a line stays whole.
func wrap(text string, width int) string {
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		rest := strings.TrimLeft(line, " ")
		indent := line[:len(line)-len(rest)]
		for i, word := range strings.Split(rest, " ") {
			switch last := len(lines) - 1; {
			case i == 0:
				lines = append(lines, indent+word)
			case utf8.RuneCountInString(lines[last])+1+utf8.RuneCountInString(word) > width:
				lines = append(lines, indent+"  "+word)
			default:
				lines[last] += " " + word
			}
		}
	}
	return strings.Join(lines, "\n")
}

// Cut shortens a line to a number of characters.
func Cut(line string, width int) string {
	if utf8.RuneCountInString(line) <= width {
		return line
	}
	runes := []rune(line)
	return string(runes[:max(0, width-1)]) + "…"
}

// newLogHandler returns a handler that writes log lines for a person, or as JSON.
func newLogHandler(s *Screen, level slog.Level, format string) slog.Handler {
	if format == "json" {
		return slog.NewJSONHandler(s, &slog.HandlerOptions{Level: level, ReplaceAttr: jsonAttr})
	}
	layout := time.RFC3339
	if s.Term {
		layout = time.TimeOnly
	}
	return tint.NewTextHandler(s, &tint.Options{
		Level: level, TimeFormat: layout, NoColor: !s.coloured(), ReplaceAttr: inertAttr,
	})
}

// inertAttr makes the text of a log line inert, wherever it came from.
func inertAttr(_ []string, a slog.Attr) slog.Attr {
	const most = 8192
	switch v := a.Value.Any().(type) {
	case slog.Level:
		if v == crawl.LevelTrace {
			a.Value = slog.StringValue("TRC")
		}
	case string:
		a.Value = slog.StringValue(sanitize.Line(v, most))
	case error:
		a.Value = slog.StringValue(sanitize.Line(v.Error(), most))
	}
	return a
}

// jsonAttr adds the unit to the name of a duration, as all JSON of Ripple does, and writes levels in full.
func jsonAttr(groups []string, a slog.Attr) slog.Attr {
	switch v := a.Value.Any().(type) {
	case time.Duration:
		return slog.Float64(a.Key+"_seconds", v.Seconds())
	case slog.Level:
		if v == crawl.LevelTrace {
			return slog.String(a.Key, "TRACE")
		}
	}
	return inertAttr(groups, a)
}

// PrintJSON writes a value as indented JSON with a final line break.
func PrintJSON(w io.Writer, v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(sanitize.JSON(b.Bytes()))
	return err
}

// A Table aligns columns.
type Table struct{ *tabwriter.Writer }

func NewTable(w io.Writer) Table { return Table{tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)} }

func (t Table) Row(cells ...any) {
	text := make([]string, len(cells))
	for i, c := range cells {
		text[i] = fmt.Sprint(c)
	}
	fmt.Fprintln(t, strings.TrimRight(strings.Join(text, "\t"), "\t"))
}

// Count returns a number with commas and the noun in the form that goes with it.
func Count(n int, one, many string) string { return amount.Of(n, one, many) }

// Commas returns a number with commas between its thousands.
func Commas(n int) string { return amount.Commas(n) }

// Span returns a duration as a person says it, in at most two units.
func Span(d time.Duration) string {
	switch d = d.Round(time.Millisecond); {
	case d == 0:
		return "0 s"
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min %02d s", int(d.Minutes()), int(d.Seconds())%60)
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h %02d min", int(d.Hours()), int(d.Minutes())%60)
	}
	return strings.TrimSuffix(fmt.Sprintf("%d days %d h", int(d.Hours())/24, int(d.Hours())%24), " 0 h")
}

// Gap returns a duration like Span, but with its fraction of a second: the gap between two requests is a promise.
func Gap(d time.Duration) string {
	if d > time.Second && d < time.Minute {
		return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) + " s"
	}
	return Span(d)
}

// Clean makes text from a peer safe for a terminal, and cuts it to a number of bytes.
func Clean(text string, most int) string { return sanitize.Line(text, most) }

// ShownHost returns a host or a URL as a person is shown it: cleaned like [Clean], followed by how its host reads if it
// is internationalised.
func ShownHost(name string, most int) string { return Clean(name, most) + weburl.Reading(name) }

// ShownHosts returns each name as [ShownHost] does.
func ShownHosts(names []string) []string {
	shown := make([]string, len(names))
	for i, name := range names {
		shown[i] = ShownHost(name, 253)
	}
	return shown
}

// Shown returns a path quoted so that it can be typed into a shell.
func Shown(path string) string {
	if path == "" || strings.ContainsFunc(path, func(r rune) bool {
		return !unicode.IsPrint(r) || strings.ContainsRune(" \"'`$\\!*?&|;<>()[]{}#~", r)
	}) {
		return strconv.Quote(path)
	}
	return path
}

// Flushed writes the output of f if f succeeds, so that a result is shown whole or not at all.
func Flushed(w io.Writer, f func(io.Writer) error) error {
	var b strings.Builder
	if err := f(&b); err != nil {
		return err
	}
	_, err := io.WriteString(w, b.String())
	return err
}
