package weburl

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// endsInNumber reports a name that can only be an IPv4 address: its last label is a number, ignoring a
// trailing dot.
func endsInNumber(name string) bool {
	name = strings.TrimSuffix(name, ".")
	last := name[strings.LastIndexByte(name, '.')+1:]
	if last == "" {
		return false
	}
	_, ok := parseNumber(last)
	return ok || strings.Trim(last, "0123456789") == ""
}

// parseIPv4 parses one to four numbers, each decimal, octal or hexadecimal. The last one fills the
// remaining bytes.
func parseIPv4(name string) (string, error) {
	parts := strings.Split(strings.TrimSuffix(name, "."), ".")
	if len(parts) > 4 {
		return "", ErrMalformed
	}
	var address uint64
	for i, part := range parts {
		n, ok := parseNumber(part)
		room := 8
		if i == len(parts)-1 {
			room = 8 * (5 - len(parts))
		}
		if !ok || n >= 1<<room {
			return "", ErrMalformed
		}
		address = address<<room | n
	}
	b := [4]byte{byte(address >> 24), byte(address >> 16), byte(address >> 8), byte(address)}
	return netip.AddrFrom4(b).String(), nil
}

// parseNumber parses a part of an IPv4 address, in lower case. A number too large for uint64 still
// counts as a number.
func parseNumber(s string) (n uint64, ok bool) {
	if s == "" {
		return 0, false
	}
	base := 10
	if digits, isHex := strings.CutPrefix(s, "0x"); isHex {
		s, base = "0"+digits, 16
	} else if s[0] == '0' {
		base = 8
	}
	n, err := strconv.ParseUint(s, base, 64)
	if numError, isRange := err.(*strconv.NumError); isRange && numError.Err == strconv.ErrRange {
		return n, true
	}
	return n, err == nil
}

// parseIPv6 parses an address in brackets and formats it as WHATWG does, without the dotted notation of
// an embedded IPv4 address.
func parseIPv6(text string) (string, error) {
	inner, ok := strings.CutSuffix(text[1:], "]")
	address, err := netip.ParseAddr(inner)
	switch {
	case !ok || err != nil || !address.Is6() || address.Zone() != "":
		return "", ErrMalformed
	case address.Is4In6():
		b := address.As16()
		return fmt.Sprintf("[::ffff:%x:%x]", uint(b[12])<<8|uint(b[13]), uint(b[14])<<8|uint(b[15])), nil
	}
	return "[" + address.String() + "]", nil
}
