package demo

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/cmd/ripple/term"
)

// maxDemoNodes is the maximum number of simulated machines.
const maxDemoNodes = 8

// crawlTogether runs several processes that crawl the web together like machines, kills one of them
// in the middle, and merges their files.
func (d *demonstration) crawlTogether(ctx context.Context) error {
	self, err := term.ThisProgram()
	if err != nil {
		return err
	}
	url, stop, err := startDemoHub(ctx, self, d.dir)
	if err != nil {
		return err
	}
	defer stop()
	d.program.Voice.Say(fmt.Sprintf("a hub is at %s, and %d nodes crawl the web together", url, d.opts.Nodes))
	all, err := d.nodes(self, url)
	if err != nil {
		return err
	}
	g, running := errgroup.WithContext(ctx)
	for i, n := range all {
		g.Go(func() error { return n.run(running, i == len(all)-1) })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	var folders []string
	for _, n := range all {
		folders = append(folders, n.folder)
	}
	return d.program.Merge(ctx, d.merged(), folders)
}

// startDemoHub starts a hub process, which runs until stop is called.
func startDemoHub(ctx context.Context, self, dir string) (url string, stop func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	cmd := exec.CommandContext(ctx, self,
		"hub", "--listen", "127.0.0.1:0", "--store", filepath.Join(dir, "hub"), "--quiet")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		cancel()
		return "", nil, err
	}
	stop = func() { cancel(); _ = cmd.Wait() } // it was killed
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		stop()
		return "", nil, fmt.Errorf("the hub has not started: %w", err)
	}
	return strings.TrimSpace(line), stop, nil
}

// A demoNode is a node process.
type demoNode struct {
	voice  *term.Voice
	self   string
	name   string
	config string
	folder string
}

// nodes writes the configurations of the nodes.
func (d *demonstration) nodes(self, hub string) (all []*demoNode, err error) {
	text, err := os.ReadFile(d.config)
	if err != nil {
		return nil, err
	}
	outputs := regexp.MustCompile(`(?m)^(database|summary|graph|map|report)-path = .*\n`) // nodes write no outputs
	text = outputs.ReplaceAll(text, nil)
	for i := range d.opts.Nodes {
		name := fmt.Sprintf("node-%d", i+1)
		node := &demoNode{d.program.Voice, self, name, filepath.Join(d.dir, name+".toml"), filepath.Join(d.dir, name)}
		more := fmt.Sprintf("\n[cluster]\nhub = %q\nshards = %d\nfolder = \"./%s\"\n"+
			"credentials = \"./hub/%s\"\nlease = \"30s\"\n", hub, 2*d.opts.Nodes, name, "token")
		if err := os.WriteFile(node.config, append(text, more...), 0o666); err != nil {
			return nil, err
		}
		all = append(all, node)
	}
	return all, nil
}

// run runs the node to its end. With killed set, it kills the node once it crawls, and starts it
// again.
func (n *demoNode) run(ctx context.Context, killed bool) error {
	if killed {
		crawls := make(chan struct{})
		cmd, err := n.start(ctx, sync.OnceFunc(func() { close(crawls) }))
		if err != nil {
			return err
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		select {
		case <-crawls:
			time.Sleep(500 * time.Millisecond)
			n.say("is killed, as kill -9 does")
			_ = cmd.Process.Kill() // fails if it has ended
			<-ended
			n.say("is started again")
		case err := <-ended:
			return n.explain(err)
		}
	}
	cmd, err := n.start(ctx, func() {})
	if err != nil {
		return err
	}
	return n.explain(cmd.Wait())
}

func (n *demoNode) explain(err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", n.name, err)
	}
	return nil
}

// start starts the process. crawls is called when it crawls a shard, possibly several times.
func (n *demoNode) start(ctx context.Context, crawls func()) (*exec.Cmd, error) {
	cmd := exec.CommandContext(ctx, n.self, "crawl", n.config)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = term.Grace
	cmd.Stderr = &lines{each: func(line string) {
		if strings.HasSuffix(line, ": crawling") {
			crawls()
		}
		n.say(line)
	}}
	return cmd, cmd.Start()
}

func (n *demoNode) say(line string) { n.voice.Say(n.name + ": " + line) }

// lines is a writer that passes on whole lines.
type lines struct {
	each func(string)
	rest string
}

func (l *lines) Write(b []byte) (int, error) {
	l.rest += string(b)
	for {
		line, rest, ok := strings.Cut(l.rest, "\n")
		if !ok {
			return len(b), nil
		}
		l.each(line)
		l.rest = rest
	}
}

// compare compares the merged map with the digest of the map of one machine.
func (d *demonstration) compare(ctx context.Context, one string) error {
	merged, err := d.digest(ctx, d.merged())
	if err != nil {
		return err
	}
	fmt.Fprintf(d.program.Stdout, "\nthe map of %d nodes, one of them killed, and the map of one machine:\n  %s\n  %s\n",
		d.opts.Nodes, merged, one)
	if merged != one {
		return errors.New("the maps differ")
	}
	return nil
}
