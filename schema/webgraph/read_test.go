package webgraph

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/scope"
)

// newScope returns a scope with origins.
func newScope(t testing.TB, names ...string) *scope.Scope {
	t.Helper()
	var spec scope.Spec
	for _, name := range names {
		p, _, err := scope.ParsePattern(name)
		if err != nil {
			t.Fatal(err)
		}
		spec.Origins = append(spec.Origins, scope.Origin{Name: name, Pattern: p})
	}
	s, err := scope.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// write writes files by their names below a new folder, and returns the prefix of a graph in it. In a gzip file | begins
// a member.
func write(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if strings.HasSuffix(name, ".gz") {
			for member := range strings.SplitSeq(text, "|") {
				z := gzip.NewWriter(&b)
				_, _ = z.Write([]byte(member))
				z.Close()
			}
		} else {
			b.WriteString(text)
		}
		if text == "" {
			b.Reset() // an empty part
		}
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "cc-main-2024-may-host")
}

// read reads a graph, and returns what is emitted, a line for each source.
func read(t testing.TB, r *Reader, prefix string) (string, Result, error) {
	t.Helper()
	f, err := Find(prefix, "")
	if err != nil {
		return "", Result{}, err
	}
	if r.Dir == "" {
		r.Dir = t.TempDir()
	}
	var b strings.Builder
	res, err := r.Read(t.Context(), f, func(l *schema.Inlink) error {
		fmt.Fprintf(&b, "%s %d %d %d %v\n", l.Host, l.Hosts, l.HarmonicRank, l.PageRank, l.Origins)
		return nil
	})
	return b.String(), res, err
}

const (
	vertices  = "0\tcom.example\n1\tcom.example.blog\n2\tnet.far\n3\tnet.far.www\n4\torg.b\n5\torg.known\n6\torg.quiet\n"
	edges     = "0\t4\n1\t2\n2\t0\n2\t1\n2\t4\n3\t0\n5\t0\n6\t2\n4\t4\n2\t0\n9\t0\n"
	rankLines = "#harmonicc_pos\t#harmonicc_val\t#pr_pos\t#pr_val\t#host_rev\n1\t9\t2\t0.5\torg.b\n7\t3\t4\t0.1\tnet.far\n"
)

// The origins are example.com with all below it, and b.org. far.net and www.far.net link to the first, and far.net to
// both; known.org is known, quiet.org links to neither.
func TestRead(t *testing.T) {
	const want = "far.net 0 7 4 [0 1]\nfar.net 0 7 4 [0]\n"
	const unranked = "far.net 0 0 0 [0 1]\nfar.net 0 0 0 [0]\n"
	tests := []struct {
		name  string
		files map[string]string
		want  string
		bad   uint64
	}{
		{"text", map[string]string{"-vertices.txt": vertices, "-edges.txt": edges, "-ranks.txt": rankLines}, want, 0},
		{"without ranks", map[string]string{"-vertices.txt": vertices, "-edges.txt": edges}, unranked, 0},
		{"gzip of several members", map[string]string{
			"-vertices.txt.gz": strings.Replace(vertices, "net.far\n", "net|.far\n", 1),
			"-edges.txt.gz":    strings.Replace(edges, "\n5", "|\n5", 1), "-ranks.txt.gz": rankLines,
		}, want, 0},
		{"ends of Windows, and none at the end", map[string]string{
			"-vertices.txt": strings.TrimSuffix(strings.ReplaceAll(vertices, "\n", "\r\n"), "\r\n"),
			"-edges.txt":    strings.ReplaceAll(edges, "\n", "\r\n"), "-ranks.txt": strings.ReplaceAll(rankLines, "\n", "\r\n"),
		}, want, 0},
		{"parts, some of them empty", map[string]string{
			"-vertices.paths.gz": "projects/hyperlinkgraph/x/vertices/part-0.txt.gz\nprojects/hyperlinkgraph/x/vertices/part-1.txt\n" +
				"projects/hyperlinkgraph/x/vertices/part-2.txt.gz\n",
			"/vertices/part-0.txt.gz": vertices[:33], "/vertices/part-1.txt": vertices[33:], "/vertices/part-2.txt.gz": "",
			"-edges.paths":      "edges/part-0.txt\nprojects/hyperlinkgraph/x/edges/part-1.txt\n",
			"/edges/part-0.txt": "",
			"/projects/hyperlinkgraph/x/edges/part-1.txt": edges,
			"-ranks.txt": rankLines,
		}, want, 0},
		{"lines that are none", map[string]string{
			"-vertices.txt": "\n" + vertices + "8 com.c\n" + strings.Repeat("x", 200_000) + "\n",
			"-edges.txt":    "1099511627776\t0\n" + edges + "a\tb\n", "-ranks.txt": rankLines + "1\t2\n",
		}, want, 6},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			files := map[string]string{}
			for name, text := range tt.files {
				if list, ok := strings.CutPrefix(name, "-"); ok {
					name = "cc-main-2024-may-host-" + list
				}
				files[name] = text
			}
			last := int64(0)
			var whole *Files
			r := &Reader{Scope: newScope(t, "*.example.com", "b.org"), Known: func(host string, _ bool) (bool, error) {
				return host == "known.org", nil
			}, See: func(_ string, read int64) { last = read }}
			prefix := write(t, files)
			got, res, err := read(t, r, prefix)
			if err != nil || got != tt.want {
				t.Fatalf("got\n%s%v; want\n%s", got, err, tt.want)
			}
			if res.Release != "cc-main-2024-may" || res.Domains || res.Vertices != 7 || res.Edges != 11 ||
				res.Sources != 2 || res.Known != 3 || res.Unreadable != tt.bad || !slices.Equal(res.Found, []uint32{2, 1}) {
				t.Errorf("result %+v", res)
			}
			if len(res.Bad) != min(maxBad, int(tt.bad)) {
				t.Errorf("named %q", res.Bad)
			}
			if whole, err = Find(prefix, ""); err != nil || last != whole.Bytes {
				t.Errorf("%d bytes seen of %d, %v", last, whole.Bytes, err)
			}
		})
	}
}

