// Package docs holds the documentation that "ripple help TOPIC" prints. Each topic is a Markdown file in this folder
// whose first line is the title. The questions in SQL come from [Questions]. The list of keys in configuration.md and
// the list of tables in data.md are generated:
//
//	go test ./schema/config -run TestReference -update
//	go test ./schema -run TestDictionary -update
package docs

import (
	"embed"
	"fmt"
	"strings"
)

//go:embed *.md
var files embed.FS // read-only

// Dashboard is a dashboard for Grafana, as JSON.
//
//go:embed grafana.json
var Dashboard string

// A Topic is one page of documentation.
type Topic struct {
	Name  string // as in "ripple help NAME"
	Title string
	Text  string // Markdown, the title included
}

// Topics returns every topic in the order of reading.
func Topics() []Topic {
	names := []string{"recipes", "questions", "crawling", "outputs", "politeness", "promises", "rendering", "machines",
		"deployment", "archives", "configuration", "data", "comparison", "citing"}
	topics := make([]Topic, len(names))
	for i, name := range names {
		text, err := files.ReadFile(name + ".md")
		if err != nil {
			panic(fmt.Sprintf("a topic without its file: %v", err)) // the files are part of the program
		}
		if name == "questions" {
			text = append(text, questionsText()...)
		}
		title, _, _ := strings.Cut(string(text), "\n")
		topics[i] = Topic{Name: name, Title: strings.TrimPrefix(title, "# "), Text: string(text)}
	}
	return topics
}
