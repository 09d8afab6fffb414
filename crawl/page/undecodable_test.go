package page

import (
	"fmt"
	"testing"
)

// Undecodable bytes keep different targets distinct, and swallow neither the end of an attribute nor other
// links.
func TestUndecodableTargets(t *testing.T) {
	const replaced = "%EF%BF%BD"
	tests := []struct {
		charset string
		hrefs   []string
		want    []string
	}{
		{"utf-8", []string{"a\xff", "a\xff\xff", "a\xe2\x82", "a\xe2\x82z", "a\xed\xa0\x80"},
			[]string{"a" + replaced, "a" + replaced + replaced, "a" + replaced + "z", "a" + replaced + replaced +
				replaced}},
		{"gbk", []string{"a\x81\xff", "a\xff\x81\xff", "a\x81 b", "a\xd6\xd0", "a\x81"},
			[]string{"a" + replaced, "a" + replaced + replaced, "a" + replaced + "%20b", "a%E4%B8%AD"}},
		{"gb18030", []string{"a\x81\x30z", "a\x81\x30", "a\x84\x31\xa5\x30"},
			[]string{"a" + replaced + "0z", "a" + replaced + "0", "a" + replaced}},
		{"big5", []string{"a\x81@", "a\x81\xff", "a\x80\xff", "a\xa4\xa4"},
			[]string{"a" + replaced + "@", "a" + replaced, "a" + replaced + replaced, "a%E4%B8%AD"}},
		{"shift_jis", []string{"a\x81\xff", "a\xfd\xff", "a\x85A", "a\x95\x5c"},
			[]string{"a" + replaced, "a" + replaced + replaced, "a" + replaced + "A", "a%E8%A1%A8"}},
		{"euc-jp", []string{"a\xa1\xff", "a\xff\xff", "a\x8f\xa1\x80", "a\x8fA"},
			[]string{"a" + replaced, "a" + replaced + replaced, "a" + replaced + "A"}},
		{"euc-kr", []string{"a\xa1\xff", "a\x80\xff", "a\xc7A"},
			[]string{"a" + replaced, "a" + replaced + replaced, "a" + replaced + "A"}},
		{"iso-2022-jp", []string{"a\x80", "a\x80\x80", "a\x1b(X", "a\x0e"},
			[]string{"a" + replaced, "a" + replaced + replaced, "a" + replaced + "(X"}},
		{"windows-1253", []string{"a\xaa", "a\xaa\xd2", "a\x81"},
			[]string{"a" + replaced, "a" + replaced + replaced, "a%C2%81"}},
	}
	base, self := testBase(t, testRules(t), "https://example.com/dir/page")
	for _, tt := range tests {
		t.Run(tt.charset, func(t *testing.T) {
			src := ""
			for i, href := range tt.hrefs {
				src += fmt.Sprintf("<a href='%s'>%d</a>", href, i)
			}
			p := NewExtractor(Options{}).Extract([]byte(src), "text/html; charset="+tt.charset, base, self)
			for i, link := range p.Links {
				if i >= len(tt.want) || link.URL.Norm != "https://example.com/dir/"+tt.want[i] {
					t.Errorf("link %d is %s; want %q", i, link.URL.Norm, tt.want)
				}
			}
			if len(p.Links) != len(tt.want) {
				t.Errorf("%d links; want %d", len(p.Links), len(tt.want))
			}
		})
	}
}
