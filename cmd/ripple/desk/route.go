package desk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/sumi-ripple/ripple/crawl/control"
)

// A Route is one endpoint of the API.
type Route struct {
	Name    string // unique name by which programs call it
	Method  string // GET or POST
	Path    string // below [control.Root], with the parameters that are part of it in braces
	Doc     string // one sentence
	Params  []Param
	Body    any  // a value of the type of the POST's body; nil: an empty object
	Returns any  // a value of the type of the answer
	Apart   bool // the [Reader] answers, unless Answer is set and does not fail with [ErrApart]

	Handler http.Handler // answers itself, with something other than JSON; nil: it does not
	Media   string       // media type of that

	// Answer answers a request. Its result is sent as JSON, unless it is a [Stream]. A
	// [control.Error] is sent with its own code.
	Answer func(context.Context, Query) (any, error)
}

// A Param is a parameter of a route: of its path, if that names it, and otherwise of the query.
type Param struct {
	Name, Doc string
	Kind      Kind
	Required  bool
	Words     []string // of a Text: the possible values; nil: any
	Least     int      // of a Number: the minimum
	Most      int      // of a Number: the maximum; of a Text: the maximum length in bytes
	Default   int      // of a Number: the default
}

// A Kind is the type of a parameter.
type Kind string

// The kinds, as JSON Schema calls them.
const (
	Text   Kind = "string"
	Number Kind = "integer"
	Flag   Kind = "boolean" // given as 1 or true, 0 or false
)

// A Query holds the parameters of a request, which meet the conditions of their [Param].
type Query struct {
	uri     string
	texts   map[string]string
	numbers map[string]int
	flags   map[string]bool
	body    []byte
}

// RequestURI returns the path below [control.Root] and the parameters, as received.
func (q Query) RequestURI() string { return q.uri }

// Text returns a text; empty if it was not given.
func (q Query) Text(name string) string { return q.texts[name] }

// Number returns a number; its default if it was not given.
func (q Query) Number(name string) int { return q.numbers[name] }

// Flag returns a flag; false if it was not given.
func (q Query) Flag(name string) bool { return q.flags[name] }

// Decode decodes the body into v, and refuses fields that v does not have.
func (q Query) Decode(v any) error {
	d := json.NewDecoder(strings.NewReader(string(q.body)))
	d.DisallowUnknownFields()
	err := d.Decode(v)
	if err == nil {
		if _, behind := d.Token(); behind != io.EOF {
			err = errors.New("there is more after it")
		}
	}
	if err != nil {
		return wrong("the body is not the JSON that is expected: %v", err)
	}
	return nil
}

// wrong returns the error of an invalid request.
func wrong(format string, args ...any) error {
	return &control.Error{Code: http.StatusBadRequest, Text: fmt.Sprintf(format, args...)}
}

// Parse reads the parameters of a request.
func (r *Route) Parse(req *http.Request) (Query, error) {
	q := Query{uri: r.Path, texts: map[string]string{}, numbers: map[string]int{}, flags: map[string]bool{}}
	given, err := url.ParseQuery(req.URL.RawQuery)
	if err != nil {
		return q, wrong("the query is malformed")
	}
	for name := range given {
		if !slices.ContainsFunc(r.Params, func(p Param) bool { return p.Name == name && !r.inPath(p) }) {
			return q, wrong("there is no parameter %.40q", name)
		}
	}
	for _, p := range r.Params {
		values := given[p.Name]
		if r.inPath(p) {
			values = []string{req.PathValue(p.Name)}
			if values[0] == "." || values[0] == ".." { // another path, for the crawl
				return q, wrong("%s is missing: %s", p.Name, p.Doc)
			}
			q.uri = strings.ReplaceAll(q.uri, "{"+p.Name+"}", url.PathEscape(values[0]))
		}
		if err := q.take(p, values); err != nil {
			return q, err
		}
	}
	if len(given) > 0 {
		q.uri += "?" + given.Encode()
	}
	return q, nil
}

func (r *Route) inPath(p Param) bool { return strings.Contains(r.Path, "{"+p.Name) }

// take reads the given values of a parameter.
func (q *Query) take(p Param, values []string) error {
	if len(values) > 1 {
		return wrong("%s is given twice", p.Name)
	}
	if len(values) == 0 || values[0] == "" {
		if p.Required {
			return wrong("%s is missing: %s", p.Name, p.Doc)
		}
		q.numbers[p.Name] = p.Default
		return nil
	}
	switch p.Kind {
	case Number:
		return q.number(p, values[0])
	case Flag:
		on, err := strconv.ParseBool(values[0])
		if err != nil {
			return wrong("%s must be 1 or 0", p.Name)
		}
		q.flags[p.Name] = on
	case Text:
		if p.Most > 0 && len(values[0]) > p.Most {
			return wrong("%s is longer than %d bytes", p.Name, p.Most)
		}
		if p.Words != nil && !slices.Contains(p.Words, values[0]) {
			return wrong("%s must be one of %s", p.Name, strings.Join(p.Words, ", "))
		}
		q.texts[p.Name] = values[0]
	}
	return nil
}

func (q *Query) number(p Param, text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < p.Least || n > p.Most {
		return wrong("%s must be a number from %d to %d", p.Name, p.Least, p.Most)
	}
	q.numbers[p.Name] = n
	return nil
}
