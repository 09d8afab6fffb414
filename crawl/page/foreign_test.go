package page

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestForeign reads drawings and formulas as in a tree: their elements contain no raw text, except in HTML
// inside them.
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
		`<a href=1><svg><path d="M0"/></a> <script>s='<a href=no>x</a>'</script><a href=2>b</a>`,
		`<a href=1><svg><path></a><textarea><a href=no></textarea><a href=2>b</a>`,
		`<a href=1><svg><g></a><title>Title</title>`,
		`<a href=1><math><mi>x</mi></a><iframe><a href=no></a></iframe><a href=2>b</a>`,
		`<div><svg><g></div><style><a href=no></style><a href=x>X</a>`,
		`<ul><li><svg></li><li><svg></ul><style><a href=no></style><a href=x>X</a>`,
		`<table><tr><td><svg></td><td><style><a href=no></style><a href=x>X</a></table>`,
		`<table><tr><td><svg><g></tr></table><style><a href=no></style><a href=x>X</a>`,
		`<div><table><tr><td><svg></div><style><a href=x>X</a></style></table>`,
		`<span><svg></span><style><a href=no></style><a href=x>X</a>`,
		`<span><div><svg></span><style><a href=x>X</a></style>`,
		`<b><div><svg></b><style><a href=no></style><a href=x>X</a>`,
		`<a href=y><svg><a></a><style><a href=x>X</a></style>`,
		`<a href=y><svg><a><g></a></a><style><a href=no></style><a href=x>X</a>`,
		`<button><svg><title>t</button><style><a href=no></style></title><style><a href=x>X</a></style>`,
		`<button><svg><foreignObject><div></button><style><a href=no></style></div></foreignObject></button>` +
			`<style><a href=no></style><a href=x>X`,
		`<section><svg></article><style><a href=x>X</a></style>`,
		`<my-element-with-a-long-name><svg></my-element-with-a-long-name><style><a href=no></style><a href=x>X</a>`,
		`<h1><svg></h1><base href="/b/"><a href=x>X</a>`,
		`<br><svg></br><style><a href=no></style><a href=x>X</a>`,
		`<template><svg></template><style><a href=no></style><a href=x>X</a>`,
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
