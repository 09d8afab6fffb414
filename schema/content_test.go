package schema_test

import (
	"reflect"
	"testing"

	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
)

// Two contents are the same only if every field is the same.
func TestContentSame(t *testing.T) {
	var a schema.Content
	surveytest.Fill(t, &a, 1)
	none := a
	none.Facts = []schema.Fact{}
	if !a.Same(a) || !none.Same(none.Brief()) {
		t.Error("a page does not say what it says")
	}
	for i := range reflect.TypeFor[schema.Content]().NumField() {
		b := a
		reflect.ValueOf(&b).Elem().Field(i).SetZero()
		if a.Same(b) || b.Same(a) {
			t.Errorf("pages with and without %s say the same", reflect.TypeFor[schema.Content]().Field(i).Name)
		}
	}
}

// No field keeps a word of a page that asks not to be indexed.
func TestContentWithheld(t *testing.T) {
	var c schema.Content
	surveytest.Fill(t, &c, 1)
	withheld := reflect.ValueOf(c.Withheld())
	for i := range withheld.NumField() {
		name, f := withheld.Type().Field(i).Name, withheld.Field(i)
		words := f.Kind() == reflect.String || f.Kind() == reflect.Slice
		if words && name != "Charset" && name != "Preferences" && !f.IsZero() {
			t.Errorf("%s is %v", name, f)
		}
	}
}
