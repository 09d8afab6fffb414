package render

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

func TestNoLeak(t *testing.T) {
	t.Parallel()
	testNoLeak(t, open(t, 1))
}

// The processes of a page's browser connect only to the wall, whatever the page tries: not to
// listeners next to it on loopback, over TCP or UDP, and to no other address.
func testNoLeak(t *testing.T, r *Renderer) {
	var heard atomic.Int64
	tcp, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer tcp.Close()
	udp, err := net.ListenPacket("udp4", tcp.Addr().String())
	if err != nil {
		t.Skip("the port is taken over UDP: ", err)
	}
	defer udp.Close()
	go func() {
		for {
			c, err := tcp.Accept()
			if err != nil {
				return
			}
			heard.Add(1)
			c.Close()
		}
	}()
	go func() {
		for {
			if _, _, err := udp.ReadFrom(make([]byte, 1500)); err != nil {
				return
			}
			heard.Add(1)
		}
	}()

	b := <-r.idle
	r.idle <- b
	stop := make(chan struct{})
	peers := make(chan []string)
	go func() { peers <- watchPeers(b.group, stop) }()
	// Scripts of localhost may use every API, and nothing is blocked as mixed content.
	got := render(t, r, escapes("http://a.localhost/", tcp.Addr().String()), refusing{})
	if !bytes.Contains(got.DOM, []byte("<b>end</b>")) {
		t.Errorf("the page did not come to its end: %q", got.DOM)
	}
	if len(got.Refused) < 20 || len(got.Navigations) == 0 {
		t.Errorf("only these attempts were noticed: %v, %v", got.Refused, got.Navigations)
	}
	close(stop)
	for _, peer := range <-peers {
		if peer != hexed(b.wall.Addr().(*net.TCPAddr)) {
			t.Errorf("a process of the browser had a socket to %s", peer)
		}
	}
	if heard.Load() != 0 {
		t.Errorf("%d connections and packets came through", heard.Load())
	}
}

