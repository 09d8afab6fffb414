package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/cmd/ripple/serve"
	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl/cluster/node"
	"github.com/sumi-ripple/ripple/crawl/webtest"
	"github.com/sumi-ripple/ripple/crawl/webtest/demo"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

type Options struct {
	Dir    string
	Serve  bool
	Listen string
	Nodes  int
}

// demoMark is the file that marks a folder of the demonstration.
const demoMark = ".ripple-demo"

// A Program is what the demonstration needs from the program that runs it.
type Program struct {
	Voice  *term.Voice
	Stdout io.Writer
	Crawl  func(ctx context.Context, config string) error
	Merge  func(ctx context.Context, out string, folders []string) error
}

func (p *Program) states() statefile.Files { return statefile.Files{Voice: p.Voice} }

// Run serves the built-in web, and shows a crawl of it.
func Run(ctx context.Context, p Program, opts Options) error {
	if opts.Nodes < 0 || opts.Nodes > maxDemoNodes {
		return term.Usage("--nodes is %d; it must be 0 to %d", opts.Nodes, maxDemoNodes)
	}
	dir, err := claim(opts.Dir)
	if err != nil {
		return err
	}
	web, err := webtest.New()
	if err != nil {
		return err
	}
	defer web.Close()
	demo.Serve(web)
	d := &demonstration{program: p, opts: opts, dir: dir, web: web}
	if d.config, err = writeConfig(web, dir); err != nil {
		return err
	}
	return d.run(ctx)
}

// A demonstration crawls the built-in web, and writes everything to a folder.
type demonstration struct {
	program Program
	opts    Options
	dir     string // absolute
	config  string // the file
	web     *webtest.Server
}

func (d *demonstration) run(ctx context.Context) error {
	if d.opts.Nodes > 0 {
		if err := d.crawlTogether(ctx); err != nil {
			return err
		}
	}
	if d.opts.Serve {
		return d.serve(ctx)
	}
	return d.crawl(ctx)
}

// state returns the state file of the crawl on one machine.
func (d *demonstration) state() string { return filepath.Join(d.dir, "ripple.bolt") }

// merged returns the merged state file of the nodes.
func (d *demonstration) merged() string { return filepath.Join(d.dir, "terrain.bolt") }

// crawl crawls the web twice, with changes to it between the runs, and shows the result.
func (d *demonstration) crawl(ctx context.Context) error {
	d.program.Voice.Say("a small web is served on this machine, and crawled over TLS as a real one would be")
	if err := d.program.Crawl(ctx, d.config); err != nil {
		return err
	}
	first, err := d.digest(ctx, d.state())
	if err == nil && d.opts.Nodes > 0 {
		err = d.compare(ctx, first)
	}
	if err != nil {
		return err
	}
	demo.Change(d.web)
	d.program.Voice.Say("the web changes: pages are new, moved, rewritten or gone, and a host is down; " +
		"it is crawled again")
	if err := d.program.Crawl(ctx, d.config); err != nil {
		return err
	}
	second, err := d.digest(ctx, d.state())
	if err != nil {
		return err
	}
	return d.show(ctx, first, second)
}

// digest returns the digest of the map in a state file.
func (d *demonstration) digest(ctx context.Context, state string) (string, error) {
	r, err := d.program.states().Read(ctx, state)
	if err != nil {
		return "", err
	}
	digest, err := survey.Digest(r.Survey)
	return digest, errors.Join(err, r.Close())
}

// serve crawls the web while a browser shows it, until ctx is done.
func (d *demonstration) serve(ctx context.Context) error {
	v := d.program.Voice
	at, err := serve.OpenDesk(d.state(), d.config, config.Monitor{Listen: d.opts.Listen}, v.Logger())
	if err != nil {
		return err
	}
	entrance, err := at.Entrance()
	if err != nil {
		return err
	}
	serving, cancel := context.WithCancel(ctx)
	defer cancel()
	var g errgroup.Group
	g.Go(func() error { return at.Serve(serving) })
	fmt.Fprintf(d.program.Stdout, "for programs: %s\nthe desk is at %s\n", at.Programs(), entrance)
	defer serve.Browse(at, v)()
	err = d.crawl(ctx)
	if err == nil { // the first address may have been used
		entrance, err = at.Entrance()
	}
	if err == nil {
		v.Say("the desk runs until Ctrl-C")
		fmt.Fprintf(d.program.Stdout, "\nthe desk is at %s\n", entrance)
	} else {
		cancel()
	}
	return errors.Join(err, g.Wait())
}

// claim creates the folder, or empties one that an earlier demonstration made.
func claim(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return "", term.Usage("%s is a file; name a folder", term.Shown(dir))
	}
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return "", err
		}
	case err != nil:
		return "", err
	case len(entries) > 0:
		if _, err := os.Stat(filepath.Join(dir, demoMark)); err != nil {
			return "", term.Usage("%s is not empty, and \"ripple demo\" did not write it; name another folder with --dir",
				term.Shown(dir))
		}
		if err := emptyDemo(dir); err != nil {
			return "", err
		}
	}
	return dir, os.WriteFile(filepath.Join(dir, demoMark), nil, 0o666)
}

