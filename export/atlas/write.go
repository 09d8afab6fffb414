package atlas

import (
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/amount"
	"github.com/sumi-ripple/ripple/schema/sanitize"
)

//go:embed viewer
var viewer embed.FS

// scripts returns the parts of the viewer in the order in which they are put into a page.
func scripts() []string {
	return []string{"graph.js", "outside.js", "colour.js", "camera.js", "webgl.js", "canvas.js", "labels.js", "panel.js",
		"filter.js", "mark.js", "picture.js", "view.js", "input.js", "main.js"}
}

// page is the data of the template.
type page struct {
	Title, Run, Status, Partial string
	Counts, LeftOut, Policy     string
	Style                       template.CSS
	Script, Data                template.JS
}

// Write writes the map as one HTML file, pruned (see [Map.Pruned]). The file's policy allows only
// its own script and style, by their hashes: no network, no frames, no forms. An error describes a
// fault in m, or comes from w; in the latter case a part of the file may have been written.
func Write(w io.Writer, m Map) error {
	if err := m.check(); err != nil {
		return fmt.Errorf("write map: %w", err)
	}
	m = m.Pruned()
	p, err := m.page()
	if err != nil {
		return fmt.Errorf("write map: %w", err)
	}
	t, err := template.ParseFS(viewer, "viewer/*.tmpl")
	if err != nil {
		return fmt.Errorf("write map: %w", err)
	}
	if err := t.ExecuteTemplate(w, "page.html.tmpl", p); err != nil {
		return fmt.Errorf("write map: %w", err)
	}
	return nil
}

// check rejects a map that the viewer could not draw.
func (m Map) check() error {
	if err := m.checkPoints(m.Points); err != nil {
		return err
	}
	if m.Other != nil {
		if len(m.Other.Scores) != len(m.Nodes) {
			return fmt.Errorf("%d scores for %d nodes", len(m.Other.Scores), len(m.Nodes))
		}
		if err := m.checkPoints(m.Other.Points); err != nil {
			return err
		}
	}
	if m.Outside != nil {
		for _, h := range m.Outside.Hosts {
			if len(h.To) == 0 || int(slices.Max(h.To)) >= len(m.Nodes) {
				return fmt.Errorf("%q outside links to %d among %d nodes", h.Name, h.To, len(m.Nodes))
			}
		}
	}
	for i, e := range m.Edges {
		if int(max(e.From, e.To)) >= len(m.Nodes) {
			return fmt.Errorf("link %d leads from %d to %d among %d nodes", i, e.From, e.To, len(m.Nodes))
		}
	}
	return nil
}

func (m Map) checkPoints(points []Point) error {
	if len(points) != len(m.Nodes) {
		return fmt.Errorf("%d points for %d nodes", len(points), len(m.Nodes))
	}
	for v, p := range points {
		if at := float64(p.X) + float64(p.Y); math.IsNaN(at) || math.IsInf(at, 0) {
			return fmt.Errorf("point %d is not a place", v)
		}
	}
	return nil
}

func (m Map) page() (*page, error) {
	style, err := joined("ground.css", "viewer.css")
	if err != nil {
		return nil, err
	}
	script, err := script()
	if err != nil {
		return nil, err
	}
	data, err := m.data()
	if err != nil {
		return nil, err
	}
	p := &page{Run: line(m.Run), Status: line(m.Status), Partial: line(m.Partial), Counts: m.counts(),
		LeftOut: m.leftOut(),
		Style:   template.CSS(style), Script: template.JS(script), Data: template.JS(data)}
	if p.Title = line(m.Title); p.Title == "" {
		p.Title = "Ripple map"
	}
	p.Policy = fmt.Sprintf("default-src 'none'; script-src 'sha256-%s'; style-src 'sha256-%s'; base-uri 'none'; "+
		"form-action 'none'", digest(script), digest(style))
	return p, nil
}

// script joins the parts of the viewer into one function, which shows the graph in the file.
func script() (string, error) {
	text, err := joined(append(scripts(), "file.js")...)
	return "(() => {\n\"use strict\";\n" + text + "})();\n", err
}

// joined concatenates parts of the viewer.
func joined(names ...string) (string, error) {
	var b strings.Builder
	for _, name := range names {
		part, err := viewer.ReadFile("viewer/" + name)
		if err != nil {
			return "", err
		}
		b.Write(part)
	}
	return b.String(), nil
}

// digest returns a text's hash as in a content security policy.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// line cleans text for a line of the page.
func line(s string) string { return sanitize.Line(s, 300) }

func (m Map) counts() string { return m.countsBy(func(e *Edge) uint32 { return e.Weight }) }

// countsBy counts the nodes, and the links with a weight.
func (m Map) countsBy(weight func(*Edge) uint32) string {
	blacklist, stub := schema.ClassBlacklisted.String(), schema.ClassStub.String()
	listed := 0
	for i := range m.Nodes {
		if c := m.Nodes[i].Class; c == blacklist || c == stub {
			listed++
		}
	}
	text := many(len(m.Nodes), m.Level)
	if listed > 0 {
		text += " (" + amount.Commas(listed) + " blacklisted or stubs)"
	}
	links := 0
	for i := range m.Edges {
		if weight(&m.Edges[i]) > 0 {
			links++
		}
	}
	return text + ", " + many(links, "link")
}

// leftOut describes the nodes and links that Pruned left out. It is empty if there are none.
func (m Map) leftOut() string {
	switch {
	case m.LeftOut.Nodes > 0:
		return "left out: " + many(m.LeftOut.Nodes, m.Level) + " of least trust, " + many(m.LeftOut.Edges, "link")
	case m.LeftOut.Edges > 0:
		return "left out: " + many(m.LeftOut.Edges, "link") + " of lowest weight"
	}
	return ""
}

// many formats a number with a word of the glossary.
func many(n int, word string) string {
	return amount.Of(n, cmp.Or(line(word), "node"), "")
}
