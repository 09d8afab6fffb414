package browsertest

import (
	"encoding/json"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/chromedp/chromedp"
)

// Silent fails the test at its end if the console has reported anything by then, such as a violation of
// the content security policy. Messages that contain one of the texts in but are ignored, as are the
// software renderer's notes on its own speed.
func (b *Tab) Silent(but ...string) {
	b.Helper()
	heard := complaints{but: append(but, "GL Driver Message")}
	go heard.listen(chromedp.Console(b.ctx)) // ends with the tab
	b.Cleanup(func() {
		if text := heard.all(); len(text) != 0 {
			b.Errorf("the console says %q", text)
		}
	})
}

// A complaints collects console messages.
type complaints struct {
	but []string

	mu   sync.Mutex
	text []string
}

// listen collects until the tab is closed.
func (c *complaints) listen(said iter.Seq2[chromedp.ConsoleMessage, error]) {
	for message, err := range said {
		if err != nil {
			return
		}
		text := message.String()
		if slices.ContainsFunc(c.but, func(known string) bool { return strings.Contains(text, known) }) {
			continue
		}
		c.mu.Lock()
		c.text = append(c.text, text)
		c.mu.Unlock()
	}
}

func (c *complaints) all() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.text)
}

// quoted returns a text as a JavaScript string.
func quoted(text string) string {
	b, _ := json.Marshal(text) // strings always marshal
	return string(b)
}
