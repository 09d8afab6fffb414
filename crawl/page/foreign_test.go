package page

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestForeign reads drawings and formulas as the tree has them: no element in them
// holds raw text but in the HTML that they may hold again.
func TestForeign(t *testing.T) {
	tests := []string{
		`<svg><style>a > b {}</style></svg><a href=x>X</a>`,
		`<svg><style>a{}</svg><a href=x>X</a>`,
		`<svg><style/><a href=x>X</a></svg>`,
		`<svg><style><a href=x>X</a></style></svg>`,
		`<svg><script>"</svg><a href=x>X</a>"</script>`,
		`<svg><title><a href=x>X</a></title></svg><title>page</title>`,
		`<svg><title><style><a href=no></style></title><style><a href=x>X</style></svg>`,
		`<svg><desc><script><a href=no></script></desc><a href=x>X</a></svg>`,
		`<svg><foreignObject><style><a href=no></style><textarea><a href=no></textarea></foreignObject></svg><a href=x>X</a>`,
		`<svg><style><p><style><a href=no></style><a href=x>X</a>`,
		`<svg><font size=1><style><a href=no></style><a href=x>X</a>`,
		`<svg><font id=1><style><a href=x>X</a></style></svg>`,
		`<svg><style><![CDATA[a > b {<a href=no>}</style>]]></style><a href=x>X</a></svg>`,
		`<a href=x>X</a><![CDATA[<a href=no>]]><svg><![CDATA[<a href=no>`,
		`<svg><iframe><a href=x>X</a></iframe><xmp><a href=y>Y</a></xmp><noembed><a href=z>Z</a></noembed></svg>`,
		`<svg><plaintext><a href=x>X</a></plaintext></svg><a href=y>Y</a>`,
		`<math><style><a href=x>X</a></style><mtext><style><a href=no></style></mtext></math>`,
		`<a href=x><svg><title>t</title><style>no</style><script>no</script><text>e</text><style/>xt</svg></a>`,
		`<a href=x><svg><style>no<a href=y>Y</a></style></svg></a>`,
		`<a href=x><svg><style>no</svg>text</a>`,
		`<a href=x><svg><text><![CDATA[a < <b>]]></text></svg></a>`,
	}
	base, self := testBase(t, testRules(t), "https://example.com/dir/page")
	for _, tt := range tests {
		src := []byte("<!DOCTYPE html><body>" + tt)
		want, ok := treeView(src, base, self)
		p := NewExtractor(Options{}).Extract(src, "text/html; charset=utf-8", base, self)
		if diff := cmp.Diff(want, viewOf(&p)); diff != "" || !ok || len(p.Links) == 0 {
			t.Errorf("%s\n(-tree +scanner):\n%s", tt, diff)
		}
	}
}
