package disk

import (
	"os"
	"path/filepath"
)

// Behind returns the path that symbolic links lead to, whether or not it exists. Creating or replacing
// a file at that path leaves the links intact. If links form a loop, it returns one of them.
func Behind(path string) string {
	const most = 40 // the limit of common systems
	for range most {
		to, err := os.Readlink(path)
		if err != nil {
			break
		}
		if !filepath.IsAbs(to) {
			to = filepath.Dir(path) + string(filepath.Separator) + to
		}
		folder, name := filepath.Split(to) // not cleaned: ".." may follow a link
		if real, err := filepath.EvalSymlinks(folder); err == nil {
			folder = real
		}
		path = filepath.Join(folder, name)
	}
	return path
}
