package disk

import (
	"os"
	"path/filepath"
)

// Behind returns the path that symbolic links lead to, whether there is something yet or not:
// who makes or replaces that leaves the links as they are. Of links that lead to each other it
// returns one.
func Behind(path string) string {
	const most = 40 // as many as systems follow
	for range most {
		to, err := os.Readlink(path)
		if err != nil {
			break
		}
		if !filepath.IsAbs(to) {
			to = filepath.Dir(path) + string(filepath.Separator) + to
		}
		folder, name := filepath.Split(to) // not cleaned: ".." may be behind a link
		if real, err := filepath.EvalSymlinks(folder); err == nil {
			folder = real
		}
		path = filepath.Join(folder, name)
	}
	return path
}
