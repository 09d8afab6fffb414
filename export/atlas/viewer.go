package atlas

import (
	"html/template"
	"strings"
)

// A Viewer holds the parts with which another page can show a map from [Map.JSON]. The page's own
// style rules must follow these styles.
type Viewer struct {
	Module string        // JavaScript that exports show, renew, restyle and leave; see viewer/main.js
	Ground string        // CSS: colours in light and dark, text, cards, controls
	Style  string        // CSS of the elements in Stage
	Stage  template.HTML // the elements that show needs, without a heading
}

// NewViewer returns the viewer of the exported map for use on another page.
func NewViewer() (v Viewer, err error) {
	if v.Module, err = joined(scripts()...); err != nil {
		return v, err
	}
	v.Module += "\nexport { show, renew, restyle, leave };\n"
	if v.Ground, err = joined("ground.css"); err != nil {
		return v, err
	}
	if v.Style, err = joined("viewer.css"); err != nil {
		return v, err
	}
	t, err := template.ParseFS(viewer, "viewer/stage.html.tmpl")
	if err != nil {
		return v, err
	}
	var stage strings.Builder
	err = t.Execute(&stage, page{})
	v.Stage = template.HTML(stage.String())
	return v, err
}
