package config

import (
	"fmt"

	"github.com/sumi-ripple/ripple/schema"
)

// Budget returns how many page requests a run may send to a host: max-requests of its most specific
// origin, else max-domain-requests.
func (c *Config) Budget(host string) int { return c.scope.Budget(host, c.Crawler.MaxDomainRequests) }

// BudgetKey returns the key that sets the host's budget, with its value.
func (c *Config) BudgetKey(host string) string {
	key := "max-domain-requests"
	if c.scope.Budget(host, -1) != -1 {
		key = "max-requests"
	}
	return fmt.Sprintf("%s = %d", key, c.Budget(host))
}

// UsedUp reports whether the budget of a host is used up. open is the number of open requests that the
// host's record does not count yet.
func (c *Config) UsedUp(h *schema.Host, open int) bool {
	return h.RunRequests+open >= c.Budget(h.Name)
}