// In a graph of domains an origin is its registrable domain.
func TestReadDomains(t *testing.T) {
	prefix := write(t, map[string]string{
		"cc-main-2024-may-host-vertices.txt": "1\tcom.example\t9\n2\tnet.far\t3\n3\tuk.co.isle\t1\n",
		"cc-main-2024-may-host-edges.txt":    "2\t1\n3\t1\n2\t3\n1\t3\n",
	})
	got, res, err := read(t, &Reader{Scope: newScope(t, "blog.example.com", "*.isle.co.uk", "gone.org")}, prefix)
	if err != nil || got != "far.net 3 0 0 [0 1]\n" || !res.Domains || !slices.Equal(res.Found, []uint32{1, 1, 0}) {
		t.Errorf("got %q, %+v, %v", got, res, err)
	}
}

func TestReadFails(t *testing.T) {
	none := errors.New("stop")
	tests := []struct {
		name            string
		vertices, edges string
		want            error
	}{
		{"ids that do not ascend", "1\tcom.example\n1\tnet.far\n", edges, ErrOrder},
		{"no origin", "1\tnet.far\n", edges, ErrNoOrigin},
		{"what is known cannot be asked", vertices, edges, none},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			prefix := write(t, map[string]string{"cc-main-2024-may-host-vertices.txt": tt.vertices,
				"cc-main-2024-may-host-edges.txt": tt.edges})
			r := &Reader{Scope: newScope(t, "*.example.com"), Known: func(string, bool) (bool, error) { return false, none }}
			if _, _, err := read(t, r, prefix); !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
}

// A file that is cut off, one that is no graph, and parts that are missing or elsewhere are errors that name the file.
func TestFilesFail(t *testing.T) {
	whole := map[string]string{"cc-main-2024-may-host-vertices.txt": vertices, "cc-main-2024-may-host-edges.txt.gz": edges}
	prefix := write(t, whole)
	cut, err := os.ReadFile(prefix + "-edges.txt.gz")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(prefix+"-edges.txt.gz", cut[:len(cut)-9], 0o644); err != nil {
		t.Fatal(err)
	}
	r := &Reader{Scope: newScope(t, "*.example.com")}
	if _, _, err := read(t, r, prefix); !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(err.Error(), "-edges.txt.gz") {
		t.Errorf("cut off: %v", err)
	}
	outside := write(t, map[string]string{"cc-main-2024-may-host-vertices.paths": "../vertices.txt\n/etc/hostname\n"})
	if _, _, err := read(t, r, outside); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "../vertices.txt") {
		t.Errorf("outside: %v", err)
	}
	missing := new(MissingError)
	if _, err := Find(write(t, nil), ""); !errors.As(err, &missing) || missing.List != "vertices" {
		t.Errorf("no files: %v", err)
	}
	if _, err := Find(prefix, prefix+"-none.txt"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no ranks: %v", err)
	}
	text := write(t, map[string]string{"cc-main-2024-may-host-vertices.txt": "<html>\n", "cc-main-2024-may-host-edges.txt": edges})
	if _, _, err := read(t, r, text); err == nil || !strings.Contains(err.Error(), "no line is a vertex") {
		t.Errorf("no graph: %v", err)
	}
}

