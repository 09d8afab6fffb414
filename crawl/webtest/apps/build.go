package apps

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// asOf is the day whose versions of indirect dependencies are installed.
const asOf = "2025-06-20"

// Build returns the folder of the application. It builds them once in the folder that RIPPLE_APPS names, and skips the
// test if there is none, or no npm, or if the packages cannot be installed.
func (a App) Build(t testing.TB) string {
	t.Helper()
	kept := os.Getenv("RIPPLE_APPS")
	if kept == "" || testing.Short() {
		t.Skip("short, or RIPPLE_APPS does not name the folder for built applications; .ci/run apps sets it")
	}
	kept, err := filepath.Abs(kept)
	if err != nil {
		t.Fatal(err)
	}
	built := filepath.Join(kept, a.Name+"-"+a.version(t))
	if info, err := os.Stat(built); err == nil && info.IsDir() {
		return built
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		t.Skip("npm is not installed; no application is built")
	}
	work, err := os.MkdirTemp(kept, a.Name+"-building-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(work)
	a.unpack(t, work)
	out, err := run(work, npm, "install", "--no-audit", "--no-fund", "--no-package-lock", "--fetch-retries", "1",
		"--before", asOf)
	if err != nil {
		t.Skipf("npm does not install the packages of %s, which is not tested: %v: %.300s", a.Name, err, out)
	}
	if out, err := run(work, npm, "run", "build"); err != nil {
		t.Fatalf("build %s: %v: %s", a.Name, err, out)
	}
	if err := os.Rename(filepath.Join(work, a.output), built); err != nil {
		t.Fatal(err)
	}
	return built
}

// run runs a command in a folder, where it also keeps its temporary files, and returns the end of what it said.
func run(folder, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "CI=1", "TMPDIR="+folder, "NG_CLI_ANALYTICS=false", "NEXT_TELEMETRY_DISABLED=1",
		"NUXT_TELEMETRY_DISABLED=1", "ASTRO_TELEMETRY_DISABLED=1")
	out, err := cmd.CombinedOutput()
	const most = 3_000
	return string(out[max(0, len(out)-most):]), err
}

// version returns a digest of the sources.
func (a App) version(t testing.TB) string {
	t.Helper()
	sum := sha256.New()
	fmt.Fprintf(sum, "%s %s\n", asOf, read("notes.json"))
	for _, folder := range a.folders() {
		err := fs.WalkDir(sources, folder, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			body, err := sources.ReadFile(name)
			fmt.Fprintf(sum, "%s %d\n%s", name, len(body), body)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return hex.EncodeToString(sum.Sum(nil))[:12]
}

// folders returns the folders with its sources. The files of the first one count.
func (a App) folders() []string {
	folders := []string{"testdata/" + a.Name}
	if a.base != "" {
		folders = append(folders, "testdata/"+a.base)
	}
	return folders
}

// unpack writes the sources into a folder.
func (a App) unpack(t testing.TB, folder string) {
	t.Helper()
	var err error
	for _, from := range a.folders() {
		err = errors.Join(err, fs.WalkDir(sources, from, func(name string, d fs.DirEntry, err error) error {
			to := filepath.Join(folder, filepath.FromSlash(strings.TrimPrefix(name, from)))
			if err != nil || d.IsDir() {
				return errors.Join(err, os.MkdirAll(to, 0o755))
			}
			if _, err := os.Stat(to); err == nil {
				return nil
			}
			body, err := sources.ReadFile(name)
			return errors.Join(err, os.WriteFile(to, body, 0o644))
		}))
	}
	if err == nil && a.notes {
		err = os.WriteFile(filepath.Join(folder, "notes.json"), read("notes.json"), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}
