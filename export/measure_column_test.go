package export

import "testing"

// A measure becomes a column of nodes with all its properties.
func TestMeasureOfNodes(t *testing.T) {
	of := func(m *Measures) Value { return number(m.InDegree) }
	c := ofNodes(figure("x", Integer, AbovePages, of).as(Nullable).titled("an x"))
	n := Node{Measures: Measures{InDegree: 7}}
	if c.Name != "x" || c.Kind != Integer || c.Levels != AbovePages || c.Form != Nullable || c.Title != "an x" ||
		c.Of(&n).Count != 7 {
		t.Errorf("%+v, value %+v", c, c.Of(&n))
	}
}
