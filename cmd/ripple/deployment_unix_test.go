//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/cmd/ripple/docs"
	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/webtest"
)

// deployed returns the blocks of the given kind in "ripple help deployment".
func deployed(t *testing.T, kind string) (blocks []string) {
	t.Helper()
	topics := docs.Topics()
	i := slices.IndexFunc(topics, func(topic docs.Topic) bool { return topic.Name == "deployment" })
	for part := range strings.SplitSeq(topics[i].Text, "\n```"+kind+"\n") {
		block, _, _ := strings.Cut(part, "\n```\n")
		blocks = append(blocks, block+"\n")
	}
	if len(blocks) < 2 {
		t.Fatalf("there is no block of %s", kind)
	}
	return blocks[1:]
}

// needTool skips a test if a program is missing, and fails it under RIPPLE_CI=1.
func needTool(t *testing.T, name string) {
	t.Helper()
	_, err := exec.LookPath(name)
	switch {
	case err == nil:
	case os.Getenv("RIPPLE_CI") == "1":
		t.Fatal(err)
	default:
		t.Skipf("%v; .ci/run installs it", err)
	}
}

// execStart returns the arguments of "ripple" in a unit.
func execStart(t *testing.T, unit string) []string {
	t.Helper()
	_, line, found := strings.Cut(unit, "\nExecStart=/usr/local/bin/ripple ")
	if !found {
		t.Fatalf("the unit does not start ripple: %s", unit)
	}
	line, _, _ = strings.Cut(line, "\n")
	return strings.Fields(line)
}

// systemd has nothing against the units.
func TestUnits(t *testing.T) {
	t.Parallel()
	needTool(t, "systemd-analyze")
	dir := t.TempDir()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	units := deployed(t, "ini")
	verify := exec.Command("systemd-analyze", "verify", "--recursive-errors=no")
	for i, name := range []string{"ripple.service", "ripple.timer", "ripple-hub.service"} {
		path := filepath.Join(dir, name)
		text := strings.ReplaceAll(units[i], "/usr/local/bin/ripple", program)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		verify.Args = append(verify.Args, path)
	}
	if out, err := verify.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v: %s", err, out)
	}
}

// The manifests follow the schemas of Kubernetes, and Ripple knows the flags in them.
func TestManifests(t *testing.T) {
	t.Parallel()
	dir := needPackages(t, "testdata/kubernetes")
	manifest := filepath.Join(dir, "ripple.yaml")
	writeAll(t, dir, map[string][]byte{"ripple.yaml": []byte(deployed(t, "yaml")[0])})
	check := exec.Command("node", "check.mjs", manifest)
	check.Dir = dir
	out, err := check.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	containers := 0
	for line := range strings.Lines(string(out)) {
		var args []string
		if err := json.Unmarshal([]byte(line), &args); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if out, err := ripple(append(args, "--help")...).CombinedOutput(); err != nil {
			t.Errorf("%q: %v: %s", args, err, out)
		}
		containers++
	}
	if containers != 2 {
		t.Errorf("%d containers, want the hub and the machines", containers)
	}
}

// Three machines and a hub with a certificate, set up as the documentation says, make the map of one machine.
func TestDeployedTerrain(t *testing.T) {
	t.Parallel()
	needTool(t, "openssl")
	dir, units := t.TempDir(), deployed(t, "ini")
	for _, block := range deployed(t, "sh") {
		if strings.HasPrefix(block, "openssl ") {
			certify := exec.Command("sh", "-c", strings.ReplaceAll(block, "hub.example", "localhost"))
			certify.Dir = dir
			if out, err := certify.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
		}
	}
	args := execStart(t, units[2])
	args[slices.Index(args, "--listen")+1] = "127.0.0.1:0"
	h := &hubProcess{cmd: ripple(args...)}
	h.cmd.Dir = dir
	h.start(t)

	web := crawltest.Serve(t, webtest.WithoutLog())
	crawltest.Sites(web, 5, 4)
	text := crawltest.Config(t, web, crawltest.SeedsOfSites)
	cluster := strings.ReplaceAll(deployed(t, "toml")[0], "tls://hub.example:4222",
		strings.Replace(h.url, "127.0.0.1", "localhost", 1))
	merge := []string{"merge", "-o", filepath.Join(dir, "whole.bolt")}
	var g errgroup.Group
	for _, name := range []string{"attic", "barn", "cellar"} {
		folder := filepath.Join(dir, name)
		writeAll(t, folder, map[string][]byte{"config.toml": []byte(text + cluster),
			"cert.pem": contents(t, filepath.Join(dir, "cert.pem")), "token": contents(t, filepath.Join(dir, "token"))})
		merge = append(merge, filepath.Join(folder, "terrain"))
		g.Go(func() error {
			crawl := ripple(execStart(t, units[0])...)
			crawl.Dir = folder
			if out, err := crawl.CombinedOutput(); err != nil {
				return fmt.Errorf("%s: %w: %s", name, err, out)
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	writeAll(t, dir, map[string][]byte{"config.toml": []byte(text)})
	for _, args := range [][]string{merge, {"crawl", filepath.Join(dir, "config.toml")}} {
		if out, err := ripple(args...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", args[0], err, out)
		}
	}
	got, want := crawltest.Digest(t, filepath.Join(dir, "whole.bolt")), crawltest.Digest(t, filepath.Join(dir, "ripple.bolt"))
	if got != want {
		t.Errorf("digest %s, want %s", got, want)
	}
}

// writeAll writes private files into a folder.
func writeAll(t *testing.T, dir string, files map[string][]byte) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
