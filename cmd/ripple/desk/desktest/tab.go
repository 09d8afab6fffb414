// Package desktest opens the desk in a browser, for tests.
package desktest

import (
	"fmt"
	"testing"

	"github.com/sumi-ripple/ripple/export/browsertest"
)

// A Tab is a browser tab that shows a desk. It belongs to one test.
type Tab struct{ *browsertest.Tab }

// Open opens a desk in a tab, at an address that contains the token. It skips the test if there is
// no browser (fails it, under RIPPLE_CI=1). Messages on the console fail the test at its end,
// except for answers that are errors, which tests cause on purpose.
func Open(t *testing.T, address string) *Tab {
	t.Helper()
	b := browsertest.Open(t)
	b.Silent("Failed to load resource")
	return look(b, address)
}

// NewTab opens a desk in another tab of the same browser.
func (b *Tab) NewTab(address string) *Tab {
	b.Helper()
	return look(b.Tab.NewTab(), address)
}

func look(b *browsertest.Tab, address string) *Tab {
	b.Helper()
	b.Go(address)
	b.Wait(`document.querySelector("#view h1, #view form.token")`)
	return &Tab{b}
}

// Ask returns the value of an expression, and waits if it is a promise.
func Ask[T any](b *Tab, expression string) T {
	b.Helper()
	return browsertest.Ask[T](b.Tab, expression)
}

// Visit goes to a view and waits until an expression holds there.
func (b *Tab) Visit(view, until string) {
	b.Helper()
	Ask[any](b, fmt.Sprintf("location.hash = %q, 1", "#/"+view))
	b.Wait(fmt.Sprintf("location.hash.startsWith(%q) && (%s)", "#/"+view, until))
}

// Shows goes to a view and waits until an element of it contains a text, whatever its line breaks.
func (b *Tab) Shows(view, selector, text string) {
	b.Helper()
	b.Visit(view, fmt.Sprintf(`document.querySelector(%q)?.innerText.replace(/\s+/g, " ").includes(%q)`,
		selector, text))
}

// In returns the same tab for a subtest.
func (b *Tab) In(t *testing.T) *Tab { return &Tab{b.Tab.In(t)} }
