// Package prose generates text for the pages of a synthetic web: plain English from a small vocabulary,
// the same for the same numbers on every machine.
package prose

import "strings"

// A Dice is a random number generator that is cheap to create.
type Dice struct{ State uint64 }

// Next returns the next number.
func (d *Dice) Next() uint64 {
	d.State++
	return Mix(d.State)
}

func (d *Dice) pick(words []string) string { return words[d.Next()%uint64(len(words))] }

// A Stock holds sentences and titles from which pages are composed.
type Stock struct {
	sentences []string
	titles    []string
}

// NewStock returns the stock for a seed.
func NewStock(seed uint64) *Stock {
	d := &Dice{State: seed}
	p := &Stock{sentences: make([]string, 256), titles: make([]string, 256)}
	for i := range p.sentences {
		p.sentences[i] = Sentence(d)
		p.titles[i] = title(d)
	}
	return p
}

// AppendTitle appends a title.
func (p *Stock) AppendTitle(b []byte, d *Dice) []byte { return append(b, d.pick(p.titles)...) }

// AppendText appends paragraphs of about size bytes.
func (p *Stock) AppendText(b []byte, d *Dice, size int) []byte {
	if size <= 0 {
		return b
	}
	b = append(b, "<p>"...)
	for end := len(b) + size; len(b) < end; {
		b = append(append(b, d.pick(p.sentences)...), ' ')
	}
	return append(b, "</p>\n"...)
}

// Sentence returns a plain English sentence from a small vocabulary.
func Sentence(d *Dice) string {
	openings := []string{"In the morning", "After the rain", "By late autumn", "Most weeks", "On market days",
		"When the tide is out", "For as long as anyone remembers", "Since the bridge was mended",
		"Down by the water", "Behind the old school", "Every second Sunday", "Before the frost"}
	subjects := []string{"the ferryman", "a neighbour", "the choir", "our postmistress", "the beekeeper",
		"a pair of herons", "the youngest apprentice", "the night watch", "somebody's uncle", "the cartographer",
		"the reading circle", "a retired signalman"}
	verbs := []string{"mends", "counts", "paints", "carries home", "writes about", "argues over", "keeps an eye on",
		"measures", "sings to", "trades", "looks after", "draws a map of"}
	objects := []string{"the stone walls", "three baskets of apples", "the lower footpath", "an unfinished boat",
		"the parish clock", "the rye field", "a box of lantern slides", "the swallows' nests", "the mill wheel",
		"last winter's firewood", "the harbour lights", "a letter from the coast"}
	endings := []string{"and nobody minds", "as the ledger shows", "without much hurry", "until the bells ring",
		"though the road is muddy", "with a borrowed spade", "and then puts the kettle on", "for the common good",
		"in fair weather and foul", "which takes the whole day"}
	return d.pick(openings) + ", " + d.pick(subjects) + " " + d.pick(verbs) + " " + d.pick(objects) + " " +
		d.pick(endings) + "."
}

// title returns a heading of two to four words.
func title(d *Dice) string {
	adjectives := []string{"quiet", "long", "crooked", "borrowed", "salt", "early", "lost", "green", "winter",
		"second", "narrow", "patient", "unlikely", "northern"}
	nouns := []string{"orchard", "ferry", "ledger", "harvest", "lantern", "footpath", "kettle", "estuary", "signal",
		"hedgerow", "weather", "bakery", "almanac", "bridge", "heron", "quarry"}
	text := d.pick(adjectives) + " " + d.pick(nouns)
	if d.Next()%3 == 0 {
		text = "on the " + text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// Mix returns a hash of its numbers (the finaliser of SplitMix64 after each).
func Mix(numbers ...uint64) uint64 {
	h := uint64(0x9e3779b97f4a7c15)
	for _, n := range numbers {
		h += n + 0x9e3779b97f4a7c15
		h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
		h = (h ^ h>>27) * 0x94d049bb133111eb
		h ^= h >> 31
	}
	return h
}