// Reading ends when its context does.
func TestReadStops(t *testing.T) {
	prefix := write(t, map[string]string{"cc-main-2024-may-host-vertices.txt": vertices, "cc-main-2024-may-host-edges.txt": edges})
	f, err := Find(prefix, "")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("interrupted")
	r := &Reader{Scope: newScope(t, "*.example.com"), Dir: t.TempDir(), See: func(pass string, _ int64) {
		if pass == "links to them" {
			cancel(why)
		}
	}}
	if _, err := r.Read(ctx, f, func(*schema.Inlink) error { return nil }); !errors.Is(err, why) {
		t.Errorf("got %v, want %v", err, why)
	}
}

func TestReleases(t *testing.T) {
	for prefix, want := range map[string]string{
		"/data/cc-main-2024-may-jun-jul-host":      "cc-main-2024-may-jun-jul",
		"cc-main-2024-may-jun-jul-domain":          "cc-main-2024-may-jun-jul",
		"my-cc-main-2017-feb-mar-apr-hostgraph-x-": "cc-main-2017-feb-mar-apr-hostgraph-x",
		"own-host": "own", "graph": "graph",
	} {
		if got := releaseOf(prefix); got != want {
			t.Errorf("releaseOf(%q) = %q, want %q", prefix, got, want)
		}
	}
}

// writeGraph writes a graph of n edges between n/10 hosts.
func writeGraph(t testing.TB, n int) string {
	t.Helper()
	rnd := rand.New(rand.NewPCG(1, uint64(n)))
	var v, e, r strings.Builder
	hosts := n / 10
	r.WriteString("#harmonicc_pos\t#harmonicc_val\t#pr_pos\t#pr_val\t#host_rev\n")
	for id := range hosts {
		name := fmt.Sprintf("com.h%07d", id)
		if id%5 == 4 {
			name = fmt.Sprintf("com.h%07d.sub", id-1)
		}
		fmt.Fprintf(&v, "%d\t%s\n", id, name)
		fmt.Fprintf(&r, "%d\t1\t%d\t1\t%s\n", hosts-id, id+1, name)
	}
	for range n {
		fmt.Fprintf(&e, "%d\t%d\n", rnd.IntN(hosts), rnd.IntN(hosts)*rnd.IntN(hosts)/hosts)
	}
	return write(t, map[string]string{"cc-main-2024-may-host-vertices.txt": v.String(),
		"cc-main-2024-may-host-edges.txt": e.String(), "cc-main-2024-may-host-ranks.txt": r.String()})
}

// The answer is that of awk, also when memory holds few pairs.
func TestReadAgreesWithAwk(t *testing.T) {
	if _, err := exec.LookPath("awk"); err != nil && os.Getenv("RIPPLE_CI") != "1" {
		t.Skip("awk is not installed, so there is nothing to compare with; .ci/run needs it")
	}
	prefix := writeGraph(t, 100_000)
	const script = `BEGIN { FS = "\t"; o["com.h0000003"] = 0; o["com.h0000003.sub"] = 0; o["com.h0000010"] = 1 }
file != FILENAME { file = FILENAME; part++ }
part == 1 { name[$1] = $2; if ($2 in o) target[$1] = o[$2] }
part == 2 && ($2 in target) && !($1 in target) { links[$1 " " target[$2]] = 1; src[$1] = 1 }
part == 3 && FNR > 1 { h[$5] = $1; p[$5] = $3 }
END { for (s in src) { n = name[s]; host = "com"; rest = substr(n, 5)
  if (rest ~ /\.sub$/) host = "sub." substr(rest, 1, 8) ".com"; else host = rest ".com"
  list = ""; for (i = 0; i < 2; i++) if ((s " " i) in links) list = list (list == "" ? "" : " ") i
  print host " 0 " h[n] " " p[n] " [" list "]" } }`
	out, err := exec.Command("awk", script, prefix+"-vertices.txt", prefix+"-edges.txt", prefix+"-ranks.txt").Output()
	if err != nil {
		t.Fatal(err)
	}
	want := slices.Sorted(strings.Lines(string(out)))
	if len(want) < 100 {
		t.Fatalf("awk finds only %d sources", len(want))
	}
	for _, held := range []int{0, 64} {
		r := &Reader{Scope: newScope(t, "*.h0000003.com", "h0000010.com"), held: held, ranked: held}
		got, _, err := read(t, r, prefix)
		if err != nil {
			t.Fatal(err)
		}
		if lines := slices.Sorted(strings.Lines(got)); !slices.Equal(lines, want) {
			t.Errorf("%d pairs held: %d lines, awk has %d", held, len(lines), len(want))
		}
	}
}
