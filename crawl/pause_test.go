package crawl

import "testing"

// A walk that a reload begins while a crawl is being paused or resumed begins in the requested
// state.
func TestPauseBesideReload(t *testing.T) {
	c := &Crawl{control: make(chan command), done: make(chan struct{})}
	for _, tt := range []struct {
		tell func() error
		want bool
	}{{c.Pause, true}, {c.Unpause, false}} {
		told := make(chan error, 1)
		go func() { told <- tt.tell() }()
		cmd := <-c.control // by the walk that is about to be replaced
		if got := c.paused.Load(); got != tt.want {
			t.Errorf("the next walk begins paused: %t, want %t", got, tt.want)
		}
		cmd.reply <- Status{}
		if err := <-told; err != nil {
			t.Fatal(err)
		}
	}
}
