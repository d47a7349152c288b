package extract

import "testing"

// TestListingIndents: how far a line of Doxygen's code is indented is seen, as in a <pre>.
func TestListingIndents(t *testing.T) {
	t.Parallel()
	listing := func(indent string) string {
		return LooksText(parse(t, "<p>"+prose(1)+"<div class=fragment><div class=line>if (a)</div>\n<div class=line>"+indent+"b();</div>\n</div>").Looks)
	}
	if listing("  ") == listing("") {
		t.Error("a line is indented, and nothing seems to differ")
	}
}
