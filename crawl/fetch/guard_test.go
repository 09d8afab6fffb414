package fetch

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
)

func TestGuard(t *testing.T) {
	tests := []struct {
		addr    string
		refused bool
	}{
		{"0.0.0.0", true}, {"0.255.255.255", true}, {"1.0.0.0", false}, {"9.255.255.255", false}, {"10.0.0.1", true},
		{"11.0.0.0", false},
		{"100.63.255.255", false}, {"100.64.0.0", true}, {"100.127.255.255", true}, {"100.128.0.0", false},
		{"126.255.255.255", false}, {"127.0.0.1", true}, {"127.255.255.255", true}, {"128.0.0.0", false},
		{"169.253.255.255", false}, {"169.254.169.254", true}, {"169.255.0.0", false},
		{"172.15.255.255", false}, {"172.16.0.0", true}, {"172.31.255.255", true}, {"172.32.0.0", false},
		{"191.255.255.255", false}, {"192.0.0.255", true}, {"192.0.1.0", false}, {"192.0.2.255", true},
		{"192.0.3.0", false},
		{"192.167.255.255", false}, {"192.168.0.1", true}, {"192.169.0.0", false},
		{"198.17.255.255", false}, {"198.18.0.0", true}, {"198.19.255.255", true}, {"198.20.0.0", false},
		{"198.51.99.255", false}, {"198.51.100.1", true}, {"198.51.101.0", false},
		{"203.0.112.255", false}, {"203.0.113.1", true}, {"203.0.114.0", false},
		{"223.255.255.255", false}, {"224.0.0.1", true}, {"240.0.0.1", true}, {"255.255.255.255", true},
		{"8.8.8.8", false},
		{"::", true}, {"::1", true}, {"::127.0.0.1", true}, {"::ffff:127.0.0.1", true}, {"::ffff:10.1.2.3", true},
		{"::ffff:8.8.8.8", false},
		{"64:ff9b::7f00:1", true}, {"64:ff9b::a9fe:a9fe", true}, {"64:ff9b::808:808", false},
		{"64:ff9b:1::808:808", true},
		{"64:ff9b:2::1", false},
		{"100::1", true}, {"100:0:0:1::1", false}, {"2001::1", true}, {"2001:1ff:ffff::1", true},
		{"2001:200::1", false},
		{"2001:db8::1", true}, {"2001:db9::1", false}, {"2002:7f00:1::", true}, {"2003::1", false},
		{"2606:4700::1", false},
		{"fbff::1", false}, {"fc00::1", true}, {"fdff::1", true}, {"fe00::1", false}, {"fe80::1", true},
		{"fe80::1%eth0", true},
		{"febf::1", true}, {"fec0::1", true}, {"feff::1", true}, {"ff02::1", true}, {"fd00:ec2::254", true},
	}
	g := newGuard(nil)
	allowAll := newGuard([]netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")})
	for _, tt := range tests {
		a := netip.MustParseAddr(tt.addr)
		if got := g.refuses(a); got != tt.refused {
			t.Errorf("%s: refused %v, want %v", a, got, tt.refused)
		}
		if allowAll.refuses(a) {
			t.Errorf("%s: refused although allowed", a)
		}
		err := g.control("tcp", netip.AddrPortFrom(a, 443).String(), nil)
		if (causeOf(t, err) == RefusedAddress) != tt.refused {
			t.Errorf("control of %s: %v", a, err)
		}
	}
}

func TestAllowPrivate(t *testing.T) {
	g := newGuard([]netip.Prefix{netip.MustParsePrefix("10.1.0.0/16"), netip.MustParsePrefix("fd00::/8")})
	for addr, refused := range map[string]bool{
		"10.1.2.3": false, "::ffff:10.1.2.3": false, "64:ff9b::a01:203": false, "fd00::1": false,
		"10.2.0.0": true, "10.0.255.255": true, "127.0.0.1": true, "fc00::1": true, "::1": true,
	} {
		if got := g.refuses(netip.MustParseAddr(addr)); got != refused {
			t.Errorf("%s: refused %v, want %v", addr, got, refused)
		}
	}
}

func TestLiteral(t *testing.T) {
	for host, want := range map[string]string{
		"127.0.0.1": "127.0.0.1", "127.1": "127.0.0.1", "0x7f000001": "127.0.0.1", "0X7F.1": "127.0.0.1",
		"2130706433":  "127.0.0.1",
		"0177.0.0.01": "127.0.0.1", "127.0.1": "127.0.0.1", "127.0.0.1.": "127.0.0.1", "[::1]": "::1", "::1": "::1",
		"0": "0.0.0.0", "0x": "0.0.0.0",
		"4294967295": "255.255.255.255", "1.2.65535": "1.2.255.255",
		"localhost": "127.0.0.1", "a.localhost.": "127.0.0.1", "notlocalhost": "",
		"4294967296": "", "256.1.1.1": "", "1.2.3.4.5": "", "1.2.65536": "", "1..2": "", "": "", "example.com": "",
		"08": "", "1.2.3.x": "", "-1": "",
	} {
		got, ok := literal(host)
		if ok != (want != "") || ok && got.String() != want {
			t.Errorf("%q: %v, %v; want %q", host, got, ok, want)
		}
	}
}

// No spelling, redirect or changing DNS answer gets a connection to a listener on loopback.
func TestServerSideForgery(t *testing.T) {
	addr, accepted := listen(t, answer(page+"\r\n"))
	port := addr[strings.LastIndex(addr, ":"):]
	hosts := []string{
		"127.0.0.1", "127.1", "127.0.1", "0x7f000001", "0x7f.1", "2130706433", "0177.0.0.1", "017700000001",
		"127.0.0.1.",
		"[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]", "[64:ff9b::7f00:1]", "[::1]", "[::]", "0", "0.0.0.0",
		"169.254.169.254", "[fd00:ec2::254]", "[fe80::1]", "localhost",
	}
	lookup := func(context.Context, string) ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("::1")}, nil
	}
	c := newClient(t, Config{lookup: lookup})
	for _, host := range hosts {
		for _, scheme := range []string{"http://", "https://"} {
			_, err := do(c, context.Background(), Request{URL: scheme + host + port + "/"})
			if causeOf(t, err) != RefusedAddress {
				t.Errorf("%s%s: %v", scheme, host, err)
			}
		}
	}
	if n := accepted.Load(); n != 0 {
		t.Errorf("%d connections", n)
	}
}

