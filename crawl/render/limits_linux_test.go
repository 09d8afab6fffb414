package render

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// An endless or oversized page costs its browser, and the next page gets a new one.
func testLimits(t *testing.T, r *Renderer) {
	usual := r.limits
	hurried, roomy := usual, usual
	hurried.patience, roomy.memory = time.Second, 4*usual.memory
	tests := []struct {
		name   string
		body   string
		limits limits
		want   string
	}{
		{"a loop without end", `<script>for (;;);</script>`, hurried, "took too long"},
		{"memory without end", `<script>const all = []; for (;;) all.push(new Uint8Array(1 << 20).fill(1))</script>`,
			usual, "browser holds"},
		{"windows without end", `<script>for (let i = 0; ; i++) open("https://b.example/" + i + "a".repeat(1e5))</script>`,
			roomy, "more than a page may"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r.limits = tt.limits
			got, err := r.Render(t.Context(), html("https://a.example/", tt.body), web{})
			if got.Processor <= 0 {
				t.Error("no processor time was used")
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) && !strings.Contains(err.Error(), "crashed") {
				t.Errorf("error %v, want %q in it", err, tt.want)
			}
			r.limits = usual
			if got := render(t, r, html("https://a.example/", `<p>after</p>`),
				web{}); !strings.Contains(string(got.DOM), "after") {
				t.Errorf("the next page became %q", got.DOM)
			}
		})
	}
}

// A killer answers like a web, after killing a process.
type killer struct {
	web
	t              *testing.T
	group, process int
}

func (k killer) Answer(r Request) (Answer, bool) {
	_ = syscall.Kill(k.process, syscall.SIGKILL)
	ended(k.t, k.group, k.process)
	return k.web.Answer(r)
}

