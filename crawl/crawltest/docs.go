package crawltest

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// A Documentation is one folder of real pages.
type Documentation struct {
	Host  string // the host that serves it
	Front string // path of its front page
	Files fs.FS
}

// Documentations opens the folders of documentation packages (git-doc, python3-doc, postgresql-doc-15, cmake-doc,
// nodejs-doc) below a root, /usr/share/doc on Debian.
func Documentations(t testing.TB, root string) (all []Documentation) {
	t.Helper()
	folders := [][2]string{
		{"git.test", "git-doc"},
		{"python.test", "python3.11/html"},
		{"postgresql.test", "postgresql-doc-15/html"},
		{"cmake.test", "cmake-data/html"},
		{"node.test", "nodejs/api"},
	}
	for _, f := range folders {
		folder, err := filepath.EvalSymlinks(filepath.Join(root, f[1])) // otherwise its files are outside
		if err != nil {
			t.Fatal(err)
		}
		d := Documentation{Host: f[0], Front: "/index.html", Files: os.DirFS(folder)}
		if _, err := fs.Stat(d.Files, "index.html"); err != nil {
			t.Fatal(err)
		}
		all = append(all, d)
	}
	return all
}
