package proof

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"unsafe"
)

// Constants of ptrace(2) that package syscall lacks.
const (
	// The last one: the process is killed with its tracer.
	ptraceOptions     = syscall.PTRACE_O_TRACECLONE | syscall.PTRACE_O_TRACESYSGOOD | 1<<20
	ptraceSyscallInfo = 0x420e
	syscallEntry      = 1
	syscallExit       = 2
)

// trace runs a command and records its operations on some files, including while they have
// temporary names, and every line "ack N" that it writes to stdout. The command is killed right
// after the first event for which kill, unless nil, is true.
func trace(cmd *exec.Cmd, kill func([]diskEvent) bool, paths ...string) (events []diskEvent, err error) {
	childless(func() { events, err = traceHere(cmd, kill, paths) })
	return events, err
}

// childless runs f in a thread that has no children, so that it may wait for any child it gets. It
// must not be the first thread either, which inherits the children of a thread that ends.
func childless(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // ptrace applies to threads, not to processes
		defer runtime.UnlockOSThread()
		children, err := os.ReadFile("/proc/thread-self/children")
		if syscall.Gettid() == os.Getpid() || err == nil && len(children) > 0 {
			childless(f) // in another thread, while this one is occupied
			return
		}
		f()
	}()
	<-done
}

// traceHere traces from this thread, which has no children but the traced process.
func traceHere(cmd *exec.Cmd, kill func([]diskEvent) bool, paths []string) ([]diskEvent, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	pid := cmd.Process.Pid
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(pid, &status, 0, nil); err != nil {
		return nil, err
	}
	if err := syscall.PtraceSetOptions(pid, ptraceOptions); err != nil {
		return nil, err
	}
	mem, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		return nil, err
	}
	defer mem.Close()
	t := &tracer{paths: paths, mem: mem, kill: kill, calls: map[int]tracedCall{}, files: map[uint64]traced{}}
	if err := syscall.PtraceSyscall(pid, 0); err != nil {
		return nil, err
	}
	err = t.follow(pid)
	return t.events, errors.Join(err, t.err)
}

var errKilled = errors.New("killed")

type tracer struct {
	paths  []string
	mem    *os.File
	calls  map[int]tracedCall // by thread: the system call that it is in
	files  map[uint64]traced  // by descriptor
	events []diskEvent
	kill   func([]diskEvent) bool
	dead   bool
	err    error
}

// A traced says whether a descriptor is that of a watched file, of which one, and whether the file
// has a temporary name.
type traced struct {
	is, temporary bool
	file          int
}

type tracedCall struct {
	number uint64
	args   [6]uint64
}

// follow lets all threads run from system call to system call until the process has ended.
func (t *tracer) follow(pid int) error {
	for {
		var status syscall.WaitStatus
		tid, err := syscall.Wait4(-1, &status, syscall.WALL|syscall.WNOTHREAD, nil)
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return fmt.Errorf("wait: %w", err)
		}
		switch {
		case status.Exited() && tid == pid:
			if status.ExitStatus() != 0 {
				return fmt.Errorf("the traced process ended with %d", status.ExitStatus())
			}
			return nil
		case status.Signaled() && tid == pid && t.dead:
			return errKilled
		case status.Signaled() && tid == pid:
			return fmt.Errorf("the traced process was killed by %s", status.Signal())
		case !status.Stopped():
			continue
		}
		signal := int(status.StopSignal())
		switch status.StopSignal() {
		case syscall.SIGTRAP | 0x80:
			before := len(t.events)
			t.call(tid)
			signal = 0
			if len(t.events) > before && t.kill != nil && !t.dead && t.kill(t.events) {
				t.dead = true
				if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
					return err
				}
			}
		case syscall.SIGTRAP, syscall.SIGSTOP:
			signal = 0
		}
		if err := syscall.PtraceSyscall(tid, signal); err != nil && err != syscall.ESRCH {
			return fmt.Errorf("go on: %w", err)
		}
	}
}

// call reads a system call of a thread, as it begins and as it ends.
func (t *tracer) call(tid int) {
	var info struct {
		op     uint8
		_      [3]uint8
		_      uint32
		_, _   uint64
		fields [8]uint64
	}
	_, _, errno := syscall.Syscall6(syscall.SYS_PTRACE, ptraceSyscallInfo, uintptr(tid), unsafe.Sizeof(info),
		uintptr(unsafe.Pointer(&info)), 0, 0)
	if errno == syscall.ESRCH {
		return // the process has ended while this thread was stopped
	}
	if errno != 0 {
		t.err = fmt.Errorf("ask for a system call: %w", errno)
		return
	}
	switch info.op {
	case syscallEntry:
		call := tracedCall{info.fields[0], [6]uint64(info.fields[1:7])}
		t.calls[tid] = call
		switch call.number {
		case syscall.SYS_PWRITE64:
			t.note(call.args[0], diskEvent{kind: diskBefore, at: int64(call.args[3])})
		case syscall.SYS_CLOSE: // now: when it returns, another thread may reuse the number
			delete(t.files, call.args[0])
		}
	case syscallExit:
		if call, ok := t.calls[tid]; ok && int64(info.fields[0]) >= 0 {
			t.done(call, info.fields[0])
		}
		delete(t.calls, tid)
	}
}

// done records a call that has succeeded.
func (t *tracer) done(call tracedCall, result uint64) {
	args := call.args
	switch call.number {
	case syscall.SYS_OPENAT:
		t.files[result] = t.opened(args[1])
	case syscall.SYS_PWRITE64:
		t.note(args[0], diskEvent{kind: diskWrite, at: int64(args[3]), data: t.read(args[1], result)})
	case syscall.SYS_FTRUNCATE:
		t.note(args[0], diskEvent{kind: diskResize, at: int64(args[1])})
	case syscall.SYS_FSYNC, syscall.SYS_FDATASYNC:
		t.note(args[0], diskEvent{kind: diskSync})
	case syscall.SYS_WRITE:
		if text, ok := strings.CutPrefix(string(t.read(args[1], min(result, 64))), "ack "); ok && args[0] == 1 {
			n, _ := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
			t.events = append(t.events, diskEvent{kind: diskAck, at: n})
		}
	}
}

// opened returns the file whose name is at an address.
func (t *tracer) opened(at uint64) traced {
	const room = len(".new-4294967295")
	longest := 0
	for _, path := range t.paths {
		longest = max(longest, len(path))
	}
	name, _, _ := strings.Cut(string(t.read(at, uint64(longest+room+1))), "\x00")
	for n, path := range t.paths {
		if f := (traced{name == path, strings.HasPrefix(name, path+".new-"), n}); f.is || f.temporary {
			return f
		}
	}
	return traced{}
}

// note records an event of a file.
func (t *tracer) note(descriptor uint64, e diskEvent) {
	f := t.files[descriptor]
	if f.is || f.temporary {
		e.temporary, e.file = f.temporary, f.file
		t.events = append(t.events, e)
	}
}

// read copies memory of the traced process; fewer than n bytes at the end of a mapping.
func (t *tracer) read(at, n uint64) []byte {
	b := make([]byte, n)
	got, err := t.mem.ReadAt(b, int64(at))
	if got == 0 && n > 0 {
		t.err = err
	}
	return b[:got]
}
