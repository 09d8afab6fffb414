package render

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// In a network namespace without a way out, no packet is even attempted: the kernel counts no
// datagram, and no IPv4 datagram without a route. For each tab Chromium checks for an IPv6 route by
// connecting a UDP socket, which sends nothing. IPv6 routes are therefore not counted. [testNoLeak]
// watches TCP on loopback.
func TestNoLeakNamespace(t *testing.T) {
	t.Parallel()
	if os.Getenv("RENDER_NAMESPACE") == "1" {
		up(t, "lo")
		r := open(t, 1)
		testNoLeak(t, r)
		for _, name := range []string{"Ip.OutNoRoutes", "Udp.OutDatagrams", "Udp6.OutDatagrams"} {
			if n := counted(t, name); n != 0 {
				t.Errorf("%s is %d", name, n)
			}
		}
		return
	}
	if os.Getenv("RIPPLE_CI") != "1" {
		t.Skip("a browser takes seconds; RIPPLE_CI=1 runs it")
	}
	command := exec.Command(os.Args[0], "-test.run=^TestNoLeakNamespace$", "-test.v")
	command.Env = append(os.Environ(), "RENDER_NAMESPACE=1")
	command.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	out, err := command.CombinedOutput()
	var ended *exec.ExitError
	switch {
	case err != nil && !errors.As(err, &ended):
		t.Skip("no network namespace: ", err)
	case err != nil:
		t.Errorf("%v\n%s", err, out)
	case strings.Contains(string(out), "--- SKIP"):
		t.Skipf("%s", out)
	}
}

// up brings an interface up.
func up(t *testing.T, name string) {
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(socket)
	request, err := unix.NewIfreq(name)
	if err != nil {
		t.Fatal(err)
	}
	request.SetUint16(unix.IFF_UP)
	if err := unix.IoctlIfreq(socket, unix.SIOCSIFFLAGS, request); err != nil {
		t.Fatal(err)
	}
}

// counted returns a counter of this network namespace, such as "Ip.OutNoRoutes", of IPv4 (proc_net(5), snmp)
// or of IPv6, if available.
func counted(t *testing.T, name string) int {
	t.Helper()
	protocol, field, _ := strings.Cut(name, ".")
	var names []string
	for _, path := range []string{"/proc/self/net/snmp", "/proc/self/net/snmp6"} {
		text, _ := os.ReadFile(path)
		for line := range strings.Lines(string(text)) {
			words := strings.Fields(line)
			at := 1
			switch {
			case len(words) == 2 && words[0] == protocol+field:
			case len(words) > 2 && words[0] == protocol+":" && names == nil:
				names = words
				continue
			case len(words) > 2 && words[0] == protocol+":":
				for at < len(names) && names[at] != field {
					at++
				}
			default:
				continue
			}
			n, err := strconv.Atoi(words[at])
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	if !strings.HasSuffix(protocol, "6") {
		t.Fatalf("no counter %s", name)
	}
	return 0
}
