package proof

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sumi-ripple/ripple/crawl/webtest/nameserver"
)

// Where a crawler is and which servers it reaches, when both have networks of their own.
const (
	home     = "10.1.0" // the crawler's network; its router is .1, the crawler .2
	abroad   = "10.2.0" // the network to which it moves
	served   = "10.77.0"
	resolver = served + ".253"

	otherResolver = served + ".254"
)

// twoNetworks are in namespaces of this machine, the crawler's and that of all servers, with a
// connection between them.
type twoNetworks struct {
	t       testing.TB
	crawler *os.File
	servers *os.File
}

// newTwoNetworks skips the test if namespaces are not available; under RIPPLE_CI=1 the test fails.
func newTwoNetworks(t testing.TB) *twoNetworks {
	t.Helper()
	n := &twoNetworks{t: t}
	for _, ns := range []**os.File{&n.crawler, &n.servers} {
		var err error
		if *ns, err = newNamespace(); err != nil {
			unable(t, err)
		}
		t.Cleanup(func() { (*ns).Close() })
	}
	for _, c := range []struct {
		in   *os.File
		args string
	}{
		{n.servers, fmt.Sprintf("link add wan type veth peer name lan netns /proc/%d/fd/%d", os.Getpid(),
			n.crawler.Fd())},
		{n.servers, "link set lo up"},
		{n.servers, "link set wan up"},
		{n.servers, "addr add " + home + ".1/24 dev wan"},
		{n.servers, "addr add " + abroad + ".1/24 dev wan"},
		{n.servers, "route add local " + served + ".0/24 dev lo"},
		{n.crawler, "link set lo up"},
	} {
		if err := ip(c.in, c.args); err != nil {
			unable(t, err)
		}
	}
	n.join(home)
	return n
}

func unable(t testing.TB, err error) {
	t.Helper()
	if os.Getenv("RIPPLE_CI") == "1" && os.Getuid() == 0 {
		t.Fatalf("no networks can be made, and RIPPLE_CI=1 asks for some: %v", err)
	}
	t.Skipf("no networks can be made here: %v", err)
}

// join connects the crawler to a network.
func (n *twoNetworks) join(network string) {
	n.t.Helper()
	n.do(n.crawler, joining(network)...)
}

// leave disconnects it.
func (n *twoNetworks) leave() {
	n.t.Helper()
	n.do(n.crawler, leaving()...)
}

// change moves the crawler from one network to another at once.
func (n *twoNetworks) change(network string) {
	n.t.Helper()
	n.do(n.crawler, append(leaving(), joining(network)...)...)
}

func joining(network string) []string {
	return []string{"link set lan up", "addr replace " + network + ".2/24 dev lan", "route replace default via " +
		network + ".1"}
}

func leaving() []string { return []string{"addr flush dev lan", "route flush all"} }

// lose silently drops everything that the crawler sends.
func (n *twoNetworks) lose() {
	n.t.Helper()
	n.do(n.crawler, "neigh replace "+home+".1 lladdr 02:00:00:00:00:99 nud permanent dev lan")
}

// find ends that.
func (n *twoNetworks) find() {
	n.t.Helper()
	n.do(n.crawler, "neigh del "+home+".1 dev lan")
}

// routes makes the router answer for addresses that it has no route to.
func (n *twoNetworks) routes() {
	n.t.Helper()
	err := within(n.servers, func() error { return os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0) })
	if err != nil {
		n.t.Fatal(err)
	}
}

func (n *twoNetworks) do(in *os.File, commands ...string) {
	n.t.Helper()
	if err := ip(in, commands...); err != nil {
		n.t.Fatal(err)
	}
}

// ip runs ip commands in one process, so that no time passes between them.
func ip(in *os.File, commands ...string) error {
	return within(in, func() error {
		cmd := exec.Command("ip", "-batch", "-")
		cmd.Stdin = strings.NewReader(strings.Join(commands, "\n") + "\n")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("ip %q: %w: %s", commands, err, out)
		}
		return nil
	})
}

// branch makes the network of another crawler, with a connection to that of all servers.
func (n *twoNetworks) branch(i int) *os.File {
	n.t.Helper()
	ns, err := newNamespace()
	if err != nil {
		unable(n.t, err)
	}
	n.t.Cleanup(func() { ns.Close() })
	network := fmt.Sprintf("10.3.%d", i)
	n.do(n.servers, fmt.Sprintf("link add branch%d type veth peer name lan netns /proc/%d/fd/%d", i, os.Getpid(), ns.Fd()),
		fmt.Sprintf("addr add %s.1/24 dev branch%d", network, i), fmt.Sprintf("link set branch%d up", i))
	n.do(ns, append([]string{"link set lo up"}, joining(network)...)...)
	return ns
}

// connect connects branches to the servers, or cuts them off.
func (n *twoNetworks) connect(branches int, state string) {
	n.t.Helper()
	var all []string
	for i := range branches {
		all = append(all, fmt.Sprintf("link set branch%d %s", i, state))
	}
	n.do(n.servers, all...)
}

// listen listens in the servers' network.
func (n *twoNetworks) listen(addr string) net.Listener {
	n.t.Helper()
	return n.listenIn(n.servers, addr)
}

func (n *twoNetworks) listenIn(ns *os.File, addr string) (l net.Listener) {
	n.t.Helper()
	err := within(ns, func() (err error) {
		l, err = net.Listen("tcp", addr)
		return err
	})
	if err != nil {
		n.t.Fatal(err)
	}
	return l
}

// A nameServer resolves the names of a web, each to an address of its own.
type nameServer struct {
	n *twoNetworks
	*nameserver.Server
}

func (n *twoNetworks) nameServer() *nameServer {
	n.t.Helper()
	s := &nameServer{n: n}
	s.start(resolver)
	n.t.Cleanup(func() { s.Close() })
	return s
}

func (s *nameServer) start(address string) {
	s.n.t.Helper()
	err := within(s.n.servers, func() error {
		conn, err := net.ListenPacket("udp", address+":53")
		if err == nil {
			s.Server = nameserver.Serve(conn, resolved)
		}
		return err
	})
	if err != nil {
		s.n.t.Fatal(err)
	}
}

func (s *nameServer) move(address string) {
	s.n.t.Helper()
	s.Close()
	s.start(address)
}

// resolved resolves hN.test to the Nth address, and does not answer for lame.test.
func resolved(name string) nameserver.Answer {
	if name == "lame.test" {
		return nameserver.Answer{Silent: true}
	}
	var host byte
	if known, _ := fmt.Sscanf(name, "h%d.test", &host); known == 0 {
		return nameserver.Unknown()
	}
	return nameserver.At([4]byte{10, 77, 0, 1 + host})
}

// newNamespace makes a network namespace, which ends with its file and the processes in it.
func newNamespace() (ns *os.File, err error) {
	err = apart(func() error {
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			return err
		}
		ns, err = os.Open("/proc/thread-self/ns/net")
		return err
	})
	return ns, err
}

// within runs f in a namespace. Sockets and processes that f makes stay there.
func within(ns *os.File, f func() error) error {
	return apart(func() error {
		if err := unix.Setns(int(ns.Fd()), unix.CLONE_NEWNET); err != nil {
			return err
		}
		return f()
	})
}

// apart runs f in a thread that ends with it.
func apart(f func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked
		done <- f()
	}()
	return <-done
}

// useResolvConf mounts a file over resolv.conf, in this mount namespace; "" leaves it as it is.
func useResolvConf(path string) error {
	if path == "" {
		return nil
	}
	return unix.Mount(path, "/etc/resolv.conf", "", unix.MS_BIND, "")
}
