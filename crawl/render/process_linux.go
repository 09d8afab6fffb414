package render

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// detach puts a browser into a process group of its own that dies with this process. Only the first
// process of the group needs the signal, because the others end with it.
func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// own reports whether a file belongs to the user of this process.
func own(info os.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Getuid()
}

// kill kills a process group. It returns false if the group no longer exists.
func kill(group int) bool { return syscall.Kill(-group, syscall.SIGKILL) == nil }

// members returns the processes of a group that have not ended.
func members(group int) (found []int) {
	each(group, func(process int, _ [][]byte) { found = append(found, process) })
	slices.Sort(found)
	return found
}

// each calls f for the processes of a group that have not ended, with the fields of their status after the name:
// state, parent, group and so on (proc_pid_stat(5)).
func each(group int, f func(process int, status [][]byte)) {
	folder, err := os.Open("/proc")
	if err != nil {
		return
	}
	defer folder.Close()
	names, _ := folder.Readdirnames(-1)
	wanted := strconv.Itoa(group)
	for _, name := range names {
		process, err := strconv.Atoi(name)
		if err != nil {
			continue // not a process
		}
		text, err := os.ReadFile("/proc/" + name + "/stat")
		if err != nil {
			continue // it has ended
		}
		fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:]) // the name may contain anything
		if len(fields) > 14 && string(fields[0]) != "Z" && string(fields[2]) == wanted {
			f(process, fields)
		}
	}
}

// lookAt looks at the processes of a group once, which takes milliseconds.
func lookAt(group int) (l look) {
	each(group, func(process int, status [][]byte) {
		l.used += spent(status)
		command, _ := os.ReadFile("/proc/" + strconv.Itoa(process) + "/cmdline")
		network := bytes.Contains(command, []byte("network.mojom.NetworkService"))
		switch {
		case network || bytes.Contains(command, []byte("--type=zygote")):
			l.helpers, l.fetches = append(l.helpers, process), l.fetches || network
		case bytes.Contains(command, []byte("--type=renderer")):
			l.page = max(l.page, mappedBy(process))
		}
	})
	slices.Sort(l.helpers)
	return l
}

// resident returns the memory of a process group in bytes, counting each process's share of shared pages
// (proc_pid_smaps(5), Pss). The kernel takes milliseconds to find a process's shares.
func resident(group int) int64 {
	var sum int64
	for _, process := range members(group) {
		sum += share(process)
	}
	return sum
}

// mapped returns the memory of a process group in bytes, with shared pages counted for every process
// (proc_pid_statm(5)).
func mapped(group int) int64 {
	var sum int64
	for _, process := range members(group) {
		sum += mappedBy(process)
	}
	return sum
}

func mappedBy(process int) int64 {
	text, _ := os.ReadFile("/proc/" + strconv.Itoa(process) + "/statm") // fails if it has ended
	fields := bytes.Fields(text)
	if len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.ParseInt(string(fields[1]), 10, 64)
	return pages * int64(os.Getpagesize())
}

// processorTime returns the processor time of a process group, including children that have ended and for which
// their parents have waited.
func processorTime(group int) (sum time.Duration) {
	each(group, func(_ int, status [][]byte) { sum += spent(status) })
	return sum
}

// spent returns the processor time of a process and its children: utime, stime, cutime, cstime.
func spent(status [][]byte) (sum time.Duration) {
	for _, field := range status[11:15] {
		ticks, _ := strconv.ParseInt(string(field), 10, 64)
		sum += time.Duration(ticks) * 10 * time.Millisecond
	}
	return sum
}

func share(process int) int64 {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(process) + "/smaps_rollup")
	if err != nil {
		return 0 // it has ended
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		if rest, ok := strings.CutPrefix(lines.Text(), "Pss:"); ok {
			kilobytes, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return kilobytes << 10
		}
	}
	return 0
}
