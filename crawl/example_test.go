package crawl_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/webtest"
	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/export/graph"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema/config"
)

// A program crawls a small web, reads the state file, and writes its graph.
func Example() {
	if err := mapWeb(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// 3 pages visited
	// https://alder.test/ processed
	// https://alder.test/walks processed
	// https://birch.test/ processed
	// terrain.graphml: 2 hosts
}

func mapWeb(ctx context.Context) error {
	web, err := webtest.New() // instead of the real one
	if err != nil {
		return err
	}
	defer web.Close()
	web.Host("alder.test").Page("/", `<p><a href="/walks">Walks</a>`)
	web.Host("alder.test").Page("/walks", `<p><a href="https://birch.test/">Birch</a>`)
	web.Host("birch.test").Page("/", "<p>Silence.")
	dir, err := os.MkdirTemp("", "terrain")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	authority, err := web.CAFile(dir)
	if err != nil {
		return err
	}

	cfg, _, err := config.Parse(fmt.Appendf(nil, `
[crawler]
max-depth = 1
head-check = "never"
minimum-time-on-page = 100
[user-agent]
crawler-name = "MeadowBot"
[network] # of the example's web
ca-file = %q
connect-to = {"*.test" = %q}
[[quality]]
domain = "alder.test"
seeds = ["https://alder.test/"]
`, authority, web.Addr()), dir, os.ReadFile)
	if err != nil {
		return err
	}
	store, err := kv.Open(filepath.Join(dir, "ripple.bolt"), kv.Options{})
	if err != nil {
		return err
	}
	defer store.Close()
	if err := crawlOnce(ctx, store, cfg); err != nil {
		return err
	}
	s, err := survey.New(store)
	if err != nil {
		return err
	}
	if err := printPages(s); err != nil {
		return err
	}
	path := filepath.Join(dir, "terrain.graphml")
	hosts, err := writeGraph(ctx, s, path)
	if err != nil {
		return err
	}
	fmt.Printf("%s: %d hosts\n", filepath.Base(path), hosts)
	return nil
}

// crawlOnce runs a crawl until nothing waits, or until ctx is done; then the next call resumes it.
func crawlOnce(ctx context.Context, store *kv.Store, cfg *config.Config) error {
	c, _, err := crawl.Begin(ctx, store, crawl.Options{Config: cfg})
	if err != nil {
		return err
	}
	result, err := c.Run(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("%d pages visited\n", result.Run.Pages)
	if !result.Walked {
		return nil // ctx is done
	}
	return c.Complete()
}

// printPages reads a state file.
func printPages(s *survey.Survey) error {
	return s.EachPage(func(p *survey.Page) error {
		fmt.Println(p.URL, p.State)
		return nil
	})
}

// writeGraph writes the hosts and the links between them as GraphML, and returns the number of hosts.
func writeGraph(ctx context.Context, s *survey.Survey, path string) (int, error) {
	g, err := export.New(s, export.Options{Level: export.LevelHost})
	if err != nil {
		return 0, err
	}
	for _, f := range graph.Formats() {
		if f.Name == "graphml" {
			return g.Len(), f.Write(ctx, path, g, graph.Options{})
		}
	}
	return 0, errors.ErrUnsupported
}