// watchPeers sees all sockets of the group, to any address, and no others.
func TestWatchPeers(t *testing.T) {
	t.Parallel()
	tcp, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer tcp.Close()
	at := tcp.Addr().(*net.TCPAddr)
	for _, network := range []string{"tcp4", "udp4"} {
		c, err := net.Dial(network, at.String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		stop := make(chan struct{})
		close(stop)
		if peers := watchPeers(syscall.Getpgrp(), stop); !slices.Contains(peers, hexed(at)) {
			t.Errorf("a connection over %s to %s is not among %q", network, hexed(at), peers)
		}
		if peers := watchPeers(-1, stop); len(peers) > 0 {
			t.Errorf("of no process there are %q", peers)
		}
		tcp.Close() // so that the next one is seen for itself
		c.Close()
	}
}

// A refusing world answers only requests for redirects, whose targets are forbidden. It refuses
// everything else.
type refusing struct{}

func (refusing) Answer(r Request) (Answer, bool) {
	if _, to, ok := strings.Cut(r.URL, "/redirect?"); ok {
		return Answer{Status: 302, Header: map[string][]string{"Location": {to}}}, true
	}
	return Answer{Refused: "nobody may"}, true
}

// escapes returns a page that tries every known way out to the address.
func escapes(base, at string) Page {
	body := strings.NewReplacer("AT", at, "BASE", base).Replace(`<head>
		<link rel=prefetch href=http://AT/prefetch><link rel=preconnect href=http://AT/>
		<link rel=dns-prefetch href=//leak.example/>
		<link rel=prerender href=http://AT/prerender><link rel=modulepreload href=http://AT/m.js>
		<link rel=manifest href=http://AT/manifest>
		<link rel=stylesheet href=http://AT/s.css><link rel=icon href=http://AT/icon.png>
		<style>@import "http://AT/import.css"; @font-face { font-family: f; src: url(http://AT/f.woff) }
			p { font-family: f; background: url(http://AT/b.png) }</style>
		<script type=speculationrules>{"prefetch": [{"urls": ["http://AT/sp"], "eagerness": "immediate"}],
			"prerender": [{"urls": ["http://AT/sr"], "eagerness": "immediate"}]}</script></head>
		<p id=out>text</p><img src=http://AT/i.png><video src=http://AT/v.mp4 autoplay></video>
		<audio src=http://AT/a.mp3></audio>
		<object data=http://AT/o></object><embed src=http://AT/e><iframe src=http://AT/f></iframe>
		<iframe src=file:///etc/passwd></iframe>
		<iframe srcdoc="<script>fetch('http://AT/inner'); new WebSocket('ws://AT/inner')</script>"></iframe>
		<iframe src=chrome://version></iframe><a id=a href=http://AT/a target=_blank ping=http://AT/ping>a</a>
		<form id=f action=http://AT/form target=_blank method=post><input name=a value=b></form>
		<script src=http://AT/x.js></script><script>
		const tries = [
			() => fetch("http://AT/fetch"), () => fetch("http://AT/keep", {keepalive: true}), () => fetch("file:///etc/passwd"),
			() => fetch("http://AT/post", {method: "POST", body: "1"}), () => fetch("http://AT/put", {method: "PUT"}),
			() => fetch("BASEredirect?http://AT/r"), () => fetch("BASEredirect?http://169.254.169.254/"),
			() => fetch("BASEredirect?http://10.0.0.1/"), () => fetch("BASEredirect?file:///etc/passwd"),
			() => fetch("http://[::1]:80/"), () => fetch("http://localhost/"), () => fetch("chrome://version/"),
			() => { const x = new XMLHttpRequest; x.open("GET", "http://AT/xhr"); x.send() },
			() => new WebSocket("ws://AT/ws"), () => new WebSocket("wss://AT/wss"), () => new EventSource("http://AT/es"),
			() => navigator.sendBeacon("http://AT/beacon", "1"), () => new Worker("/w.js"), () => new SharedWorker("/w.js"),
			() => new Worker(URL.createObjectURL(new Blob(["fetch('http://AT/w'); new WebSocket('ws://AT/w')"]))),
			() => new Worker("data:text/javascript,fetch('http://AT/d')"),
			() => navigator.serviceWorker.register("/sw.js"), () => import("http://AT/import.js"),
			() => open("http://AT/popup"), () => a.click(), () => f.submit(),
			() => CSS.paintWorklet.addModule("http://AT/paint.js"), () => new AudioContext().audioWorklet.addModule("http://AT/aw.js"),
			() => { const urls = ["stun:AT", "turn:AT?transport=tcp"];
				const p = new RTCPeerConnection({iceServers: [{urls, username: "u", credential: "c"}]});
				p.createDataChannel("d"); return p.createOffer().then((o) => p.setLocalDescription(o)) },
			() => new WebTransport("https://AT/wt"), () => new WebSocketStream("ws://AT/wss"),
			() => { const w = document.body.appendChild(document.createElement("iframe")).contentWindow;
				new w.WebSocket("ws://AT/pristine"); w.fetch("http://AT/pf");
				new w.Worker("data:text/javascript,fetch('http://AT/pw')") },
			() => { const l = document.createElement("link"); l.rel = "preload"; l.as = "fetch"; l.href = "http://AT/pl";
				document.head.append(l) },
			() => { const v = document.createElement("track"); v.src = "http://AT/t.vtt"; v.default = true;
				document.querySelector("video").append(v); v.track.mode = "showing" },
			() => navigator.registerProtocolHandler("web+leak", "http://AT/%s"), () => { new Image().src = "http://AT/image" },
			() => { const d = document.createElement("a"); d.href = "http://AT/dl"; d.download = "d"; d.click() },
			() => { location = "http://AT/go" }, () => { location = "file:///etc/passwd" }, () => { location = "chrome://version" },
			() => { location = "BASEredirect?http://AT/gone" }, () => { location = "mailto:a@a.example" },
		];
		for (const attempt of tries) { try { attempt()?.catch?.(() => {}) } catch {} }
		// A page that waits for an answer reads no other one meanwhile, so this comes when the others have been read.
		setTimeout(() => { const x = new XMLHttpRequest; x.open("GET", "http://AT/sync", false); x.send() }, 8000);
		setTimeout(() => out.insertAdjacentHTML("beforeend", "<b>end</b>"), 9000);
	</script>`)
	p := html(base, body)
	p.Header.Set("Link", "<http://"+at+"/link.js>; rel=preload; as=script")
	p.Header.Set("Content-Security-Policy-Report-Only", "default-src 'none'; report-uri http://"+at+"/csp")
	p.Header.Set("Report-To", `{"group":"g","max_age":9,"endpoints":[{"url":"https://`+at+`/r"}]}`)
	p.Header.Set("Nel", `{"report_to":"g","max_age":9,"success_fraction":1}`)
	p.Header.Set("Alt-Svc", `h3="`+at+`"`)
	p.Header.Set("Refresh", "1; url=http://"+at+"/refresh")
	return p
}

// watchPeers collects the remote ends, as in /proc, of the sockets that the processes of a group
// hold, until it is stopped. Port 0 means none. The kernel needs milliseconds for a table, even if
// there are few sockets.
func watchPeers(group int, stop <-chan struct{}) []string {
	var all []string
	var processes []int
	judged := map[socket]bool{}
	for look := 0; ; look++ {
		if look%4 == 0 {
			processes = members(group)
		}
		var fresh []socket
		for _, s := range socketsOf(processes) {
			if !judged[s] {
				judged[s], fresh = true, append(fresh, s)
			}
		}
		if len(fresh) > 0 { // the search for a socket's holder is the most expensive part
			processes = members(group)
			held := heldBy(processes)
			for _, s := range fresh {
				if held[s.inode] && !slices.Contains(all, s.peer) {
					all = append(all, s.peer)
				}
			}
		}
		select {
		case <-stop:
			return all
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// A socket is a socket with a remote end.
type socket struct{ inode, peer string }

// socketsOf returns the sockets of the network namespaces of processes, whichever process holds
// them (proc_net_tcp: local, remote, and seven fields later the inode, which is 0 if no process
// holds the socket any more).
func socketsOf(processes []int) []socket {
	networks := map[string]bool{}
	var all []socket
	for _, process := range processes {
		network, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/net", process))
		if err != nil || networks[network] {
			continue
		}
		networks[network] = true
		for _, table := range []string{"tcp", "tcp6", "udp", "udp6"} {
			text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/net/%s", process, table))
			for line := range strings.Lines(string(text)) {
				fields := strings.Fields(line)
				if len(fields) > 9 && fields[9] != "0" && !strings.HasSuffix(fields[2], ":0000") {
					all = append(all, socket{fields[9], fields[2]})
				}
			}
		}
	}
	return all
}

// heldBy returns the inodes of the sockets that processes hold.
func heldBy(processes []int) map[string]bool {
	held := map[string]bool{}
	for _, process := range processes {
		links, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", process))
		for _, link := range links {
			if to, err := os.Readlink(link); err == nil && strings.HasPrefix(to, "socket:[") {
				held[strings.Trim(to, "socket:[]")] = true
			}
		}
	}
	return held
}

// hexed formats an IPv4 address like /proc: the address in the machine's byte order, little-endian.
func hexed(a *net.TCPAddr) string {
	ip := a.IP.To4()
	return fmt.Sprintf("%02X%02X%02X%02X:%04X", ip[3], ip[2], ip[1], ip[0], a.Port)
}