// emptyDemo removes only files that demonstrations write.
func emptyDemo(dir string) error {
	state := filepath.Join(dir, "ripple.bolt")
	if _, err := os.Stat(state); err == nil {
		store, err := kv.Open(state, kv.Options{Timeout: 100 * time.Millisecond}) // a demonstration may be running
		if errors.Is(err, kv.ErrLocked) {
			return statefile.Advise(state, err)
		}
		if err == nil {
			store.Close()
		}
	}
	if err := emptyNodes(dir); err != nil {
		return err
	}
	for _, name := range []string{"ripple.bolt", "terrain.bolt", "ripple.db", "summary.md", "graph.gexf", "map.html",
		"report.json", "config.toml", "decisions.toml", "webtest-ca.pem"} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// emptyNodes removes the files of nodes.
func emptyNodes(dir string) error {
	for i := 1; i <= maxDemoNodes; i++ {
		name := filepath.Join(dir, fmt.Sprintf("node-%d", i))
		files, err := filepath.Glob(filepath.Join(name, "shard-*.bolt"))
		if err != nil {
			return err
		}
		files = append(files, filepath.Join(name, node.MarkName), filepath.Join(name, node.IDName), name, name+".toml")
		for _, path := range files {
			if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return os.RemoveAll(filepath.Join(dir, "hub"))
}

// writeConfig writes the configuration.
func writeConfig(web *webtest.Server, dir string) (string, error) {
	ca, err := web.CAFile(dir)
	if err != nil {
		return "", err
	}
	text := demo.Config(web.Addr(), filepath.Base(ca), ".") // the folder may be moved
	path := filepath.Join(dir, "config.toml")
	return path, os.WriteFile(path, []byte(text), 0o666)
}

// show shows the result with the digests of both runs, and what to do next.
func (d *demonstration) show(ctx context.Context, first, second string) error {
	r, err := d.program.states().Read(ctx, d.state())
	if err != nil {
		return err
	}
	defer r.Close()
	if err := demoTable(d.program.Stdout, r.Survey); err != nil {
		return err
	}
	fmt.Fprintf(d.program.Stdout, "\ndigest of run #1: %s\ndigest of run #2: %s\n", first, second)
	fmt.Fprintf(d.program.Stdout, `
Everything is in %[1]s. Look around there:
  cd %[1]s && %[2]s stats
  %[2]s diff
  %[2]s inspect https://alderford.test/about
  %[2]s path https://tidewater-maps.test/
  %[2]s query 'SELECT domain, coverage FROM hosts'
and open map.html in a browser, summary.md in an editor, graph.gexf in Gephi.
Then crawl what you care about, in another folder:
  %[2]s init
`, term.Shown(filepath.Clean(d.opts.Dir)), selfIn(d.opts.Dir))
	return nil
}

// selfIn returns how to call this program from within a folder.
func selfIn(dir string) string {
	path, err := os.Executable()
	if err == nil && strings.Contains(path, string(filepath.Separator)+"go-build") {
		if here, err := os.Getwd(); err == nil {
			if abs, err := filepath.Abs(dir); err == nil {
				dir = abs
			}
			if up, err := filepath.Rel(dir, here); err == nil {
				return "go run " + filepath.ToSlash(up) + "/cmd/ripple"
			}
		}
	}
	if _, err := exec.LookPath("ripple"); err == nil || path == "" {
		return "ripple"
	}
	return term.Shown(path)
}

// demoTable prints the result for each host.
func demoTable(w io.Writer, s *survey.Survey) error {
	fmt.Fprintln(w)
	t := term.NewTable(w)
	t.Row("host", "class", "depth", "known", "visited", "coverage")
	err := s.Hosts.Each(func(h *survey.HostReport) error {
		if h.Known == 0 {
			return nil
		}
		t.Row(term.ShownHost(h.Host.Name, 60), h.Class, depthText(h.MinDepth), h.Known, h.Visited, term.Clean(h.Coverage, 60))
		return nil
	})
	if err != nil {
		return err
	}
	if err := t.Flush(); err != nil {
		return err
	}
	counts, err := s.Counts()
	if err != nil {
		return err
	}
	var parts []string
	for _, state := range schema.States() {
		if n := counts.ByState[state]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", term.Commas(n), state))
		}
	}
	fmt.Fprintf(w, "\n%s, %s: %s\n", term.Count(counts.Pages, "page", "pages"), term.Count(counts.Links, "link", "links"),
		strings.Join(parts, ", "))
	return nil
}

func depthText(d *int) string {
	if d == nil {
		return "-"
	}
	return fmt.Sprint(*d)
}
