package serve

import (
	"context"
	"net/http"
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

// namesRoute tells a browser how hosts read whose names are internationalised.
func namesRoute() desk.Route {
	return desk.Route{Name: "shown", Method: http.MethodGet, Path: "shown", Returns: shownNames{},
		Params: []desk.Param{{Name: "hosts", Kind: desk.Text, Required: true, Most: maxShownNames,
			Doc: "hosts, with spaces between"}},
		Doc: "Hosts with internationalised names as a person is shown them: with the other form behind the name. " +
			"Hosts without one are left out.",
		Answer: func(_ context.Context, q desk.Query) (any, error) {
			names := shownNames{Shown: map[string]string{}}
			for _, host := range strings.Fields(q.Text("hosts")) {
				if text := weburl.ShownIfOther(host); text != "" {
					names.Shown[host] = text
				}
			}
			return names, nil
		}}
}
