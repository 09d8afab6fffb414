package answer

import (
	"strings"

	"github.com/sumi-ripple/ripple/cmd/ripple/term"
)

// MaxStatement is the maximum length of a statement in bytes.
const MaxStatement = 1 << 20

// ReadsOnly returns an error unless text is one statement that only reads. The database could not
// be changed anyway; this check comes before the database is built, and it rejects statements that
// open other files.
func ReadsOnly(text string) error {
	if len(text) > MaxStatement || strings.ContainsRune(text, 0) {
		return term.Usage("the statement must be text of at most 1 MiB")
	}
	statements := 0
	first := ""
	for _, s := range splitSQL(text) {
		if word := firstWord(s); word != "" {
			statements++
			first = word
		}
	}
	switch {
	case statements != 1:
		return term.Usage("it must be one statement, not %d", statements)
	case first != "SELECT" && first != "WITH" && first != "VALUES" && first != "EXPLAIN":
		return term.Usage("the statement must begin with SELECT, WITH, VALUES or EXPLAIN; nothing can be changed here")
	}
	return nil
}

// splitSQL splits a text into statements. It drops comments and keeps literals unchanged
// (https://www.sqlite.org/lang.html).
func splitSQL(text string) []string {
	var all []string
	var b strings.Builder
	for i := 0; i < len(text); {
		n := 1
		switch {
		case strings.HasPrefix(text[i:], "--"):
			n = upTo(text[i:], "\n", 2)
			b.WriteByte(' ')
		case strings.HasPrefix(text[i:], "/*"):
			n = upTo(text[i:], "*/", 2)
			b.WriteByte(' ')
		case strings.IndexByte("'\"`[", text[i]) >= 0:
			end := text[i : i+1]
			if end == "[" {
				end = "]"
			}
			n = upTo(text[i:], end, 1)
			b.WriteString(text[i : i+n])
		case text[i] == ';':
			all = append(all, b.String())
			b.Reset()
		default:
			b.WriteByte(text[i])
		}
		i += n
	}
	return append(all, b.String())
}

// upTo returns the length of s through the first occurrence of end at or after from. It returns
// len(s) if there is none.
func upTo(s, end string, from int) int {
	if i := strings.Index(s[from:], end); i >= 0 {
		return from + i + len(end)
	}
	return len(s)
}

// firstWord returns the first word of a statement in upper case. Other text is returned unchanged.
func firstWord(s string) string {
	s = strings.TrimLeft(s, " \t\n\f\r(")
	end := strings.IndexFunc(s, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || r == '_')
	})
	if end < 0 {
		end = len(s)
	}
	if end == 0 && s != "" {
		return s[:1]
	}
	return strings.ToUpper(s[:end])
}
