package fetch

import (
	"net/http"
	"testing"
	"time"
)

// A page stays fresh for as long as its server says, less its age on arrival.
func TestFresh(t *testing.T) {
	for _, tt := range []struct {
		cache []string
		age   string
		want  time.Duration
	}{
		{[]string{"max-age=3600"}, "", time.Hour},
		{[]string{"public, Max-Age = 3600"}, "600", 50 * time.Minute},
		{[]string{`max-age="3600"`}, "", time.Hour},
		{[]string{"max-age=600"}, "3600", 0},
		{[]string{"max-age=3600", "max-age=60"}, "", time.Minute},
		{[]string{"max-age=31536000"}, "", 7 * 24 * time.Hour},
		{[]string{"max-age=99999999999999999999"}, "", 7 * 24 * time.Hour},
		{[]string{"max-age=3600"}, "99999999999999999999", 0},
		{[]string{"max-age=3600, no-cache"}, "", 0},
		{[]string{"max-age=3600", "no-store"}, "", 0},
		{[]string{`private="max-age=5, no-store", max-age=3600`}, "", time.Hour},
		{[]string{"max-age=-1"}, "", 0}, {[]string{"max-age"}, "", 0}, {[]string{"s-maxage=60"}, "", 0}, {nil, "", 0},
	} {
		r := &Response{Header: http.Header{"Cache-Control": tt.cache, "Age": {tt.age}}}
		if got := r.Fresh(); got != tt.want {
			t.Errorf("%q, age %q: %v, want %v", tt.cache, tt.age, got, tt.want)
		}
	}
}
