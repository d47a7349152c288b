package noisetest

import (
	"bytes"
	"testing"
)

// Every pair differs, and is the same whenever it is made.
func TestPairs(t *testing.T) {
	t.Parallel()
	for _, heldOut := range []bool{false, true} {
		n, again := 0, make([]Pair, 0)
		for p := range Pairs(heldOut, 3, 1) {
			again = append(again, p)
		}
		for p := range Pairs(heldOut, 3, 1) {
			if bytes.Equal(p.Prev.HTML, p.Next.HTML) {
				t.Errorf("%s, %s: nothing differs", p.Template, p.Kind)
			}
			if !bytes.Equal(p.Next.HTML, again[n].Next.HTML) || !bytes.Equal(p.Prev.HTML, again[n].Prev.HTML) {
				t.Errorf("%s, %s: made again, it differs", p.Template, p.Kind)
			}
			n++
		}
	}
}
