package feed

import (
	"encoding/json"
	"fmt"
	"math"
	"math/bits"
	"strconv"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// MetaBase is the name under which a state file stores the offset of its cursors from its visits, once
// visits have been dropped.
const MetaBase = "feed base"

// MetaEarly is the name under which such a file stores the cursors of the remaining visits from before
// the last dropped one: one bit per cursor, from cursor 1, lowest bit of a byte first.
const MetaEarly = "feed early"

// cursors maps the visits of a state file to cursors. The cursor of a visit never changes. It is the
// number of the visit or, if visits were dropped, the number it would otherwise have. Visits of imports have no
// cursors, and are not counted here.
type cursors struct {
	base  uint64
	early []byte // bits: the cursors of the first visits, whose offset may be smaller
	first uint64 // number of those visits
}

// cursorsOf reads the cursors of a file whose last visit is last.
func cursorsOf(tx *kv.Tx, last schema.Seq) (c cursors, err error) {
	text, err := tx.Meta.Value(MetaBase)
	if err != nil || text == nil {
		return c, err
	}
	if err := json.Unmarshal(text, &c.base); err != nil {
		return c, err
	}
	if c.base > math.MaxInt64 {
		return c, fmt.Errorf("%w: the cursors are ahead by %d", kv.ErrDamaged, c.base)
	}
	c.early, err = tx.Meta.Value(MetaEarly)
	for _, b := range c.early {
		c.first += uint64(bits.OnesCount8(b))
	}
	if c.first > uint64(last) {
		return c, fmt.Errorf("%w: the cursors are those of %d visits, and there are %d", kv.ErrDamaged, c.first, last)
	}
	return c, err
}

// upTo returns how many visits have a cursor up to cursor.
func (c *cursors) upTo(cursor uint64) (n uint64) {
	for i, b := range c.early {
		if at := uint64(i) * 8; at+8 > cursor {
			n += uint64(bits.OnesCount8(b & (1<<(cursor-at) - 1)))
			break
		}
		n += uint64(bits.OnesCount8(b))
	}
	if n == c.first && cursor > c.base {
		n = max(n, cursor-c.base)
	}
	return n
}

// of returns the cursor of a visit; that of 0 is before the first.
func (c *cursors) of(seq uint64) (cursor uint64) {
	if seq > c.first {
		return c.base + seq
	}
	for n := uint64(1); n <= seq; n++ {
		cursor = c.next(n, cursor)
	}
	return cursor
}

// next returns the cursor of a visit, given the cursor of the previous one.
func (c *cursors) next(seq, cursor uint64) uint64 {
	if seq > c.first {
		return c.base + seq
	}
	for c.early[cursor/8]>>(cursor%8)&1 == 0 {
		cursor++
	}
	return cursor + 1
}

// Keep stores the cursors of an old file's visits in the next file, from which some visits were
// dropped. numbers are those of [kv.Pruned],
// and imports those of the old file.
func Keep(old, next *kv.Tx, numbers []uint32, imports schema.Imports) error {
	asked := numbers[:1:1]
	for seq := range numbers {
		if seq > 0 && !imports.Has(schema.Seq(seq)) {
			asked = append(asked, numbers[seq])
		}
	}
	numbers = asked
	c, err := cursorsOf(old, schema.Seq(len(numbers)-1))
	if err != nil {
		return err
	}
	end, dropped := c.first, uint64(0)
	for seq, is := range numbers[1:] {
		if is == 0 {
			end = max(end, uint64(seq))
			dropped++
		}
	}
	early, cursor := make([]byte, (c.of(end)+7)/8), uint64(0)
	for seq := uint64(1); seq <= end; seq++ {
		if cursor = c.next(seq, cursor); numbers[seq] != 0 {
			early[(cursor-1)/8] |= 1 << ((cursor - 1) % 8)
		}
	}
	err = next.Meta.Put(MetaBase, strconv.AppendUint(nil, c.base+dropped, 10))
	if err == nil {
		err = next.Meta.Put(MetaEarly, early)
	}
	return err
}
