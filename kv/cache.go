package kv

// A cache keeps what was used last, about twice its limit at most. It has two
// generations: what is used moves to the young one, and when that is full it
// takes the place of the old.
type cache[K comparable, V any] struct {
	limit      int
	cost       int
	young, old map[K]V
}

func newCache[K comparable, V any](limit int) *cache[K, V] {
	return &cache[K, V]{limit: limit, young: make(map[K]V)}
}

func (c *cache[K, V]) get(key K) (V, bool) {
	if v, ok := c.young[key]; ok {
		return v, true
	}
	v, ok := c.old[key]
	if ok {
		c.put(key, v, 1)
	}
	return v, ok
}

// put enters a value; the caller may let the young generation grow, as long as
// it calls [cache.turn] in the end.
func (c *cache[K, V]) put(key K, v V, cost int) {
	c.young[key] = v
	c.cost += cost
}

// turn drops the old generation if the young one is full.
func (c *cache[K, V]) turn() {
	if c.cost > c.limit {
		c.old, c.young, c.cost = c.young, make(map[K]V), 0
	}
}
