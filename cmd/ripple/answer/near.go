package answer

import (
	"cmp"
	"slices"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

// mostNear is the number of similar names that an unknown host gets.
const mostNear = 3

// NearHosts returns the hosts with the most similar names; none if the host itself is on the map.
func NearHosts(store *kv.Store, name string) (near []string, err error) {
	type candidate struct {
		name     string
		distance int
	}
	var all []candidate
	most := min(3, max(2, len(name)/4))
	err = store.View(func(tx *kv.Tx) error {
		_, met, err := tx.Hosts.Lookup(name)
		if err != nil || met {
			return err
		}
		return tx.Hosts.Each(1, func(h *schema.Host) (bool, error) {
			if d := len(h.Name) - len(name); d > most || -d > most {
				return true, nil
			}
			if d := config.EditDistance(name, h.Name); d <= most {
				all = append(all, candidate{h.Name, d})
			}
			return len(all) < 1000, nil
		})
	})
	slices.SortFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.name, b.name))
	})
	for _, c := range all[:min(len(all), mostNear)] {
		near = append(near, c.name)
	}
	return near, err
}
