package surveytest

import (
	"fmt"
	"reflect"
	"testing"
	"time"
)

// Fill sets every field of a struct to a value that is not zero, and to another one for another seed. What a test
// sends through a chain of copies this way comes out whole only if every copy knows every field, new ones too.
func Fill[T any](t testing.TB, v *T, seed int) {
	t.Helper()
	fill(t, reflect.ValueOf(v).Elem(), "f", seed)
}

func fill(t testing.TB, v reflect.Value, name string, seed int) {
	t.Helper()
	if at, ok := v.Addr().Interface().(*time.Time); ok {
		*at = time.Unix(1_700_000_000+int64(seed), 0).UTC()
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(t, v.Field(i), v.Type().Field(i).Name, seed+i)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(t, v.Index(0), name, seed)
	case reflect.Array:
		for i := range v.Len() {
			fill(t, v.Index(i), name, seed+i)
		}
	case reflect.String:
		v.SetString(fmt.Sprint(name, " ", seed))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		if v.Type() == reflect.TypeFor[time.Duration]() {
			v.SetInt(int64(time.Duration(seed+1) * time.Second))
		} else {
			v.SetInt(int64(seed + 1))
		}
	case reflect.Uint8, reflect.Uint16:
		v.SetUint(uint64(seed%2 + 1))
	case reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(seed + 1))
	default:
		t.Fatalf("%s has a kind that cannot be filled: %s", name, v.Kind())
	}
}
