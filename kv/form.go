package kv

import (
	"errors"
	"hash/fnv"
	"slices"

	"github.com/sumi-ripple/ripple/schema"
)

const scheme = "https://"

// maxReplaced is how many foreign forms of a URL may be replaced because nothing was found there.
const maxReplaced = 10 * schema.MaxForeignForms

// others are the forms of a URL that do not follow from its identity.
type others struct {
	own      []string
	foreign  []foreignForm
	replaced []uint32 // hashes of replaced foreign forms, so that each is tried only once
}

type foreignForm struct {
	text    string
	missing bool // nothing was found there, so the next form may replace it
}

// AddForm records a form of a URL with the given identity. own says how it was named, see [schema.Forms].
// AddForm reports whether the result of [URLs.Forms] has changed.
func (us *URLs) AddForm(id schema.ID, norm, form string, own bool) (bool, error) {
	if err := errors.Join(us.tx.change(), us.tx.known(id)); err != nil {
		return false, err
	}
	if shape := schema.ShapeOf(norm, form); shape != schema.ShapeOther {
		return us.addShape(id, shape, own), nil
	}
	if !schema.Keeps(norm, form) {
		return false, nil
	}
	all, err := us.others(id)
	if err != nil {
		return false, err
	}
	var changed bool
	if own {
		changed = all.addOwn(form)
	} else {
		changed = all.addForeign(form)
	}
	if !changed {
		return false, nil
	}
	us.addShape(id, schema.ShapeOther, false)
	return true, us.putOthers(id, all)
}

// AddForms records the forms of a URL from another file.
func (us *URLs) AddForms(id schema.ID, forms *schema.Forms) error {
	own, foreign := forms.Split()
	for i, form := range slices.Concat(own, foreign) {
		if _, err := us.AddForm(id, forms.Norm, form, i < len(own)); err != nil {
			return err
		}
	}
	return nil
}

func (us *URLs) addShape(id schema.ID, shape schema.Shape, own bool) bool {
	k := us.tx.s.known.of(id)
	mark, owned := k.mark|uint8(shape), k.own
	if own {
		owned |= uint8(shape)
	}
	if mark == k.mark && owned == k.own {
		return false
	}
	k.mark, k.own = mark, owned
	if id < us.first() {
		us.shaped = append(us.shaped, id)
	}
	return true
}

func (o *others) addOwn(form string) bool {
	at, found := slices.BinarySearch(o.own, form)
	if found || at == schema.MaxOwnForms {
		return false
	}
	o.own = slices.Insert(o.own, at, form)
	o.own = o.own[:min(len(o.own), schema.MaxOwnForms)]
	return true
}

// addForeign adds a foreign form in a free place, or else replaces one at which nothing was found, or else a
// later one.
func (o *others) addForeign(form string) bool {
	at, found := o.find(form)
	if found || slices.Contains(o.replaced, hashOf(form)) {
		return false
	}
	if len(o.foreign) == schema.MaxForeignForms {
		last := len(o.foreign) - 1
		for i, f := range o.foreign {
			if f.missing {
				last = i
			}
		}
		switch {
		case !o.foreign[last].missing && at > last, o.foreign[last].missing && len(o.replaced) == maxReplaced:
			return false
		case o.foreign[last].missing:
			o.replaced = append(o.replaced, hashOf(o.foreign[last].text))
		}
		o.foreign = slices.Delete(o.foreign, last, last+1)
		at, _ = o.find(form)
	}
	o.foreign = slices.Insert(o.foreign, at, foreignForm{text: form})
	return true
}

func (o *others) find(form string) (at int, found bool) {
	for at < len(o.foreign) && o.foreign[at].text < form {
		at++
	}
	return at, at < len(o.foreign) && o.foreign[at].text == form
}

func hashOf(form string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(form)) // never fails
	return h.Sum32()
}

// MissForms records that a visit has found nothing at these forms of a URL. The next new forms may replace
// foreign ones among them.
func (us *URLs) MissForms(id schema.ID, forms []string) error {
	all, err := us.others(id)
	if err != nil {
		return err
	}
	changed := false
	for i := range all.foreign {
		f := &all.foreign[i]
		if !f.missing && slices.Contains(forms, f.text) {
			f.missing, changed = true, true
		}
	}
	if !changed {
		return nil
	}
	return us.putOthers(id, all)
}

