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
func members(group int) []int {
	folder, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer folder.Close()
	names, _ := folder.Readdirnames(-1)
	wanted := strconv.Itoa(group)
	var found []int
	for _, name := range names {
		process, err := strconv.Atoi(name)
		if err != nil {
			continue // not a process
		}
		text, err := os.ReadFile("/proc/" + name + "/stat")
		if err != nil {
			continue // it has ended
		}
		// After the name, which may contain anything: state, parent, group (proc_pid_stat(5)).
		fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
		if len(fields) > 2 && string(fields[0]) != "Z" && string(fields[2]) == wanted {
			found = append(found, process)
		}
	}
	slices.Sort(found)
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
	var pages int64
	for _, process := range members(group) {
		text, _ := os.ReadFile("/proc/" + strconv.Itoa(process) + "/statm") // fails if it has ended
		if fields := bytes.Fields(text); len(fields) > 1 {
			n, _ := strconv.ParseInt(string(fields[1]), 10, 64)
			pages += n
		}
	}
	return pages * int64(os.Getpagesize())
}

// processorTime returns the processor time of a process group, including children that have ended and for which
// their parents have waited (proc_pid_stat(5)).
func processorTime(group int) (sum time.Duration) {
	for _, process := range members(group) {
		text, _ := os.ReadFile("/proc/" + strconv.Itoa(process) + "/stat") // fails if it has ended
		fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
		for i := 11; i < 15 && i < len(fields); i++ { // utime, stime, cutime, cstime
			ticks, _ := strconv.ParseInt(string(fields[i]), 10, 64)
			sum += time.Duration(ticks) * 10 * time.Millisecond
		}
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
