package config

import (
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// noFiles is a file reader that finds no files.
func noFiles(path string) ([]byte, error) {
	return nil, &os.PathError{Op: "open", Path: path, Err: os.ErrNotExist}
}

func TestSampleFailsByItsPlaceholders(t *testing.T) {
	_, _, err := Parse([]byte(Sample()), "/home/me", noFiles)
	var errs *Errors
	if !errors.As(err, &errs) {
		t.Fatalf("error %v", err)
	}
	var keys []string
	lines := strings.Split(Sample(), "\n")
	for _, p := range errs.List {
		keys = append(keys, p.Key)
		if !strings.Contains(p.Text, "placeholder") || !strings.Contains(lines[p.Line-1], placeholder) {
			t.Errorf("line %d: %s", p.Line, p.Text)
		}
	}
	want := []string{"user-agent.crawler-name", "user-agent.contact-url", "user-agent.contact-email",
		"quality[0].domain", "quality[0].seeds"}
	if diff := cmp.Diff(want, keys); diff != "" {
		t.Error(diff)
	}
}

func TestSampleWorksWhenFilledIn(t *testing.T) {
	filled := strings.ReplaceAll(strings.ReplaceAll(Sample(), `"`+placeholder+`"`, `"example.com"`), placeholder,
		"example.com")
	filled = strings.Replace(filled, `crawler-name = "example.com"`, `crawler-name = "Test-Bot"`, 1)
	c, notices, err := Parse([]byte(filled), "/home/me", noFiles)
	if err != nil || len(notices) > 0 {
		t.Fatalf("%v, notices %q", err, notices)
	}
	if c.Crawler.HeadCheck != HeadAuto || c.Output.DatabasePath != "/home/me/sumi-ripple.db" {
		t.Errorf("head-check %q, database %q", c.Crawler.HeadCheck, c.Output.DatabasePath)
	}
}

// The commented-out parts of the sample are valid too.
func TestSampleExamplesWork(t *testing.T) {
	text := regexp.MustCompile(`(?m)^# (\[\[|[a-z-]+ +=)`).ReplaceAllString(Sample(), "$1")
	text = strings.ReplaceAll(strings.ReplaceAll(text, `"`+placeholder+`"`, `"example.com"`), placeholder, "example.com")
	text = strings.Replace(text, `crawler-name = "example.com"`, `crawler-name = "Test-Bot"`, 1)
	c, _, err := Parse([]byte(text), "/home/me", noFiles)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Blacklist) != 1 || len(c.Stub) != 1 || len(c.PageTypes) != 1 || len(c.Entities) != 1 || len(c.Extracts) != 1 {
		t.Errorf("not all examples were read: %+v", c)
	}
}

func TestEveryKeyIsDocumented(t *testing.T) {
	sample, count := Sample(), 0
	for _, table := range declared() {
		for _, k := range table.keys {
			if k.stored {
				continue
			}
			count++
			if k.doc == "" || strings.ContainsAny(k.doc, "\n\r") {
				t.Errorf("%s.%s has the doc %q", table.name, k.name, k.doc)
			}
			if !strings.Contains(sample, k.name+" = ") || !strings.Contains(sample, k.doc) {
				t.Errorf("%s.%s is not in the sample", table.name, k.name)
			}
		}
	}
	if count < 85 {
		t.Errorf("only %d keys", count)
	}
}

// A sample for origins is valid except for the contact.
func TestSampleOfOrigins(t *testing.T) {
	text := Sample(Origin{"example.com", []string{"https://example.com/", "https://www.example.com/a?b=\"c\\"}},
		Origin{"example.org", []string{"https://example.org/"}})
	_, _, err := Parse([]byte(text), "/home/me", noFiles)
	var errs *Errors
	if !errors.As(err, &errs) || len(errs.List) != 2 || errs.List[0].Key != "user-agent.contact-url" ||
		errs.List[1].Key != "user-agent.contact-email" {
		t.Fatalf("error %v", err)
	}
	c, notices, err := Parse([]byte(strings.ReplaceAll(text, placeholder, "example.net")), "/home/me", noFiles)
	if err != nil || len(notices) > 0 {
		t.Fatalf("%v, notices %q", err, notices)
	}
	if len(c.Quality) != 2 || len(c.Quality[0].Seeds) != 2 || c.Quality[1].Name != "example.org" {
		t.Errorf("origins %+v", c.Quality)
	}
}

func TestDocsFitTheSample(t *testing.T) {
	for i, line := range strings.Split(Sample(), "\n") {
		if len(line) > 150 || regexp.MustCompile(`\s$`).MatchString(line) {
			t.Errorf("line %d: %q", i+1, line)
		}
	}
}
