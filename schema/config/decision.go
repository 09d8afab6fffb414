package config

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/scope"
)

// A Decision is one [[decision]] entry of the file in [decisions]: a person's decision on a host. It
// overrides the lists of names; url patterns override it.
type Decision struct {
	Host  scope.Pattern // one host
	Class DecidedClass
	Seeds []string // for quality; empty: https://HOST/
	Tags  []string
	Note  string
}

// DecidedClass is the class chosen for a host.
type DecidedClass string

// The values of class. "later" does not change the class; the host is just not suggested for now.
const (
	DecidedQuality   DecidedClass = "quality"
	DecidedBlacklist DecidedClass = "blacklist"
	DecidedStub      DecidedClass = "stub"
	DecidedLater     DecidedClass = "later"
)

// DecidedNone, in a [DecisionEdit], removes the entry of a host.
const DecidedNone DecidedClass = "none"

// DecidedClasses returns the values of class.
func DecidedClasses() []DecidedClass {
	return []DecidedClass{DecidedQuality, DecidedBlacklist, DecidedStub, DecidedLater}
}

// class returns the class that a decision gives, or false if it gives none.
func (c DecidedClass) class() (schema.Class, bool) {
	switch c {
	case DecidedQuality:
		return schema.ClassQuality, true
	case DecidedBlacklist:
		return schema.ClassBlacklisted, true
	case DecidedStub:
		return schema.ClassStub, true
	}
	return schema.ClassDiscovered, false
}

// Limits on the notes of a host; maxTag and maxNote in bytes.
const (
	mostTags = 32
	maxTag   = 64
	maxNote  = 1000
)

// decisionKeys declares the keys of an entry.
func decisionKeys(d *Decision) []key { return keysOfDecision(d, DecidedClasses()) }

// editKeys declares the keys of an edit.
func editKeys(d *Decision) []key { return keysOfDecision(d, append(DecidedClasses(), DecidedNone)) }

func keysOfDecision(d *Decision, classes []DecidedClass) []key {
	return []key{
		{name: "host", required: true, value: patternBy(ParseDecidedHost, &d.Host)},
		{name: "class", required: true, value: enum(&d.Class, classes...)},
		{name: "seeds", value: list(&d.Seeds, text, tomlString)},
		{name: "tags", value: list(&d.Tags, tag, tomlString)},
		{name: "note", value: str(&d.Note, checkNote)},
	}
}

// decidedKeys declares the keys of an entry that are part of the effective configuration.
func decidedKeys(d *Decision) []key { return decisionKeys(d)[:2] }

// ParseDecidedHost parses the host of a decision into canonical form. The notice is that of
// [scope.ParsePattern].
func ParseDecidedHost(s string) (host scope.Pattern, notice string, err error) {
	if strings.Contains(s, "*") {
		return host, "", fmt.Errorf("%s is a pattern: a decision is on one host, and patterns belong in the configuration",
			quote(s))
	}
	return scope.ParsePattern(s)
}

func tag(raw any) (string, error) {
	s, err := text(raw)
	if err == nil && (s == "" || len(s) > maxTag || strings.TrimSpace(s) != s || strings.Contains(s, ",")) {
		err = fmt.Errorf("%s is not a tag: 1 to %d bytes without a comma, and no space around it", quote(s), maxTag)
	}
	return s, err
}

func checkNote(s string) error {
	if len(s) > maxNote {
		return fmt.Errorf("is longer than %d bytes", maxNote)
	}
	return nil
}

// TOML returns the entry as Ripple writes it.
func (d *Decision) TOML() string {
	return entryOf(decisionKeys(d), func(_, text string) bool { return text != "[]" && text != `""` })
}

// entryOf returns an entry with its required keys and the wanted others.
func entryOf(keys []key, wanted func(name, text string) bool) string {
	var b strings.Builder
	b.WriteString("[[decision]]\n")
	for _, k := range keys {
		if text := k.text(); k.required || wanted(k.name, text) {
			b.WriteString(k.name + " = " + text + "\n")
		}
	}
	return b.String()
}

// A DecisionEdit is a change of a host's entry. Keys that are not given keep their values.
type DecisionEdit struct {
	Decision
	Given map[string]bool // names of the keys given
}

// Apply returns the entry that the edit makes of the one before, which is nil if there is none; nil removes it.
func (e *DecisionEdit) Apply(before *Decision) *Decision {
	if e.Class == DecidedNone {
		return nil
	}
	d := Decision{}
	if before != nil {
		d = *before
	}
	d.Host, d.Class = e.Host, e.Class
	if e.Given["seeds"] {
		d.Seeds = e.Seeds
	}
	if d.Class != DecidedQuality {
		d.Seeds = nil
	}
	if e.Given["tags"] {
		d.Tags = e.Tags
	}
	if e.Given["note"] {
		d.Note = e.Note
	}
	return &d
}

// TOML returns the edit as [ParseDecisionEdits] reads it.
func (e *DecisionEdit) TOML() string {
	return entryOf(editKeys(&e.Decision), func(name, _ string) bool { return e.Given[name] })
}

// ParseDecisionEdits parses edits, which are written like the entries of a decisions file; class may also be "none".
// Its errors are [*Errors] with name as the path.
func ParseDecisionEdits(name string, text []byte) ([]DecisionEdit, error) {
	r := &reader{errs: &Errors{Path: name}}
	edits := r.decisions(text, editKeys)
	return edits, r.errs.orNil()
}

