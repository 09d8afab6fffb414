// Package desktest looks at the desk with a browser, for tests.
package desktest

import (
	"fmt"
	"testing"

	"github.com/sumi-ripple/ripple/export/browsertest"
)

// A Tab is a tab of a browser that looks at a desk. It belongs to one test.
type Tab struct{ *browsertest.Tab }

// Open opens a tab with a desk in view, at an address that holds the token, or skips
// the test where there is none (fails, under RIPPLE_CI=1). What the console says by the
// end of the test fails it, but for answers that are errors, which are the test's doing.
func Open(t *testing.T, address string) *Tab {
	t.Helper()
	b := browsertest.Open(t)
	b.Silent("Failed to load resource")
	return look(b, address)
}

// Beside looks at a desk in another tab of the same browser.
func (b *Tab) Beside(address string) *Tab {
	b.Helper()
	return look(b.Tab.Beside(), address)
}

func look(b *browsertest.Tab, address string) *Tab {
	b.Helper()
	b.Go(address)
	b.Wait(`document.querySelector("#view h1, #view form.token")`)
	return &Tab{b}
}

// Ask returns the value of an expression; a promise is waited for.
func Ask[T any](b *Tab, expression string) T {
	b.Helper()
	return browsertest.Ask[T](b.Tab, expression)
}

// Visit goes to a view and waits until it shows what an expression asks for.
func (b *Tab) Visit(view, until string) {
	b.Helper()
	Ask[any](b, fmt.Sprintf("location.hash = %q, 1", "#/"+view))
	b.Wait(fmt.Sprintf("location.hash.startsWith(%q) && (%s)", "#/"+view, until))
}

// Shows goes to a view and waits until an element of it says a text, however its lines are broken.
func (b *Tab) Shows(view, selector, text string) {
	b.Helper()
	b.Visit(view, fmt.Sprintf(`document.querySelector(%q)?.innerText.replace(/\s+/g, " ").includes(%q)`,
		selector, text))
}

// In is the same tab for a part of the test.
func (b *Tab) In(t *testing.T) *Tab { return &Tab{b.Tab.In(t)} }
