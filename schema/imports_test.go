package schema_test

import (
	"testing"

	"github.com/sumi-ripple/ripple/schema"
)

// Visits of imports and others are told apart by their numbers, whatever the order of the runs.
func TestImports(t *testing.T) {
	t.Parallel()
	kinds := []schema.RunKind{schema.RunImport, schema.RunCrawl, schema.RunImport, schema.RunImport, schema.RunCrawl}
	of := "iiccci cc" // by number: the kind of the run, one visit each
	var runs []schema.Run
	for i, first := range []schema.Seq{1, 3, 6, 7, 7} {
		runs = append(runs, schema.Run{ID: schema.RunID(i + 1), Kind: kinds[i], FirstVisit: first})
	}
	imports, n, others := schema.ImportsOf(runs), uint64(0), uint64(0)
	seq := schema.Seq(0)
	for _, kind := range of {
		if kind == ' ' { // a run without visits
			continue
		}
		if seq++; kind == 'i' {
			n++
		} else if others++; imports.Other(others) != seq {
			t.Errorf("visit %d of crawls is %d, want %d", others, imports.Other(others), seq)
		}
		if imports.Has(seq) != (kind == 'i') || imports.UpTo(seq) != n {
			t.Errorf("visit %d: import %t, %d until then; want %c, %d", seq, imports.Has(seq), imports.UpTo(seq), kind, n)
		}
	}
	if schema.ImportsOf(runs[:1]).Has(1<<32-2) != true {
		t.Error("the visits of an import that is the last run have no end")
	}
}
