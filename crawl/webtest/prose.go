package webtest

import "strings"

// A dice is a sequence of random numbers that costs nothing to begin.
type dice struct{ state uint64 }

func (d *dice) next() uint64 {
	d.state++
	return mix(d.state)
}

func (d *dice) pick(words []string) string { return words[d.next()%uint64(len(words))] }

// A prose is a stock of sentences and titles that pages are put together from.
type prose struct {
	sentences []string
	titles    []string
}

func newProse(seed uint64) *prose {
	d := &dice{state: seed}
	p := &prose{sentences: make([]string, 256), titles: make([]string, 256)}
	for i := range p.sentences {
		p.sentences[i] = sentence(d)
		p.titles[i] = title(d)
	}
	return p
}

func (p *prose) appendTitle(b []byte, d *dice) []byte { return append(b, d.pick(p.titles)...) }

// appendText appends paragraphs of about size bytes.
func (p *prose) appendText(b []byte, d *dice, size int) []byte {
	if size <= 0 {
		return b
	}
	b = append(b, "<p>"...)
	for end := len(b) + size; len(b) < end; {
		b = append(append(b, d.pick(p.sentences)...), ' ')
	}
	return append(b, "</p>\n"...)
}

// sentence makes a plain English sentence from a small vocabulary.
func sentence(d *dice) string {
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
	return d.pick(openings) + ", " + d.pick(subjects) + " " + d.pick(verbs) + " " + d.pick(objects) + " " + d.pick(endings) + "."
}

// title makes a heading of two to four words.
func title(d *dice) string {
	adjectives := []string{"quiet", "long", "crooked", "borrowed", "salt", "early", "lost", "green", "winter",
		"second", "narrow", "patient", "unlikely", "northern"}
	nouns := []string{"orchard", "ferry", "ledger", "harvest", "lantern", "footpath", "kettle", "estuary", "signal",
		"hedgerow", "weather", "bakery", "almanac", "bridge", "heron", "quarry"}
	text := d.pick(adjectives) + " " + d.pick(nouns)
	if d.next()%3 == 0 {
		text = "on the " + text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
