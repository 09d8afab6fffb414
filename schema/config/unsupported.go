package config

import "slices"

// unbuilt lists the keys whose feature does not exist yet. A line less here is a
// feature more.
func unbuilt() []string {
	return []string{
		"monitor.listen",
	}
}

// Unsupported returns the keys, as "[monitor] webhook", that ask for something
// which is not built yet.
func (c *Config) Unsupported() []string {
	var found []string
	defaults := newConfig().tables()
	for i, t := range c.tables() {
		for j, k := range t.keys {
			if slices.Contains(unbuilt(), t.name+"."+k.name) && k.text() != defaults[i].keys[j].text() {
				found = append(found, t.header()+" "+k.name)
			}
		}
	}
	return found
}