func (us *URLs) others(id schema.ID) (others, error) {
	if us.tx.s.Shapes(id)&schema.ShapeOther == 0 {
		return others{}, nil
	}
	key := key64(uint64(id))
	r, err := us.tx.get(bForms, key)
	if err != nil {
		return others{}, missing(err, bForms, key)
	}
	all := decodeOthers(&r)
	if r.bad {
		return others{}, damaged(bForms, key, "cannot be decoded")
	}
	return all, nil
}

func (us *URLs) putOthers(id schema.ID, all others) error {
	w := us.tx.fields()
	w.number(len(all.own))
	for _, text := range all.own {
		w.string(text)
	}
	w.number(len(all.foreign))
	for _, f := range all.foreign {
		w.string(f.text)
		w.bool(f.missing)
	}
	w.number(len(all.replaced))
	for _, hash := range all.replaced {
		w.uint(uint64(hash))
	}
	return us.tx.put(bForms, key64(uint64(id)), w)
}

func decodeOthers(r *reader) (all others) {
	for range r.narrow(schema.MaxOwnForms) {
		all.own = append(all.own, r.string())
	}
	for range r.narrow(schema.MaxForeignForms) {
		all.foreign = append(all.foreign, foreignForm{r.string(), r.bool()})
	}
	for range r.narrow(maxReplaced) {
		all.replaced = append(all.replaced, uint32(r.narrow(1<<32-1)))
	}
	return all
}

// inOrder reports whether the forms are in the order in which they are written.
func (o *others) inOrder() bool {
	byText := func(a, b foreignForm) int {
		if a.text < b.text {
			return -1
		}
		return 1 // duplicates are out of order
	}
	return len(o.own)+len(o.foreign) > 0 && slices.IsSorted(o.own) && slices.IsSortedFunc(o.foreign, byText)
}

// Forms returns the forms of a URL.
func (us *URLs) Forms(id schema.ID) (schema.Forms, error) {
	norm, err := us.Norm(id)
	if err != nil {
		return schema.Forms{}, err
	}
	all, err := us.others(id)
	if err != nil {
		return schema.Forms{}, err
	}
	f := schema.Forms{Norm: norm, Shapes: us.tx.s.Shapes(id) &^ schema.ShapeOther, Own: us.tx.s.OwnShapes(id),
		Others: all.own}
	for _, form := range all.foreign {
		f.Foreign = append(f.Foreign, form.text)
	}
	return f, nil
}

// Reopens reports whether a visited page is to be visited again because of a new form: any new form if the
// visit found nothing, or a new own form if it found the page at a foreign form. An archived visit is never repeated.
func (us *URLs) Reopens(v *schema.Visit, unanswered bool) (bool, error) {
	if !us.tx.s.MayReopen(v, unanswered) {
		return false, nil
	}
	forms, err := us.Forms(v.URL)
	if err != nil {
		return false, err
	}
	now := forms.Set()
	if unanswered {
		return !v.Knew.Covers(now), nil
	}
	return !v.Knew.CoversOwn(now) && !forms.IsOwn(v.Form), nil
}

// MayReopen reports whether [URLs.Reopens] may return true. It reads nothing, and is false for nearly all
// pages.
func (x *index) MayReopen(v *schema.Visit, unanswered bool) bool {
	if v.Archived || !unanswered && !v.Found() {
		return false
	}
	shapes := x.Shapes(v.URL)
	now := schema.FormSet{Shapes: shapes &^ schema.ShapeOther, Own: x.OwnShapes(v.URL)}
	return shapes&schema.ShapeOther != 0 || unanswered && !v.Knew.Covers(now) || !unanswered && !v.Knew.CoversOwn(now)
}

// flushShapes writes the changed shapes of older URLs.
func (us *URLs) flushShapes() error {
	slices.Sort(us.shaped)
	p := packing{tx: us.tx, bucket: bShapes}
	before := uint64(0)
	for _, id := range slices.Compact(us.shaped) {
		item, err := p.add(uint64(id))
		if err != nil {
			return err
		}
		if p.fresh() {
			before = uint64(id)
		}
		k := us.tx.s.known.at(id)
		item.uint(uint64(id) - before)
		item.byte(k.mark & shapesMask)
		item.byte(k.own & shapesMask)
		before = uint64(id)
	}
	err := p.end()
	us.tx.s.state.shapes += uint64(p.part)
	return err
}
