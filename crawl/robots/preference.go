package robots

import (
	"cmp"
	"slices"
	"strings"
	"unsafe"
)

// A Statement is a line that says what pages may be used for: a Content-Usage (draft-ietf-aipref-attach), a
// Content-Signal (contentsignals.org), or a License (RSL), which is for all crawlers. It permits or forbids no
// request.
type Statement struct {
	Field string // as above
	Path  string // that it is about, as written; empty: every path
	Value string // as written, without its comment
	Line  int    // counted from 1
}

// A statement is a line as the rules keep it: it holds offsets into [Rules].said.
type statement struct {
	rule    // of the path; its line is the path
	field   uint8
	valueAt uint32
	valueTo uint32
}

// The numbers of License lines of a file, and of other statements of a group, that are read.
const (
	maxLicenses   = 10
	maxStatements = 100
)

// fieldLicense is the position of License in statementFields, after those that belong to groups.
const fieldLicense = 2

func statementFields() [3]string { return [...]string{"Content-Usage", "Content-Signal", "License"} }

// statementField returns the field of a statement, and whether key names one.
func statementField(key string) (field uint8, ok bool) {
	for i, name := range statementFields() {
		if strings.EqualFold(key, name) {
			return uint8(i), true
		}
	}
	return 0, false
}

// A saidLine is a line of a statement in the file.
type saidLine struct {
	field       uint8
	path, value string
	no          int32
}

// statement adds a line. It is no rule, so the list of agents before it may continue as far as rules are concerned;
// for statements it ends there.
func (p *parser) statement(field uint8, value string) {
	l := saidLine{field: field, value: value, no: p.lineNo}
	if field == fieldLicense {
		if value != "" && len(value) <= maxSitemapLength && len(p.licenses) < maxLicenses {
			p.licenses = append(p.licenses, l)
		}
		return
	}
	p.stated = true
	if value != "" && (value[0] == '/' || value[0] == '*') {
		if end := strings.IndexAny(value, " \t"); end >= 0 {
			l.path, l.value = value[:end], trim(value[end:])
		} else {
			l.path, l.value = value, ""
		}
	}
	for _, g := range []*group{&p.own, &p.all} {
		if g.stating && l.value != "" && len(g.said) < maxStatements {
			g.said = append(g.said, l)
		}
	}
}

// state copies the lines that apply. A line without a path is about the path "/".
func (r *Rules) state(lines []saidLine) {
	var text, scratch []byte
	for _, l := range lines {
		s := statement{field: l.field}
		s.lineNo = l.no
		scratch = s.normalize(scratch[:0], cmp.Or(l.path, "/"))
		s.lineAt = uint32(len(text))
		text = append(text, l.path...)
		s.lineEnd = uint32(len(text))
		if s.patternAt, s.patternEnd = s.lineAt, s.lineEnd; string(scratch) != l.path {
			s.patternAt = s.lineEnd
			text = append(text, scratch...)
			s.patternEnd = uint32(len(text))
		}
		s.valueAt = uint32(len(text))
		text = append(text, l.value...)
		s.valueTo = uint32(len(text))
		r.statements = append(r.statements, s)
		if s.wild {
			r.wildStatements++
		}
	}
	r.statements, r.said = slices.Clip(r.statements), string(text)
}

func (r *Rules) statement(s *statement) Statement {
	return Statement{
		Field: statementFields()[s.field], Path: r.said[s.lineAt:s.lineEnd], Value: r.said[s.valueAt:s.valueTo],
		Line: int(s.lineNo),
	}
}

// Statements returns the statements of the group and the licences, in the order of the file.
func (r *Rules) Statements() (all []Statement) {
	for i := range r.statements {
		all = append(all, r.statement(&r.statements[i]))
	}
	slices.SortStableFunc(all, func(a, b Statement) int { return cmp.Compare(a.Line, b.Line) })
	return all
}

// Applying returns the statements about a path and query: of each field those with the longest path that matches,
// as among rules, and the licences. Statements whose paths are equally long all apply.
func (r *Rules) Applying(pathQuery string) (applying []Statement) {
	if len(r.statements) == 0 {
		return nil
	}
	t := newTarget(pathQuery)
	if r.wildStatements > gramsFrom {
		t.index()
	}
	var longest [fieldLicense + 1]int32
	var matching []*statement
	for i := range r.statements {
		s := &r.statements[i]
		if t.matches(r.said[s.patternAt:s.patternEnd], &s.rule) {
			matching = append(matching, s)
			longest[s.field] = max(longest[s.field], s.length)
		}
	}
	for _, s := range matching {
		if s.length == longest[s.field] {
			applying = append(applying, r.statement(s))
		}
	}
	return applying
}

// statementsSize returns the approximate memory of the statements in bytes.
func (r *Rules) statementsSize() int {
	return len(r.said) + len(r.statements)*int(unsafe.Sizeof(statement{}))
}