func TestRebinding(t *testing.T) {
	addr, accepted := listen(t, answer(page+"\r\n"))
	port := addr[strings.LastIndex(addr, ":"):]
	inside := []string{"127.0.0.1", "::ffff:127.0.0.1", "127.0.0.2", "0.0.0.0", "::1", "64:ff9b::7f00:1"}
	var asked atomic.Int64
	lookup := func(context.Context, string) ([]netip.Addr, error) {
		n := int(asked.Add(1))
		if n%2 == 1 {
			return []netip.Addr{netip.MustParseAddr("8.8.8.8")}, nil
		}
		return []netip.Addr{netip.MustParseAddr(inside[n/2%len(inside)])}, nil
	}
	c := newClient(t, Config{lookup: lookup, limits: limits{dnsTTL: 1}})
	for i := range 1000 {
		host := fmt.Sprintf("a%d.test", i%10)
		if _, err := c.Resolve(context.Background(), host); err != nil {
			t.Fatal(err)
		}
		_, err := do(c, context.Background(), Request{URL: "https://" + host + port + "/"})
		if causeOf(t, err) != RefusedAddress {
			t.Fatalf("try %d: %v", i, err)
		}
	}
	if n := accepted.Load(); n != 0 || asked.Load() != 2000 {
		t.Errorf("%d connections, %d look-ups", n, asked.Load())
	}
}
