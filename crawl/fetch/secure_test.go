package fetch

import (
	"bufio"
	"crypto/tls"
	"io"
	"net"
	"testing"
	"time"
)

// Answers that browsers accept are accepted with and without TLS, and through proxies.
func TestFaultyAnswers(t *testing.T) {
	cert, file := certificate(t, time.Now().Add(time.Hour))
	faulty := answer("http/1.1 200\r\nno colon\r\nContent-Type : text/html\r\nTransfer-Encoding: identity\r\n" +
		"Transfer-Encoding: chunked\r\n\r\n5;x\nhello\n0\n\n")
	config := &tls.Config{Certificates: []tls.Certificate{cert}, NextProtos: []string{"http/1.1"}}
	plain, _ := listen(t, faulty)
	secure, _ := listen(t, secured(config, faulty))
	http, _ := tunnel(t, secure)
	https, _ := listen(t, secured(&tls.Config{Certificates: []tls.Certificate{cert}}, connectTo(secure)))
	socks, _ := listen(t, socksTo(secure))
	for _, tt := range []struct{ url, proxy string }{
		{"http://a.test/", ""}, {"https://a.test/", ""}, {"https://a.test/", "http://user:pass@" + http},
		{"https://a.test/", "https://" + https}, {"https://a.test/", "socks5://" + socks},
		{"https://a.test/", "socks5h://" + socks}, {"http://a.test/", "http://" + plain},
	} {
		cfg := Config{CAFile: file, Proxy: tt.proxy, HTTP2: true, KeepAlive: true}
		if tt.proxy == "" {
			cfg.ConnectTo = map[string]string{"a.test:80": plain, "a.test:443": secure}
		}
		res, err := do(newClient(t, cfg), t.Context(), Request{URL: tt.url})
		if err != nil || res.Status != 200 || string(res.Body) != "hello" || res.Header.Get("Content-Type") != "text/html" {
			t.Errorf("%s by %q: %+v, %v", tt.url, tt.proxy, res, err)
		}
	}
}

// connectTo is a proxy that leads to target.
func connectTo(target string) script {
	return func(conn net.Conn, in *bufio.Reader) {
		for line := ""; line != "\r\n"; {
			var err error
			if line, err = in.ReadString('\n'); err != nil {
				return
			}
		}
		io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n")
		splice(conn, in, target)
	}
}

// socksTo is a SOCKS5 proxy (RFC 1928) that leads to target.
func socksTo(target string) script {
	return func(conn net.Conn, in *bufio.Reader) {
		greeting := make([]byte, 2)
		io.ReadFull(in, greeting)
		in.Discard(int(greeting[1]))
		conn.Write([]byte{5, 0})
		request := make([]byte, 5) // by name
		io.ReadFull(in, request)
		in.Discard(int(request[4]) + 2)
		conn.Write([]byte{5, 0, 0, 1, 127, 0, 0, 1, 0, 80})
		splice(conn, in, target)
	}
}

func splice(conn net.Conn, in *bufio.Reader, target string) {
	up, err := net.Dial("tcp", target)
	if err != nil {
		return
	}
	defer up.Close()
	go io.Copy(up, in)
	io.Copy(conn, up)
}
