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

// TestCodeInCells: lines of code in a cell of a table keep their indents in Markdown.
func TestCodeInCells(t *testing.T) {
	t.Parallel()
	const cell = "<tr><th>a<th>b<tr><td>c<td><pre>if a:\n    b(  c|d)\n\tif e:\n\t\t`f`\n\n\n  end  </pre>"
	got := markdown(t, "<table>"+cell+"</table>", ReadAll).Body
	want := "| a | b |\n| --- | --- |\n| c | `if a:`<br>`    b(  c\\|d)`<br>`    if e:`<br>``         `f` ``<br>`  end` |\n"
	if got != want {
		t.Errorf("%q\nwant\n%q", got, want)
	}
}
