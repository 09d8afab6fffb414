package serve

import (
	"context"
	"strings"

	"github.com/sumi-ripple/ripple/cmd/ripple/desk"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// maxShownNames bounds the hosts of one question, in bytes.
const maxShownNames = 1 << 15

// shownNames are hosts as a person is shown them.
type shownNames struct {
	Shown map[string]string `json:"shown"`
}

// answerShown tells a browser how hosts read whose names are internationalised.
func answerShown(_ *deskSide, _ context.Context, q desk.Query) (any, error) {
	names := shownNames{Shown: map[string]string{}}
	for _, host := range strings.Fields(q.Text("hosts")) {
		if text := weburl.ShownIfOther(host); text != "" {
			names.Shown[host] = text
		}
	}
	return names, nil
}
