package extract

import "testing"

// TestPagers: the lines by which manuals lead from page to page are no main text.
func TestPagers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		line  string
		stays bool
	}{
		"latex2html":        {line: `<b>Next:</b> <a href=a>How to install it</a> <b>Up:</b> <a href=b>A manual</a> <b>Previous:</b> <a href=c>Before you begin</a> &nbsp; <b><a href=d>Contents</a></b>`},
		"texinfo":           {line: `Next: <a href=a>How to install it</a>, Up: <a href=b>A manual</a> &nbsp; [<a href=c>Contents</a>][<a href=d>Index</a>]`},
		"in German":         {line: `<b>Nächste Seite:</b> <a href=a>Einrichten</a> <b>Aufwärts:</b> <a href=b>Handbuch</a> <b>Vorherige Seite:</b> <a href=c>Vorwort</a>`},
		"one label":         {line: `Next: <a href=a>How to install it</a>`, stays: true},
		"one link":          {line: `Next: <a href=a>How to install it</a> Previous: none`, stays: true},
		"another label":     {line: `Next: <a href=a>the harbour</a>, Last: <a href=b>the bridge</a>, Author: <a href=c>Ann</a>`, stays: true},
		"a sentence":        {line: `First: <a href=a>read the rules</a>. Last: <a href=b>read them</a> again.`, stays: true},
		"without labels":    {line: `up <a href=a>the river</a> back <a href=b>the road</a>`, stays: true},
		"a list of winners": {line: `First: Ann Last: Bob`, stays: true},
	} {
		for _, element := range []string{"p", "div"} {
			// Within the content, where lines of links stay.
			body := "<h1>A manual</h1><" + element + ">" + c.line + "</" + element + ">" + story
			page := parse(t, body)
			if got := page.Text != "A manual\n"+told; got != c.stays {
				t.Errorf("%s: %q", name, page.Text)
			}
			checkWords(t, body, Rules{})
			if got := articleOf(t, "<div>"+story+"<br>"+c.line+"</div>"); got != told && !c.stays {
				t.Errorf("%s: the article is %q", name, got)
			}
		}
	}
}