// ended waits until the killed processes of a group have ended, or all processes if none are named.
// A busy machine takes a while to end them.
func ended(t *testing.T, group int, killed ...int) {
	t.Helper()
	there := func(process int) bool { return len(killed) == 0 || slices.Contains(killed, process) }
	began := time.Now()
	for left := members(group); slices.ContainsFunc(left, there); left = members(group) {
		if time.Since(began) > time.Minute {
			t.Errorf("of processes %v, %v are left", killed, left)
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// If a process that serves all pages ends while a page is rendered, the page is rendered again,
// since it may lack something.
func testHelperKilled(t *testing.T, r *Renderer) {
	page := html("https://killed.example/", `<p id=out></p><script src="/x.js"></script>`)
	web := web{"https://killed.example/x.js": `document.querySelector("#out").append("whole")`}
	for i := range 2 {
		render(t, r, page, web)
		b := <-r.idle
		r.idle <- b
		all := lookAt(b.group).helpers
		if len(all) < 2 {
			t.Fatalf("the browser has helpers %v", all)
		}
		victim := all[i*(len(all)-1)]
		if _, err := r.Render(t.Context(), page, killer{web, t, b.group, victim}); err == nil {
			t.Errorf("the page was rendered although process %d of %v was killed", victim, all)
		}
	}
	if got := render(t, r, page, web); !strings.Contains(string(got.DOM), "whole") {
		t.Errorf("the next page became %q", got.DOM)
	}
}

// A browser with a helper that has ended since the last page is replaced.
func testHelperGone(t *testing.T, r *Renderer) {
	page := html("https://a.example/", `<p id=out></p><script src="/x.js"></script>`)
	web := web{"https://a.example/x.js": `document.querySelector("#out").append("whole")`}
	for range 2 {
		b := <-r.idle
		r.idle <- b
		all := lookAt(b.group).helpers
		for _, helper := range all {
			// A helper may have ended by itself.
			if err := syscall.Kill(helper, syscall.SIGKILL); err != nil && err != syscall.ESRCH {
				t.Fatal(err)
			}
		}
		ended(t, b.group, all...)
		if got := render(t, r, page, web); !strings.Contains(string(got.DOM), "whole") {
			t.Errorf("the next page became %q", got.DOM)
		}
	}
}

// If the helper that fetches ends while a browser is starting, the browser waits for a new one, and
// the page gets its scripts.
func testHelperKilledAtStart(t *testing.T, r *Renderer) {
	page := html("https://a.example/", `<p id=out></p><script src="/x.js"></script>`)
	web := web{"https://a.example/x.js": `document.querySelector("#out").append("whole")`}
	render(t, r, page, web)
	b := <-r.idle
	if err := syscall.Kill(b.group, syscall.SIGSTOP); err != nil { // so that it does not start another one yet
		t.Fatal(err)
	}
	for now := lookAt(b.group); now.fetches; now = lookAt(b.group) {
		for _, helper := range now.helpers {
			command, _ := os.ReadFile("/proc/" + strconv.Itoa(helper) + "/cmdline")
			if strings.Contains(string(command), "NetworkService") {
				_ = syscall.Kill(helper, syscall.SIGKILL)
			}
		}
		time.Sleep(time.Millisecond)
	}
	time.AfterFunc(100*time.Millisecond, func() { _ = syscall.Kill(b.group, syscall.SIGCONT) })
	if err := b.await(); err != nil {
		t.Error(err)
	}
	if !lookAt(b.group).fetches {
		t.Errorf("of the helpers there are only %v", b.last.helpers)
	}
	r.idle <- b
	group := b.group
	if got := render(t, r, page, web); !strings.Contains(string(got.DOM), "whole") {
		t.Errorf("the page became %q", got.DOM)
	}
	if b = <-r.idle; b.group != group {
		t.Errorf("process group %d rendered the page, want %d", b.group, group)
	}
	r.idle <- b
}

// A process that only looked like a helper while it was being started does not count as a helper
// that has ended.
func testNoHelper(t *testing.T, r *Renderer) {
	render(t, r, html("https://a.example/", `<p>page</p>`), web{})
	b := <-r.idle
	defer func() { r.idle <- b }()
	usual := slices.Clone(b.last.helpers)
	b.last.helpers = append(b.last.helpers, b.group) // the browser itself, which is alive and is not a helper
	if !b.whole() || !slices.Equal(b.last.helpers, usual) {
		t.Errorf("with one more than %v the helpers are %v, or some are missing", usual, b.last.helpers)
	}
}

// A browser renders a limited number of pages, and leaves no process and no folder.
func testManyPages(t *testing.T, r *Renderer) {
	b := <-r.idle
	r.idle <- nil
	if b != nil {
		b.close()
	}
	r.limits.pages = 2
	var groups []int
	var folders []string
	for range 3 {
		render(t, r, html("https://a.example/", `<p>page</p>`), web{})
		b := <-r.idle
		r.idle <- b
		groups, folders = append(groups, b.group), append(folders, b.folder.path)
	}
	if groups[0] != groups[1] || groups[1] == groups[2] {
		t.Errorf("pages were rendered by process groups %v, want another for the third", groups)
	}
	ended(t, groups[0])
	if _, err := os.Stat(folders[0]); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("folder %s is left: %v", folders[0], err)
	}
}

// A page with sound makes no process look for a sound server, which would leave a folder.
func testNoSound(t *testing.T, r *Renderer) {
	render(t, r, html("https://a.example/", `<script>new OscillatorNode(new AudioContext()).start()</script>`), web{})
	b := <-r.idle
	r.idle <- b
	if traces, err := filepath.Glob(filepath.Join(b.folder.path, "pulse-*")); err != nil || len(traces) > 0 {
		t.Errorf("the browser looked for a sound server: %v, %v", traces, err)
	}
}

func testTooLarge(t *testing.T, r *Renderer) {
	defer func(usual int64) { r.options.MaxDOM = usual }(r.options.MaxDOM)
	r.options.MaxDOM = 10_000
	page := html("https://a.example/", `<script>document.write("<p>" + "é".repeat(5_000))</script>`)
	if got := render(t, r, page, web{}); !got.TooLarge || got.DOM != nil {
		t.Errorf("a document of more than 10,000 bytes: too large is %v, with %d bytes", got.TooLarge, len(got.DOM))
	}
}

// A killed process leaves no browser, not even a stopped one, and the next process sweeps its folder.
func TestParent(t *testing.T) {
	if os.Getenv("RENDER_PARENT") == "1" {
		r := open(t, 1)
		b := <-r.idle
		r.idle <- b
		os.Stdout.WriteString("group " + strconv.Itoa(b.group) + " " + b.folder.path + "\n")
		r.Render(t.Context(), html("https://a.example/", `<script>for (;;);</script>`), web{})
		return
	}
	if testing.Short() {
		t.Skip("a browser takes seconds")
	}
	t.Setenv("TMPDIR", t.TempDir()) // a folder that no other process sweeps
	command := exec.Command(os.Args[0], "-test.run=^TestParent$", "-test.v")
	command.Env = append(os.Environ(), "RENDER_PARENT=1")
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	group, folder := 0, ""
	said := bufio.NewScanner(out)
	for group == 0 && said.Scan() {
		if words := strings.Fields(said.Text()); len(words) == 3 && words[0] == "group" {
			group, _ = strconv.Atoi(words[1])
			folder = words[2]
		} else if strings.HasPrefix(said.Text(), "--- SKIP") {
			command.Wait()
			t.Skip("no browser")
		}
	}
	if len(members(group)) < 3 {
		t.Errorf("the browser has processes %v", members(group))
	}
	// Its processes are reparented to this one; otherwise the kernel would wake and hang up stopped ones
	// (setpgid(2)).
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	defer unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
	if err := syscall.Kill(group, syscall.SIGSTOP); err != nil {
		t.Error(err)
	}
	defer kill(group)
	command.Process.Kill()
	command.Wait()
	ends, bound := t.Deadline()
	for left := members(group); len(left) != 0; left = members(group) {
		if bound && time.Until(ends) < 10*time.Second {
			t.Fatalf("processes %v are left", left)
		}
		time.Sleep(10 * time.Millisecond)
	}
	if _, err := os.Stat(folder); err != nil {
		t.Errorf("the killed process left no folder: %v", err)
	}
	sweep()
	if _, err := os.Stat(folder); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("folder %s is left: %v", folder, err)
	}
}

func TestOpen(t *testing.T) {
	if _, err := Open(t.Context(), Options{Path: "/nowhere/chromium", NoSandbox: true}); !errors.Is(err,
		ErrNoBrowser) ||
		!strings.Contains(err.Error(), "package chromium") {
		t.Errorf("without a browser: %v", err)
	}
	if _, err := Open(t.Context(), Options{Path: os.Args[0]}); os.Getuid() == 0 && !errors.Is(err, ErrNoSandbox) {
		t.Errorf("as root, with the sandbox: %v", err)
	}
	if _, err := Open(t.Context(), Options{Path: "/bin/false", NoSandbox: true}); err == nil ||
		errors.Is(err, ErrNoBrowser) {
		t.Errorf("with a browser that does not start: %v", err)
	}
}

// If a browser hangs while starting, the error says so and names it; none of its processes is left.
func TestStandsStill(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "still")
	script := fmt.Sprintf("#!/bin/sh\necho $$ > %s.group\nsleep 600\n", path)
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	limits := unhurried
	limits.start = time.Second / 2
	_, err := openWithin(t.Context(), Options{Path: path, NoSandbox: true}, limits)
	if err == nil || errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), path) ||
		!strings.Contains(err.Error(), "500ms") {
		t.Errorf("a browser that stands still: %v", err)
	}
	text, err := os.ReadFile(path + ".group")
	if err != nil {
		t.Fatal(err)
	}
	group, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	if left := members(group); len(left) > 0 {
		t.Errorf("processes %v are left", left)
		kill(group)
	}
}

