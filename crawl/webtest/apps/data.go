package apps

import (
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"path"

	"github.com/sumi-ripple/ripple/crawl/webtest"
)

// A station is an item of the list that the applications fetch, and the content of a page.
type station struct {
	ID     int    `json:"id"`
	Name   string `json:"name"`
	River  string `json:"river"`
	Keeper string `json:"keeper"`
	Text   string `json:"text"`
	Report string `json:"report"`
	Next   int    `json:"next"`
}

var stations = [...][3]string{
	{"Ash Weir", "Alder", "Ida"}, {"Birch Lock", "Brook", "Jon"}, {"Cedar Mill", "Alder", "Kay"},
	{"Dogwood Bridge", "Clear", "Lou"}, {"Elm Ferry", "Brook", "Max"}, {"Fir Landing", "Clear", "Nia"},
}

// serveData serves the stations below /data/ and their reports below /reports/.
func serveData(h *webtest.Host) {
	all := make([]station, 0, len(stations))
	for i, s := range stations {
		one := station{ID: i + 1, Name: s[0], River: s[1], Keeper: s[2], Next: (i+1)%len(stations) + 1}
		one.Text = fmt.Sprintf("%s is on the %s. Its keeper is %s.", one.Name, one.River, one.Keeper)
		one.Report = fmt.Sprintf("/reports/%d.txt", one.ID)
		all = append(all, one)
		serveJSON(h, fmt.Sprintf("/data/stations/%d.json", one.ID), one)
		h.Handle(one.Report, func(w http.ResponseWriter, _ *http.Request) { send(w, one.Report, []byte(one.Text)) })
	}
	serveJSON(h, "/data/stations.json", all)
	h.Handle("/data/count.js", func(w http.ResponseWriter, _ *http.Request) { send(w, "count.js", []byte("1;")) })
}

func serveJSON(h *webtest.Host, at string, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		panic(err) // numbers and strings
	}
	h.Handle(at, func(w http.ResponseWriter, _ *http.Request) { send(w, at, body) })
}

func send(w http.ResponseWriter, name string, body []byte) {
	kind := mime.TypeByExtension(path.Ext(name))
	switch path.Ext(name) { // the same on every machine
	case ".md":
		kind = "text/markdown; charset=utf-8"
	case ".txt":
		kind = "text/plain; charset=utf-8"
	}
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write(body) // the peer may have left
}
