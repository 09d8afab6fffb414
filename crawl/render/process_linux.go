package render

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
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
func members(group int) []int {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	var found []int
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		// After the name, which may contain anything: state, parent, group (proc_pid_stat(5)).
		fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
		if len(fields) > 2 && string(fields[0]) != "Z" && string(fields[2]) == strconv.Itoa(group) {
			if process, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil {
				found = append(found, process)
			}
		}
	}
	return found
}

// helpers returns the processes of a group that serve all its pages. Chromium restarts them when they end,
// and their work is lost.
func helpers(group int) []int {
	all, _ := lookFor(group)
	return all
}

// lookFor returns the helpers of a group, and whether the helper that fetches is among them.
func lookFor(group int) (all []int, fetches bool) {
	for _, process := range members(group) {
		command, _ := os.ReadFile("/proc/" + strconv.Itoa(process) + "/cmdline")
		network := bytes.Contains(command, []byte("network.mojom.NetworkService"))
		if network || bytes.Contains(command, []byte("--type=zygote")) {
			all, fetches = append(all, process), fetches || network
		}
	}
	return all, fetches
}

// resident returns the memory of a process group in bytes, counting each process's share of shared pages
// (proc_pid_smaps(5), Pss).
func resident(group int) int64 {
	var sum int64
	for _, process := range members(group) {
		sum += share(process)
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
