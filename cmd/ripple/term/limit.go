package term

import (
	"errors"
	"math"
	"strconv"

	"github.com/spf13/pflag"
)

// A Limit is the maximum number of rows that a list shows. It is the value of a flag, where -1 means all.
type Limit int

// AddLimit adds the flag --limit with a default; what names the rows in its help.
func AddLimit(f *pflag.FlagSet, l *Limit, most Limit, what string) {
	*l = most
	f.Var(l, "limit", "show at most `N` "+what+"; -1: all")
}

func (l *Limit) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < -1 {
		return errors.New("it must be 0 or more, or -1 for all")
	}
	if *l = Limit(n); n == -1 {
		*l = math.MaxInt
	}
	return nil
}

func (l *Limit) String() string { return strconv.Itoa(int(*l)) }

func (l *Limit) Type() string { return "N" }
