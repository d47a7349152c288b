package extract

import (
	"strings"
	"testing"
)

// TestTitleOutsideOfHeadings: the title of a page that stands in its header without an <h1>, as Doxygen
// writes it, is main text, a heading in Markdown, and the headline of an article.
func TestTitleOutsideOfHeadings(t *testing.T) {
	t.Parallel()
	const links = `<div class=summary><a href=#a>Functions</a> | <a href=#b>Macros</a> | <a href=#c>Types</a> | <a href=#d>All members</a></div>`
	for name, c := range map[string]struct{ title, header, text, heading string }{
		"Doxygen":            {"Library: Watch", `<div class=headertitle><div class=title>Watch</div></div>`, "Watch\n", "# Watch\n\n"},
		"with a menu":        {"Library: Watch", links + `<div class=headertitle><div class=title>Watch</div></div>`, "Watch\n", "# Watch\n\n"},
		"with a group":       {"Library", `<div class=headertitle><div class=title>Watch<div class=ingroups><a href=x>Time</a></div></div></div>`, "Watch\n", "# Watch\n\n"},
		"of another program": {"Watch - Library", `<p class=page-title>Watch</p>`, "Watch\n", "# Watch\n\n"},
		"another text":       {"Watch - Library", `<p class=title>Welcome</p>`, "", ""},
		"the site's name":    {"Watch - Library", `<div class=title><a href=/>Library</a></div>`, "", ""},
		"a link around it":   {"Watch - Library", `<a href=/><div class=title>Library</div></a>`, "", ""},
		"beside an <h1>":     {"Watch - Library", `<p class=title>Library</p><h1>Watch</h1>`, "Library\nWatch\n", "Library\n\n# Watch\n\n"},
	} {
		body := "<title>" + c.title + "</title><div class=header>" + c.header + "</div><div class=contents>" + story + "</div>"
		if page := parse(t, body); page.Text != c.text+told {
			t.Errorf("%s: %q", name, page.Text)
		}
		if got, _, _ := strings.Cut(markdown(t, body, ReadMain).Body, prose(0)); got != c.heading {
			t.Errorf("%s: Markdown begins with %q", name, got)
		}
		if got := articleOf(t, body); got != told {
			t.Errorf("%s: the article is %q", name, got)
		}
		checkWords(t, body, Rules{})
	}
	if got := articleOf(t, "<div><div class=header><div class=headertitle><div class=title>Watch</div></div></div>"+story+"</div>"); got != told {
		t.Errorf("with its headline: %q", got)
	}
}
