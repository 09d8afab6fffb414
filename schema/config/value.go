package config

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// placeholder is used in the sample where only the user knows the value.
const placeholder = "REPLACE-ME"

// A value connects a key to a field.
type value struct {
	// set stores a decoded TOML value. A refused value changes nothing; several reasons are joined
	// errors.
	set func(raw any) (notice string, err error)
	// text returns the value as TOML, or "" if the key is not written.
	text func() string
}

// bind returns the value at a pointer, with functions to read and write it.
func bind[T any](at *T, read func(any) (T, error), write func(T) string) value {
	return value{
		set: func(raw any) (string, error) {
			v, err := read(raw)
			if err == nil {
				*at = v
			}
			return "", err
		},
		text: func() string { return write(*at) },
	}
}

func number(at *int, lo, hi int64) value {
	return bind(at, func(raw any) (int, error) {
		n, err := whole(raw, "a whole number", lo, hi)
		return int(n), err
	}, func(n int) string { return fmt.Sprint(n) })
}

func millis(at *time.Duration, lo int64, hi time.Duration) value {
	return bind(at, func(raw any) (time.Duration, error) {
		n, err := whole(raw, "a whole number of milliseconds", lo, hi.Milliseconds())
		return time.Duration(n) * time.Millisecond, err
	}, func(d time.Duration) string { return fmt.Sprint(d.Milliseconds()) })
}

// given returns a value that is written only once it has been set; isGiven records that.
func given(v value, isGiven *bool) value {
	return value{
		set: func(raw any) (string, error) {
			notice, err := v.set(raw)
			*isGiven = *isGiven || err == nil
			return notice, err
		},
		text: func() string {
			if !*isGiven {
				return ""
			}
			return v.text()
		},
	}
}

func whole(raw any, what string, lo, hi int64) (int64, error) {
	n, ok := raw.(int64)
	switch {
	case !ok:
		return 0, wanted(what, raw)
	case n < lo && hi == most:
		return 0, fmt.Errorf("%d is less than %d", n, lo)
	case n < lo || n > hi:
		return 0, fmt.Errorf("%d is not between %d and %d", n, lo, hi)
	}
	return n, nil
}

func float(at *float64, lo, hi float64) value {
	return bind(at, func(raw any) (float64, error) {
		x, ok := raw.(float64)
		if n, isInt := raw.(int64); isInt {
			x, ok = float64(n), true
		}
		if !ok {
			return 0, wanted("a number", raw)
		}
		if math.IsNaN(x) || x < lo || x > hi {
			return 0, fmt.Errorf("%v is not between %v and %v", x, lo, hi)
		}
		return x + 0, nil // +0: no negative zero
	}, tomlFloat)
}

func boolean(at *bool) value {
	return bind(at, func(raw any) (bool, error) {
		b, ok := raw.(bool)
		if !ok {
			return false, wanted("true or false", raw)
		}
		return b, nil
	}, func(b bool) string { return fmt.Sprint(b) })
}

func duration(at *time.Duration, lo time.Duration) value { return between(at, lo, longest) }

// between is a duration with two limits.
func between(at *time.Duration, lo, hi time.Duration) value {
	return bind(at, func(raw any) (time.Duration, error) {
		s, err := text(raw)
		if err != nil {
			return 0, fmt.Errorf("%w; a duration is written as \"30s\", \"10m\" or \"24h\"", err)
		}
		d, err := time.ParseDuration(s)
		switch {
		case err != nil:
			return 0, fmt.Errorf("%s is not a duration like \"30s\", \"10m\" or \"24h\"", quote(s))
		case d < lo || d > hi:
			return 0, fmt.Errorf("%s is not between %s and %s", quote(s), tomlDuration(lo), tomlDuration(hi))
		}
		return d, nil
	}, tomlDuration)
}

func size(at *int64, lo, hi int64) value {
	return bind(at, func(raw any) (int64, error) { return bytesOf(raw, lo, hi) }, tomlSize)
}

func bytesOf(raw any, lo, hi int64) (int64, error) {
	n, ok := raw.(int64)
	if !ok {
		s, err := text(raw)
		if err != nil {
			return 0, fmt.Errorf("%w; a size is written as \"10MB\" or \"16MiB\"", err)
		}
		if n, err = parseSize(s); err != nil {
			return 0, err
		}
	}
	if n < lo || n > hi {
		return 0, fmt.Errorf("%d bytes are not between %s and %s", n, tomlSize(lo), tomlSize(hi))
	}
	return n, nil
}

func enum[T ~string](at *T, allowed ...T) value {
	return bind(at, func(raw any) (T, error) {
		s, err := text(raw)
		if err != nil {
			return "", err
		}
		var names []string
		for _, a := range allowed {
			if T(s) == a {
				return a, nil
			}
			names = append(names, quote(string(a)))
		}
		return "", fmt.Errorf("%s is not one of %s", quote(s), strings.Join(names, ", "))
	}, func(v T) string { return tomlString(string(v)) })
}

// str is a string that must pass a check.
func str(at *string, check func(string) error) value {
	return bind(at, func(raw any) (string, error) {
		s, err := text(raw)
		if err == nil {
			err = check(s)
		}
		return s, err
	}, tomlString)
}

// optional is a string that is either absent or passes a check.
func optional(at *string, check func(string) error) value {
	v := str(at, check)
	v.text = func() string {
		if *at == "" {
			return ""
		}
		return tomlString(*at)
	}
	return v
}

// list is an array whose elements are read one by one, so that every wrong one is reported.
func list[T any](at *[]T, one func(any) (T, error), write func(T) string) value {
	return bind(at, func(raw any) ([]T, error) {
		elements, ok := raw.([]any)
		if !ok {
			return nil, wanted("an array in [ ]", raw)
		}
		return readAll(elements, one)
	}, func(all []T) string {
		var b strings.Builder
		b.WriteByte('[')
		for i, v := range all {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(write(v))
		}
		b.WriteByte(']')
		return b.String()
	})
}

func readAll[T any](elements []any, one func(any) (T, error)) ([]T, error) {
	var errs []error
	all := make([]T, 0, len(elements))
	for _, e := range elements {
		v, err := one(e)
		if err != nil {
			if errs = append(errs, err); len(errs) > maxProblems {
				break
			}
		}
		all = append(all, v)
	}
	return all, errors.Join(errs...)
}

func nonEmptyList[T any](at *[]T, one func(any) (T, error), write func(T) string) value {
	v := list(at, one, write)
	set := v.set
	v.set = func(raw any) (string, error) {
		if elements, ok := raw.([]any); ok && len(elements) == 0 {
			return "", errEmpty
		}
		return set(raw)
	}
	return v
}

// text requires a string that can be displayed, without control characters.
func text(raw any) (string, error) {
	s, ok := raw.(string)
	switch {
	case !ok:
		return "", wanted("a string in quotes", raw)
	case strings.Contains(s, placeholder):
		return "", fmt.Errorf("%s is still the placeholder: put your own value in its place", quote(s))
	case !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl):
		return "", fmt.Errorf("%s contains a control character", quote(s))
	}
	return s, nil
}

func wanted(what string, raw any) error {
	return fmt.Errorf("want %s, not %s", what, kind(raw))
}

func kind(raw any) string {
	switch raw.(type) {
	case string:
		return "a string"
	case int64:
		return "a whole number"
	case float64:
		return "a number with a point"
	case bool:
		return "true or false"
	case time.Time:
		return "a date"
	case []any, []map[string]any:
		return "an array"
	}
	return "a table"
}