// Check returns every violated rule of the decision, as [*Errors].
func (d *Decision) Check() error {
	_, err := ParseDecisions("decision", []byte(d.TOML()))
	return err
}

// ParseDecisions parses a decisions file. Its errors are [*Errors] with name as the path.
func ParseDecisions(name string, text []byte) ([]Decision, error) {
	r := &reader{errs: &Errors{Path: name}}
	all := r.entered(text)
	return all, r.errs.orNil()
}

func (r *reader) entered(text []byte) []Decision {
	edits := r.decisions(text, decisionKeys)
	all := make([]Decision, len(edits))
	for i := range edits {
		all[i] = edits[i].Decision
	}
	return all
}

// decisions reads all entries, and which keys they have.
func (r *reader) decisions(text []byte, keys func(*Decision) []key) []DecisionEdit {
	if len(text) > maxFile {
		r.errs.add(Problem{Text: tooLarge(maxFile)})
		return nil
	}
	text = []byte(strings.TrimPrefix(string(text), "\ufeff"))
	outline, problem := scan(text, false)
	if problem != nil {
		r.errs.add(*problem)
		return nil
	}
	r.outline, r.declared = outline, []table{{"decision", "", true, keys(&Decision{})}}
	root := map[string]any{}
	if _, err := toml.Decode(string(text), &root); err != nil {
		r.errs.add(syntaxProblem(err))
		return nil
	}
	given, _ := tablesOf(root["decision"])
	all := entries(r, root, "decision", func(e *DecisionEdit) []key { return keys(&e.Decision) })
	r.unknownTables(root)
	first := map[scope.Pattern]int{}
	for i := range all {
		d, at := &all[i], entryPath("decision", i)
		d.Given = map[string]bool{}
		for name := range given[i] {
			d.Given[name] = true
		}
		if j, twice := first[d.Host]; twice && !d.Host.IsZero() {
			r.problem(at, fmt.Sprintf("[[decision]] host: %s is decided already, at line %d", quote(d.Host.String()),
				r.outline.at(entryPath("decision", j))))
		}
		first[d.Host] = i
		if len(d.Seeds) > 0 && d.Class != DecidedQuality {
			r.problem(at+".seeds", fmt.Sprintf("[[decision]] seeds: only quality has seeds, not %s", d.Class))
		}
		if len(d.Tags) > mostTags {
			r.problem(at+".tags", fmt.Sprintf("[[decision]] tags: there are more than %d", mostTags))
		}
	}
	return all
}

// readDecisions reads the decisions file and applies it. A missing file decides nothing.
func (r *reader) readDecisions(c *Config, read func(string) ([]byte, error)) {
	if c.Decisions.File == "" {
		return
	}
	text, err := read(c.Decisions.File)
	switch {
	case isMissing(err):
		return
	case err != nil:
		r.problem("decisions.file", fmt.Sprintf("[decisions] file: %s %s", quote(c.Decisions.File), fileReason(err)))
		return
	}
	all, err := ParseDecisions(c.Decisions.File, text)
	var wrong *Errors
	if errors.As(err, &wrong) {
		for _, p := range wrong.List {
			at := clean(c.Decisions.File)
			if p.Line > 0 {
				at += ":" + strconv.Itoa(p.Line)
			}
			r.problem("decisions.file", fmt.Sprintf("[decisions] file: %s: %s", at, p.Text))
		}
		return
	}
	c.decide(r, all)
}

// decide applies decisions in the order of their hosts: each host becomes an origin or changes its
// class.
func (c *Config) decide(r *reader, all []Decision) {
	slices.SortFunc(all, func(a, b Decision) int { return strings.Compare(a.Host.String(), b.Host.String()) })
	c.notes = schema.HostNotes{}
	origins := map[scope.Pattern]bool{}
	for i := range c.Quality {
		origins[c.Quality[i].Pattern] = true
	}
	for _, d := range all {
		name := d.Host.String()
		tags := slices.Compact(slices.Sorted(slices.Values(d.Tags)))
		if d.Class == DecidedLater || d.Note != "" || len(tags) > 0 {
			c.notes[name] = schema.HostNote{Tags: tags, Note: d.Note, Later: d.Class == DecidedLater}
		}
		if _, decides := d.Class.class(); !decides {
			continue
		}
		if d.Class == DecidedQuality {
			q := Quality{Name: name, Pattern: d.Host, Seeds: d.Seeds}
			if len(q.Seeds) == 0 {
				q.Seeds = []string{"https://" + name + "/"}
			}
			if origins[d.Host] {
				r.problem("decisions.file",
					fmt.Sprintf("[decisions] file: %s is the domain of a [[quality]] entry already", quote(name)))
				continue
			}
			c.Quality, origins[d.Host] = append(c.Quality, q), true
		}
		c.decided = append(c.decided, d)
	}
}

// decidedClasses returns the decided classes by host.
func (c *Config) decidedClasses() map[scope.Pattern]schema.Class {
	if len(c.decided) == 0 {
		return nil
	}
	classes := make(map[scope.Pattern]schema.Class, len(c.decided))
	for i := range c.decided {
		classes[c.decided[i].Host], _ = c.decided[i].Class.class()
	}
	return classes
}

// Decided returns the number of hosts with a decided class.
func (c *Config) Decided() int { return len(c.decided) }

// Notes returns the notes in the decisions file. They are not part of the effective configuration.
func (c *Config) Notes() schema.HostNotes { return c.notes }
