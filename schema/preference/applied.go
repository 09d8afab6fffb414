package preference

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/dunglas/httpsfv"
)

// Applied returns what the statements of a text say together, in canonical form: the fields in their order with
// "; " between them, keys in alphabetical order with ", " between them, and addresses of licences with spaces
// between them. It is empty if they say nothing. A key whose value the vocabulary does not know is kept as written.
func Applied(text string) string {
	var fields []string
	said := words(text)
	for f := range License {
		var words []string
		for _, key := range slices.Sorted(maps.Keys(said[f])) {
			words = append(words, said[f][key])
		}
		if len(words) > 0 {
			fields = append(fields, f.String()+": "+strings.Join(words, ", "))
		}
	}
	var licenses []string
	for _, s := range Parse(text) {
		if s.Field == License && !slices.Contains(licenses, s.Value) {
			licenses = append(licenses, s.Value)
		}
	}
	if len(licenses) > 0 {
		fields = append(fields, License.String()+": "+strings.Join(licenses, " "))
	}
	return strings.Join(fields, "; ")
}

// A Stance is what an owner says about training models on pages, for which both vocabularies have a word.
type Stance uint8

// The stances.
const (
	Silent    Stance = iota // no preference at all
	Otherwise               // other preferences
	Permitted
	Refused
)

// StanceOf returns the stance of a text.
func StanceOf(text string) Stance {
	if text == "" {
		return Silent
	}
	said := words(text)
	switch usage, signal := said[ContentUsage]["train-ai"], said[ContentSignal]["ai-train"]; {
	case usage == "train-ai=n" || signal == "ai-train=no":
		return Refused
	case usage == "train-ai=y" || signal == "ai-train=yes":
		return Permitted
	}
	return Otherwise
}

func (s Stance) String() string {
	return [...]string{"no preference", "other preferences", "permitted", "refused"}[s]
}

// Fleeting reports whether a page must not be stored: its owner permits immediate use only.
func Fleeting(text string) bool {
	return text != "" && words(text)[ContentSignal]["use"] == "use=immediate"
}

// words returns the combined keys of the fields that have keys, each with its value.
func words(text string) (said [License]map[string]string) {
	for f := range said {
		said[f] = map[string]string{}
	}
	for _, s := range Parse(text) {
		switch s.Field {
		case ContentUsage:
			merge(said[s.Field], usage(s.Value), strictUsage)
		case ContentSignal:
			merge(said[s.Field], signals(s.Value), strictSignal)
		}
	}
	return said
}

// merge adds the keys of another statement. If both have a key, the stricter value counts, and of values that the
// vocabulary does not know the first in byte order.
func merge(said, other map[string]string, strict func(word string) int) {
	for key, word := range other {
		before, again := said[key]
		if !again || cmp.Or(cmp.Compare(strict(word), strict(before)), cmp.Compare(before, word)) > 0 {
			said[key] = word
		}
	}
}

// strictUsage orders values of Content-Usage: a refusal counts more than a permission, and that more than a value
// that says nothing (draft-ietf-aipref-vocab, "Combining Preferences").
func strictUsage(word string) int {
	_, value, _ := strings.Cut(word, "=")
	return slices.Index([]string{"y", "n"}, value)
}

// strictSignal orders values of Content-Signal.
func strictSignal(word string) int {
	return slices.Index([]string{"yes", "full", "reference", "no", "immediate"}, word[strings.IndexByte(word, '=')+1:])
}

// usage parses a Content-Usage: a dictionary (RFC 9651 section 3.2). One that is malformed says nothing. Parameters
// of y and n are ignored, as the vocabulary demands.
func usage(value string) map[string]string {
	dict, err := httpsfv.UnmarshalDictionary([]string{value})
	if err != nil {
		return nil
	}
	said := map[string]string{}
	for _, key := range dict.Names() {
		member, _ := dict.Get(key)
		if item, ok := member.(httpsfv.Item); ok {
			if token, ok := item.Value.(httpsfv.Token); ok && (token == "y" || token == "n") {
				said[key] = key + "=" + string(token)
				continue
			}
		}
		one := httpsfv.NewDictionary()
		one.Add(key, member)
		if text, err := httpsfv.Marshal(one); err == nil {
			said[key] = text
		}
	}
	return said
}

// signals parses a Content-Signal: pairs with commas between them, in any case. Of equal keys the strictest counts.
func signals(value string) map[string]string {
	said := map[string]string{}
	for pair := range strings.SplitSeq(value, ",") {
		key, value, _ := strings.Cut(pair, "=")
		key = strings.ToLower(strings.TrimSpace(key))
		if key == "" {
			continue
		}
		value = strings.TrimSpace(value)
		if lower := strings.ToLower(value); strictSignal("="+lower) >= 0 {
			value = lower
		}
		merge(said, map[string]string{key: key + "=" + value}, strictSignal)
	}
	return said
}
