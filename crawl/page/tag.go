package page

// A tag is an element known to the extraction.
type tag uint8

const (
	tagOther tag = iota

	// Elements that determine a link's place or contain those that do; see [nesting].
	tagDiv
	tagSection
	tagArticle
	tagMain
	tagAside
	tagHeader
	tagFooter
	tagNav

	// Elements with relevant attributes.
	tagA
	tagArea
	tagBase
	tagFrame
	tagImg
	tagLink
	tagMeta

	tagFont
	tagForeign // svg, math, template; see [foreign]

	// Elements whose content is text.
	tagTitle
	tagTextarea
	tagScript
	tagPlaintext
	tagStyle
	tagRaw // xmp, iframe, noembed, noframes

	tagBreak // separates words

	tags // number of tags
)

func (t tag) nests() bool  { return tagDiv <= t && t <= tagNav }
func (t tag) hasUse() bool { return tagA <= t && t <= tagMeta }
func (t tag) isRaw() bool  { return tagTitle <= t && t <= tagRaw }

// tagOf recognizes a name, ignoring case.
func tagOf(name []byte) tag {
	var low [10]byte
	if len(name) > len(low) {
		return tagOther
	}
	switch string(lower(low[:0], name)) {
	case "a":
		return tagA
	case "area":
		return tagArea
	case "article":
		return tagArticle
	case "aside":
		return tagAside
	case "base":
		return tagBase
	case "div":
		return tagDiv
	case "font":
		return tagFont
	case "footer":
		return tagFooter
	case "frame":
		return tagFrame
	case "header":
		return tagHeader
	case "img":
		return tagImg
	case "link":
		return tagLink
	case "main":
		return tagMain
	case "meta":
		return tagMeta
	case "nav":
		return tagNav
	case "plaintext":
		return tagPlaintext
	case "script":
		return tagScript
	case "section":
		return tagSection
	case "svg", "math", "template":
		return tagForeign
	case "textarea":
		return tagTextarea
	case "title":
		return tagTitle
	case "style":
		return tagStyle
	case "iframe", "noembed", "noframes", "xmp":
		return tagRaw
	case "blockquote", "br", "dd", "dl", "dt", "figcaption", "h1", "h2", "h3", "h4", "h5", "h6",
		"hr", "li", "ol", "option", "p", "pre", "table", "td", "th", "tr", "ul":
		return tagBreak
	}
	return tagOther
}
