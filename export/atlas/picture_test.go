package atlas

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"testing"
)

// A map of 150 hosts draws something.
func TestPicture(t *testing.T) {
	b := open(t, sample(150))
	rest(t, b)
	picture, err := png.Decode(bytes.NewReader(b.Screenshot()))
	if err != nil {
		t.Fatal(err)
	}
	if n := colours(picture); n < 200 {
		t.Errorf("%d colours in the picture: nothing is drawn", n)
	}
}

func colours(picture image.Image) int {
	seen := map[color.Color]bool{}
	for y := range picture.Bounds().Dy() {
		for x := range picture.Bounds().Dx() {
			seen[picture.At(x, y)] = true
		}
	}
	return len(seen)
}
