package desk

import (
	"archive/zip"
	"errors"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/sumi-ripple/ripple/crawl/control"
)

// download sends the file that a ticket is for, as an attachment that a browser can only save.
func (d *Desk) download(w http.ResponseWriter, r *http.Request) {
	to, err := d.redeem(r.PathValue("ticket"))
	if refused := new(control.Error); errors.As(err, &refused) { // for a person
		http.Error(w, refused.Text, refused.Code)
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

// archive sends a folder as an archive.
func archive(w http.ResponseWriter, folder string) error {
	z := zip.NewWriter(w)
	if err := z.AddFS(os.DirFS(folder)); err != nil {
		return err
	}
	return z.Close()
}
