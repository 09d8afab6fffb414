package scope

import (
	"embed"
	"fmt"
	"strings"
)

//go:embed presets/*.txt
var presets embed.FS // read-only

// Presets returns the names of the built-in lists.
func Presets() []string { return []string{"ads", "analytics", "social"} }

// Preset returns the patterns of a built-in list.
func Preset(name string) ([]Pattern, error) {
	for _, known := range Presets() {
		if name == known {
			return readPreset(name)
		}
	}
	return nil, fmt.Errorf("no preset %q: there are %s", cut(name), strings.Join(Presets(), ", "))
}

func readPreset(name string) ([]Pattern, error) {
	f, err := presets.Open("presets/" + name + ".txt")
	if err != nil {
		return nil, fmt.Errorf("preset %s: %w", name, err)
	}
	defer f.Close()
	patterns, skipped, err := ParseListFile(f)
	if err == nil && skipped > 0 {
		err = fmt.Errorf("%d lines are not names", skipped)
	}
	if err != nil {
		return nil, fmt.Errorf("preset %s: %w", name, err)
	}
	return patterns, nil
}