// TestSandbox renders pages as a user other than root, for whom the sandbox works: with data, with another host's
// script, with what is refused, and with a form.
func TestSandbox(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("not root: all tests have the sandbox")
	}
	if testing.Short() {
		t.Skip("a browser takes seconds")
	}
	const nobody = 65534
	home := filepath.Join(os.TempDir(), fmt.Sprintf("ripple-sandbox-test-%d", os.Getpid()))
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(home)
	if err := os.Chown(home, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	command := exec.Command("/proc/self/exe", "-test.v",
		"-test.run=^TestRenderer$/^pages$/^(a_script_and_its_data|a_redirect_to_another_host|sending|a_form)$")
	command.Env = append(os.Environ(), "TMPDIR="+home, "HOME="+home)
	command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := command.CombinedOutput()
	said := string(out)
	switch {
	case strings.Contains(said, ErrNoSandbox.Error()), strings.Contains(said, ErrNoBrowser.Error()):
		t.Skipf("nothing was rendered: %s", said)
	case err != nil, strings.Count(said, "--- PASS: TestRenderer/pages/") != 4:
		t.Errorf("%v: %s", err, said)
	}
}

// startedAs returns options whose browser is started by a line of sh, in which $browser is the real one.
func startedAs(t *testing.T, o Options, line string) Options {
	t.Helper()
	path := filepath.Join(t.TempDir(), "chromium")
	if err := os.WriteFile(path, []byte("#!/bin/sh\nbrowser="+o.Path+"\n"+line+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	o.Path = path
	return o
}

// The browser dies the first time it is started.
func testSecondStart(t *testing.T, r *Renderer) {
	died := filepath.Join(t.TempDir(), "died")
	again, err := Open(t.Context(),
		startedAs(t, r.options, "[ -e "+died+` ] && exec $browser "$@"; touch `+died+"; kill -9 $$"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(died); err != nil {
		t.Error(err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}

// The browser never reports that it has started. The test waits until the browser has come that
// far, which may take a while on a busy machine.
func testSilentStart(t *testing.T, r *Renderer) {
	pid := filepath.Join(t.TempDir(), "pid")
	var text []byte
	for wait := time.Second; len(text) == 0 && wait < 2*time.Minute; wait *= 2 {
		if b, err := launch(t.Context(), startedAs(t, r.options, "echo $$ >"+pid+"; exec sleep 1000"),
			wait); err == nil {
			t.Errorf("it is started: %v", b.close())
		}
		text, _ = os.ReadFile(pid) // fails until the file exists
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	ended(t, n)
}
