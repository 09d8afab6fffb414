package page

import (
	"testing"

	"github.com/sumi-ripple/ripple/schema"
)

// refreshRows are pages with a refresh.
func refreshRows() []linkRow {
	return []linkRow{
		{"refresh", `<meta http-equiv=Refresh content="0; URL='r?a=1&amp;b'">`,
			[]row{{dir + "r?a=1&b", schema.LinkRefresh, 0, schema.PlaceBody, ""}}},
		{"refresh, entities before quotes", `<meta http-equiv=refresh content="0;url=&quot;r&quot;x">`,
			[]row{{dir + "r", schema.LinkRefresh, 0, schema.PlaceBody, ""}}},
		{"refresh, entities of the time and the word",
			`<meta http-equiv="&#114;efresh" content="&#48;&#59;&#85;RL&equals;&apos;r?a=1&amp;amp;b'">`,
			[]row{{dir + "r?a=1&amp;b", schema.LinkRefresh, 0, schema.PlaceBody, ""}}},
		{"refresh, without a word", `<meta http-equiv=refresh content="0,'r'"><meta http-equiv=refresh content="0 url r">`,
			[]row{{dir + "r", schema.LinkRefresh, 0, schema.PlaceBody, ""},
				{dir + "url%20r", schema.LinkRefresh, 0, schema.PlaceBody, ""}}},
		{"refresh, quote not closed", `<meta http-equiv=refresh content='.5;url="r s'>`,
			[]row{{dir + "r%20s", schema.LinkRefresh, 0, schema.PlaceBody, ""}}},
		{"refresh, no time",
			`<meta http-equiv=refresh content="url=r"><meta http-equiv=refresh content="0url=r">` +
				`<meta http-equiv=refresh content="+1;url=r">`, nil},
		{"refresh, entity of a quote inside", `<meta http-equiv=refresh content="0;url='a&apos;b'">`,
			[]row{{dir + "a", schema.LinkRefresh, 0, schema.PlaceBody, ""}}},
		{"refresh of itself", `<meta http-equiv=refresh content=30>`, nil},
	}
}

func TestRefreshTarget(t *testing.T) {
	tests := []struct{ in, want string }{
		{"0;url=a", "a"}, {"5", ""}, {"5;", ""}, {" 1.5 , URL = 'a b' x", "a b"}, {"0 url=a", "a"},
		{"0;a", "a"}, {`0;"a`, "a"}, {"0;url", "url"}, {"0;urla", "urla"}, {"x;url=a", ""}, {"", ""}, {"0url=a", ""},
		{"url=a", ""}, {"0;abc=x", "abc=x"}, {"0;ur=x", "ur=x"}, {"0;;a", ";a"}, {".5\fa", "a"}, {"0;url\n=\n'a\"b", `a"b`},
	}
	for _, tt := range tests {
		if got := refreshTarget(tt.in); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.in, got, tt.want)
		}
	}
}
