package config

// A key is the declaration of one key of a table and, bound to a Config, its value.
type key struct {
	name     string
	unit     string
	doc      string
	sample   string // value in the sample, in place of the default
	required bool
	stored   bool // occurs only in the effective text
	value
}

// A table is a [table] or the element of an array of tables.
type table struct {
	name  string
	doc   string
	array bool
	keys  []key
}

// declared returns all tables, bound to the defaults.
func declared() []table {
	c := newConfig()
	stub := listKeys(&List{})
	stub[0].sample = `"github.com"`
	return append(c.tables(),
		table{"quality", "A domain that is crawled to the end; depth is measured from it.", true, qualityKeys(&Quality{})},
		table{"blacklist", "Never visited, only recorded. Exactly one of domain, file, preset, url.", true,
			listKeys(&List{})},
		table{"stub", "As blacklist, in a class of its own: places to know of, not to walk through.", true, stub},
		table{"page-type", "Names pages and caps how many of a group are visited per run.", true, pageTypeKeys(&PageType{})},
		table{"entity", "What is one node at entity level.", true, entityKeys(&Entity{})},
		table{"extract", "A fact of your own from every page that matches, of up to 1 MiB.", true,
			extractKeys(&Extract{})},
	)
}
