package node

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/sumi-ripple/ripple/schema/weburl"
)

// normal identifies how this release normalises URLs: nodes that normalised differently would record one page twice. It
// is a digest of the results for sample URLs that exercise every rule.
func normal() string {
	sum := sha256.New()
	rules, err := weburl.NewRules(weburl.DefaultStripParams(), weburl.DefaultMaxLength)
	if err != nil {
		panic("node: " + err.Error()) // the defaults are valid
	}
	for _, raw := range []string{
		"HTTP://User:Pw@WWW.Example.COM.:80/a/./b/../c//d/?b=2&a=1&utm_source=x#f", "https://bücher.example/straße?q=ä b",
		"https://xn--bcher-kva.example:443", "//a.test/%7e%41%2f%zz", "https://a.test/?", "https://a.test/a;b?=&&x",
		"https://127.1/", "https://[::1]:8443/", "https://a.test/\t\n x\\y", "https://a_b.test/", "https://a.test:99999/",
		"https://a.test/%E4%B8%AD/中", "https://faß.test/", "https://a.test/index.html?PHPSESSID=1&gclid=2",
	} {
		u, err := rules.Parse(raw)
		text := u.Norm
		if err != nil {
			text = "refused"
		}
		sum.Write([]byte(text + "\n"))
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}
