package strictjson_test

import (
	"bytes"
	"testing"

	"github.com/sumi-ripple/ripple/crawl/cluster/strictjson"
)

// One value with known fields is decoded, and nothing else.
func TestDecode(t *testing.T) {
	for _, tt := range []struct {
		text string
		ok   bool
	}{
		{`{"a": 1}`, true}, {" {} \n", true}, {``, false}, {`{"a": "1"}`, false}, {`{"b": 1}`, false},
		{`{"a": 1} {}`, false}, {`{"a": 1}]`, false}, {`{"a": 1`, false},
	} {
		var v struct{ A int }
		if err := strictjson.Decode([]byte(tt.text), &v); (err == nil) != tt.ok {
			t.Errorf("%s: %v", tt.text, err)
		}
	}
}

// Every character of a URL takes one byte; otherwise the size of a letter could not be guaranteed.
func TestEncodeIsShort(t *testing.T) {
	const text = "https://a.test/?a=1&b='<>"
	if got, want := string(strictjson.Encode(text)), `"`+text+`"`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// A decoded value encodes to the same text.
func FuzzDecode(f *testing.F) {
	type value struct {
		A int
		B []string
		C map[string]*value
	}
	f.Add([]byte(`{"A": 1, "B": ["\u0000", "é"], "C": {"": null, "x": {}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var v, again value
		if strictjson.Decode(text, &v) != nil {
			return
		}
		written := strictjson.Encode(v)
		if err := strictjson.Decode(written, &again); err != nil || !bytes.Equal(strictjson.Encode(again), written) {
			t.Errorf("%s comes back as %s, %v", written, strictjson.Encode(again), err)
		}
	})
}
