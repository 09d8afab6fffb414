package desk

import (
	"archive/zip"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"strings"
)

// download sends the file that a ticket is for, as an attachment that nothing may be
// done with but to save it.
func (d *Desk) download(w http.ResponseWriter, r *http.Request) {
	to, ok := d.redeem(w, r)
	if !ok {
		return
	}
	id, found := strings.CutPrefix(to, "files/")
	if !found {
		http.NotFound(w, r)
		return
	}
	f, err := d.exports.file(id)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	path := filepath.Join(f.folder, f.Name)
	info, err := os.Stat(path)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	name := f.Name
	if info.IsDir() {
		name += ".zip"
	}
	header := w.Header()
	header.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	header.Set("Content-Type", "application/octet-stream")
	header.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": name}))
	if !info.IsDir() {
		http.ServeFile(w, r, path)
		return
	}
	if err := archive(w, path); err != nil {
		panic(http.ErrAbortHandler)
	}
}

// archive sends a folder.
func archive(w http.ResponseWriter, folder string) error {
	z := zip.NewWriter(w)
	if err := z.AddFS(os.DirFS(folder)); err != nil {
		return err
	}
	return z.Close()
}
