package webgraph

import (
	"fmt"
	"testing"
)

func TestParseLines(t *testing.T) {
	tests := []struct {
		name string
		got  func() string
		want string
	}{
		{"a host", vertexOf("7\tcom.example"), "7 com.example 0"},
		{"a domain", vertexOf("7\tcom.example\t12"), "7 com.example 12"},
		{"the largest id", vertexOf("1099511627775\ta"), "1099511627775 a 0"},
		{"an id of 41 bits", vertexOf("1099511627776\ta"), "bad"},
		{"an id of 70 bits", vertexOf("1180591620717411303424\ta"), "bad"},
		{"no name", vertexOf("7\t"), "bad"},
		{"no id", vertexOf("\tcom.example"), "bad"},
		{"no tab", vertexOf("7 com.example"), "bad"},
		{"a name with a space", vertexOf("7\tcom. example"), "bad"},
		{"a domain without hosts", vertexOf("7\tcom.example\t0"), "bad"},
		{"a negative id", vertexOf("-7\tcom.example"), "bad"},
		{"an empty line", vertexOf(""), "bad"},
		{"an edge", edgeOf("3\t1099511627775"), "3 1099511627775"},
		{"an edge to 41 bits", edgeOf("3\t1099511627776"), "bad"},
		{"an edge from 41 bits", edgeOf("1099511627776\t3"), "bad"},
		{"an edge to nothing", edgeOf("3\t"), "bad"},
		{"an edge from nothing", edgeOf("\t3"), "bad"},
		{"an edge of three", edgeOf("3\t4\t5"), "bad"},
		{"ranks", rankingOf("1\t2.5E7\t3\t0.01\tcom.example"), "1 3 com.example"},
		{"ranks of a domain", rankingOf("1\t2.5E7\t3\t0.01\tcom.example\t12"), "1 3 com.example"},
		{"a header", rankingOf("#harmonicc_pos\t#harmonicc_val\t#pr_pos\t#pr_val\t#host_rev"), "bad"},
		{"ranks without a name", rankingOf("1\t2.5E7\t3\t0.01"), "bad"},
		{"a rank of 0", rankingOf("0\t2.5E7\t3\t0.01\tcom.example"), "bad"},
		{"a rank of 33 bits", rankingOf("4294967296\t1\t3\t0.01\tcom.example"), "bad"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.got(); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func vertexOf(line string) func() string {
	return func() string {
		v, ok := parseVertex([]byte(line))
		return orBad(ok, "%d %s %d", v.id, v.name, v.hosts)
	}
}

func edgeOf(line string) func() string {
	return func() string {
		from, to, ok := parseEdge([]byte(line))
		return orBad(ok, "%d %d", from, to)
	}
}

func rankingOf(line string) func() string {
	return func() string {
		r, ok := parseRanking([]byte(line))
		return orBad(ok, "%d %d %s", r.harmonic, r.pageRank, r.name)
	}
}

func orBad(ok bool, format string, args ...any) string {
	if !ok {
		return "bad"
	}
	return fmt.Sprintf(format, args...)
}

// A vertex is what its fields say, and only leading zeros of numbers are lost.
func FuzzParseVertex(f *testing.F) {
	f.Add([]byte("7\tcom.example"))
	f.Add([]byte("7\tcom.example\t12"))
	f.Fuzz(func(t *testing.T, line []byte) {
		v, ok := parseVertex(line)
		if !ok {
			return
		}
		text := fmt.Sprintf("%d\t%s", v.id, v.name)
		if v.hosts > 0 {
			text += fmt.Sprintf("\t%d", v.hosts)
		}
		again, ok := parseVertex([]byte(text))
		if !ok || again.id != v.id || string(again.name) != string(v.name) || again.hosts != v.hosts {
			t.Errorf("%q is %q, which is %+v, %v", line, text, again, ok)
		}
		if host, err := hostOf(v.name); err == nil && host == "" {
			t.Errorf("%q has an empty host", v.name)
		}
	})
}

func FuzzParseEdge(f *testing.F) {
	f.Add([]byte("7\t12"))
	f.Fuzz(func(t *testing.T, line []byte) {
		from, to, ok := parseEdge(line)
		if !ok {
			return
		}
		a, b, ok := parseEdge(fmt.Appendf(nil, "%d\t%d", from, to))
		if !ok || a != from || b != to || from > maxID || to > maxID {
			t.Errorf("%q is %d and %d, then %d and %d, %v", line, from, to, a, b, ok)
		}
	})
}

func FuzzParseRanking(f *testing.F) {
	f.Add([]byte("1\t2.5E7\t3\t0.01\tcom.example\t12"))
	f.Fuzz(func(t *testing.T, line []byte) {
		r, ok := parseRanking(line)
		if !ok {
			return
		}
		again, ok := parseRanking(fmt.Appendf(nil, "%d\t\t%d\t\t%s", r.harmonic, r.pageRank, r.name))
		if !ok || again.harmonic != r.harmonic || again.pageRank != r.pageRank || string(again.name) != string(r.name) {
			t.Errorf("%q is %+v, then %+v, %v", line, r, again, ok)
		}
	})
}
