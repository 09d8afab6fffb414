package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/BurntSushi/toml"

	"github.com/sumi-ripple/ripple/schema/sanitize"
)

// A reader parses a text into a Config and collects its problems.
type reader struct {
	stored   bool // the text is an effective configuration
	errs     *Errors
	notices  []Notice
	outline  *outline
	declared []table
}

// decode parses the text. It returns nil if the text is not TOML.
func (r *reader) decode(text []byte) *Config {
	outline, problem := scan(text, r.stored)
	if problem != nil {
		r.errs.add(*problem)
		return nil
	}
	r.outline, r.declared = outline, declared()
	root := map[string]any{}
	if _, err := toml.Decode(string(text), &root); err != nil {
		r.errs.add(syntaxProblem(err))
		return nil
	}
	c := newConfig()
	r.fixedTables(root, c) // removes them from root
	c.Quality = entries(r, root, "quality", qualityKeys)
	c.Blacklist = entries(r, root, "blacklist", listKeys)
	c.Stub = entries(r, root, "stub", listKeys)
	c.PageTypes = entries(r, root, "page-type", pageTypeKeys)
	c.Entities = entries(r, root, "entity", entityKeys)
	c.Extracts = entries(r, root, "extract", extractKeys)
	if r.stored {
		c.decided = entries(r, root, "decision", decidedKeys)
	}
	r.unknownTables(root)
	return c
}

// unknownTables reports the tables and keys left in root.
func (r *reader) unknownTables(root map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(root)) {
		_, isTable := root[name].(map[string]any)
		_, isArray := root[name].([]map[string]any)
		r.problem(name, unknownTable(name, isTable || isArray, r.declared))
	}
}

func syntaxProblem(err error) Problem {
	var syntax toml.ParseError
	if !errors.As(err, &syntax) {
		return Problem{Text: err.Error()}
	}
	text := syntax.Message
	if text == "" {
		text = err.Error()
	}
	return Problem{Line: syntax.Position.Line, Text: "no TOML: " + clip(text)}
}

// clip makes a library's message, which may quote the file, short and printable.
func clip(message string) string {
	const most = 300
	short := sanitize.Line(message, most)
	if len(message) > most {
		short += "..."
	}
	return short
}

// problem adds a violated rule at a path.
func (r *reader) problem(path, text string) {
	p := Problem{Key: path, Text: text}
	if r.outline != nil {
		p.Line = r.outline.at(path)
	}
	r.errs.add(p)
}

func (r *reader) notice(path, text string) {
	if r.stored {
		return
	}
	where := r.errs.Path
	if line := r.outline.at(path); line > 0 {
		where += ":" + strconv.Itoa(line)
	}
	r.notices = append(r.notices, Notice(where+": "+text))
}

// fixedTables reads the tables that occur once and removes them from root.
func (r *reader) fixedTables(root map[string]any, c *Config) {
	for _, t := range c.tables() {
		raw, ok := root[t.name]
		delete(root, t.name)
		fields, isTable := raw.(map[string]any)
		if ok && !isTable {
			r.problem(t.name, fmt.Sprintf("%s: want one table, not %s", t.header(), kind(raw)))
			continue
		}
		r.table(t, t.name, fields)
	}
}

// entries reads an array of tables and removes it from root.
func entries[T any](r *reader, root map[string]any, name string, keys func(*T) []key) []T {
	raw, ok := root[name]
	delete(root, name)
	if !ok {
		return nil
	}
	elements, ok := tablesOf(raw)
	if !ok {
		r.problem(name, fmt.Sprintf("%s: want tables under [[%s]], not %s", name, name, kind(raw)))
		return nil
	}
	all := make([]T, len(elements))
	for i, fields := range elements {
		r.table(table{name, "", true, keys(&all[i])}, entryPath(name, i), fields)
	}
	return all
}

func entryPath(name string, i int) string { return fmt.Sprintf("%s[%d]", name, i) }

// tablesOf accepts [[name]] and name = [{...}].
func tablesOf(raw any) ([]map[string]any, bool) {
	switch raw := raw.(type) {
	case []map[string]any:
		return raw, true
	case []any:
		all := make([]map[string]any, len(raw))
		for i, e := range raw {
			t, ok := e.(map[string]any)
			if !ok {
				return nil, false
			}
			all[i] = t
		}
		return all, true
	}
	return nil, false
}

// table sets the keys of one table.
func (r *reader) table(t table, path string, fields map[string]any) {
	for _, k := range t.keys {
		raw, ok := fields[k.name]
		at := path + "." + k.name
		switch {
		case !ok && k.required:
			r.problem(at, fmt.Sprintf("%s %s is missing", t.header(), k.name))
		case ok && k.stored && !r.stored:
			r.problem(at, unknownKey(k.name, t, r.declared))
		case ok:
			r.set(t, k, at, raw)
		}
	}
	if len(fields) == 0 {
		return
	}
	known := make(map[string]bool, len(t.keys))
	for _, k := range t.keys {
		known[k.name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if !known[name] {
			r.problem(path+"."+name, unknownKey(name, t, r.declared))
		}
	}
}

func (r *reader) set(t table, k key, at string, raw any) {
	notice, err := k.set(raw)
	if notice != "" {
		r.notice(at, notice)
	}
	if err == nil {
		return
	}
	reasons := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		reasons = joined.Unwrap()
	}
	for _, reason := range reasons {
		r.problem(at, fmt.Sprintf("%s %s: %v", t.header(), k.name, reason))
	}
}
