package serve

import (
	"context"
	"strings"

	"github.com/sumi-ripple/ripple/cmd/ripple/desk"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// maxShownNames limits the list of hosts in one question, in bytes.
const maxShownNames = 1 << 15

// shownNames are the display forms of host names.
type shownNames struct {
	Shown map[string]string `json:"shown"`
}

// answerShown returns how hosts with internationalised names are shown.
func answerShown(_ *deskSide, _ context.Context, q desk.Query) (any, error) {
	names := shownNames{Shown: map[string]string{}}
	for _, host := range strings.Fields(q.Text("hosts")) {
		if text := weburl.ShownIfOther(host); text != "" {
			names.Shown[host] = text
		}
	}
	return names, nil
}
