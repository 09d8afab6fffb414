package summary

import "slices"

// A top keeps the first items, in an order, of all items added.
type top[T any] struct {
	limit int
	order func(a, b T) int
	total int
	items []T // not sorted until best
}

func newTop[T any](limit int, order func(a, b T) int) top[T] {
	return top[T]{limit: limit, order: order}
}

// add offers an item.
func (t *top[T]) add(item T) {
	t.total++
	t.items = append(t.items, item)
	if len(t.items) >= 4*t.limit {
		t.best()
	}
}

// best returns the kept items in order.
func (t *top[T]) best() []T {
	slices.SortFunc(t.items, t.order)
	t.items = t.items[:min(len(t.items), t.limit)]
	return t.items
}
