package kv

// A cache keeps the most recently used values, up to about twice its limit. It has two generations: a value
// that is used moves to the young one, which replaces the old one when it is full.
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

// put adds a value. The young generation may exceed its limit until the caller calls [cache.turn].
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
