package trap

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"recrawl/internal/change"
	"recrawl/internal/urlkey"
)

// chain is visited pages of which each leads to the next, and their links.
func chain(t testing.TB, n int, format string, says func(i int) change.Wording) (pages []Page, links []Link) {
	t.Helper()
	for i := range n {
		pages = append(pages, Page{URL: canonical(t, fmt.Sprintf(format, i)), Content: true, ID: int64(i + 1), Finder: int64(i), Said: says(i)})
		links = append(links, Link{From: int64(i + 1), To: int64(i + 2), Finder: int64(i + 1), URL: canonical(t, fmt.Sprintf(format, i+1))})
	}
	return pages, links
}

func says(text string) func(int) change.Wording {
	return func(int) change.Wording { return change.NewWording(text) }
}

// judged returns the findings for pages with all their links.
func judged(pages []Page, links []Link) []Finding {
	var found []Finding
	for _, s := range Suspects(pages) {
		mine := slices.DeleteFunc(slices.Clone(links), func(l Link) bool { return !slices.Contains(s.Pages, l.From) })
		if f, ok := s.Judge(mine); ok {
			found = append(found, f)
		}
	}
	return found
}

// TestEachConditionCounts removes one from a chain that is a trap.
func TestEachConditionCounts(t *testing.T) {
	t.Parallel()
	const next = "http://h.example/next/%d"
	none := func(int) change.Wording { return change.Wording{} }
	for name, c := range map[string]struct {
		n      int
		says   func(int) change.Wording
		change func(p *Page, l *Link)
		trap   bool
	}{
		"a chain":                             {chainRun, says("Go on"), nil, true},
		"a shorter one":                       {chainRun - 1, says("Go on"), nil, false},
		"pages that say something":            {chainRun, func(i int) change.Wording { return change.NewWording(prose(mostSaid+8, i)) }, nil, false},
		"pages that say little":               {chainRun, func(i int) change.Wording { return change.NewWording(prose(mostSaid, i)) }, nil, true},
		"pages of which nothing is known":     {chainRun, none, nil, false},
		"pages of which a few say something":  {chainRun, func(i int) change.Wording { return change.NewWording(prose(40*(1-min(i%7, 1)), i)) }, nil, true},
		"pages of which some say something":   {chainRun, func(i int) change.Wording { return change.NewWording(prose(40*(1-min(i%5, 1)), i)) }, nil, false},
		"pages that only say how much":        {chainRun, func(int) change.Wording { return change.Wording{Known: true, Phrases: mostSaid + 1} }, nil, false},
		"pages that an index found":           {chainRun, says("Go on"), func(p *Page, l *Link) { p.Finder, l.Finder = 99, 99 }, false},
		"pages that lead to other pages":      {chainRun, says("Go on"), func(_ *Page, l *Link) { l.URL = canonicalOrZero("http://h.example/item") }, false},
		"pages that lead to another host":     {chainRun, says("Go on"), func(_ *Page, l *Link) { l.URL = canonicalOrZero("http://g.example/next/1") }, false},
		"pages that lead to what was known":   {chainRun, says("Go on"), func(_ *Page, l *Link) { l.Finder = 99 }, false},
		"pages that were all found elsewhere": {chainRun, says("Go on"), func(p *Page, _ *Link) { p.Finder = 99 }, false},
	} {
		pages, links := chain(t, c.n, next, c.says)
		for i := range pages {
			if c.change != nil {
				c.change(&pages[i], &links[i])
			}
		}
		if found := judged(pages, links); (len(found) > 0) != c.trap {
			t.Errorf("%s: %+v", name, found)
		}
	}
}

// Lists of known pages lead on, and say nothing; their links are their yield.
func TestListsOfKnownPagesAreNone(t *testing.T) {
	t.Parallel()
	pages, links := chain(t, chainRun, "http://h.example/tag/%d", says("Posts"))
	for _, p := range pages {
		for i := range 3 {
			links = append(links, Link{From: p.ID, To: 1000 + 3*p.ID + int64(i), Finder: 500, URL: canonicalOrZero(fmt.Sprintf("http://h.example/post/%d-%d", p.ID, i))})
		}
	}
	if found := judged(pages, links); len(found) > 0 {
		t.Errorf("%+v", found)
	}
	// A page that all of them link to is a menu.
	pages, links = chain(t, chainRun, "http://h.example/tag/%d", says("Posts"))
	for _, p := range pages {
		for i := range 9 {
			links = append(links, Link{From: p.ID, To: 1000 + int64(i), Finder: 500, URL: canonicalOrZero(fmt.Sprintf("http://h.example/menu/%d", i))})
		}
	}
	if found := judged(pages, links); len(found) != 1 {
		t.Errorf("beside a menu %+v", found)
	}
}

func TestForms(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		format string
		want   string
	}{
		{"http://h.example/home?time=%d", "home?time=#"},
		{"http://h.example/%d", "#"},
		{"http://h.example/people/%s", "people/*"},
		{"http://h.example/people/%s/friends", "people/*/friends"},
		{"http://h.example/x?page=person&name=%s", "x?name=*&page=person"},
		{"http://h.example/%s/%s", "*/*"},
	} {
		var pages []Page
		for i := range 24 {
			name := firstNames[i] + lastNames[i%7]
			args := []any{name, name}[:strings.Count(c.format, "%s")]
			if strings.Contains(c.format, "%d") {
				args = []any{i}
			}
			pages = append(pages, Page{URL: canonical(t, fmt.Sprintf(c.format, args...)), ID: int64(i)})
		}
		families := familiesOf(pages)
		if len(families) != 1 || formText(families[0].form) != c.want || len(families[0].pages) != len(pages) {
			t.Errorf("%s: %+v, want %s", c.format, families, c.want)
		}
		for _, p := range pages {
			if !hasForm(p.URL, families[0].form) {
				t.Errorf("%s has not the form %v", p.URL, families[0].form)
			}
		}
	}
}

// TestTakes: the pages whose links a known trap takes.
func TestTakes(t *testing.T) {
	t.Parallel()
	common := change.NewWording("Knows these people").Sample
	narrow := Pattern{Kind: KindOnward, Host: "h.example", Path: []string{"people", "*"}, Beside: [][]string{{"people", "*", "photo"}}, Common: common}
	wide := narrow
	wide.Everywhere = true
	member := Page{URL: canonical(t, "http://h.example/people/ada"), Said: change.NewWording("Knows these people")}
	article := Page{URL: canonical(t, "http://h.example/people/bea"), Said: change.NewWording(prose(60, "bea"))}
	other := Page{URL: canonical(t, "http://h.example/"), Said: change.NewWording("")}
	for _, c := range []struct {
		url          string
		on           Page
		narrow, wide bool
	}{
		{"http://h.example/people/cleo", member, true, true},
		{"http://h.example/people/cleo", Page{URL: member.URL}, true, true},
		{"http://h.example/people/cleo", article, false, true},
		{"http://h.example/people/cleo", other, false, true},
		{"http://h.example/people/cleo/photo", member, true, true},
		{"http://h.example/people/cleo/photo", other, false, false},
		{"http://h.example/people", member, false, false},
		{"http://g.example/people/cleo", member, false, false},
	} {
		u := canonical(t, c.url)
		if got := narrow.Takes(u, c.on); got != c.narrow {
			t.Errorf("%s on %s: %t", c.url, c.on.URL, got)
		}
		if got := wide.Takes(u, c.on); got != c.wide {
			t.Errorf("%s on %s, everywhere: %t", c.url, c.on.URL, got)
		}
	}
	if got := narrow.String(); got != "h.example/people/*@onward" {
		t.Errorf("the pattern is called %s", got)
	}
	dates := Pattern{Kind: KindOnward, Host: "h.example", Path: []string{"cal", formDate}}
	for url, want := range map[string]bool{
		"http://h.example/cal/2031/05": true, "http://h.example/cal/1931-05-17": true, "http://h.example/cal?year=2031&month=5": true,
		"http://h.example/cal/2031/05/a-post": false, "http://h.example/2031/05": false, "http://h.example/cal?year=2031&month=5&event=7": false,
	} {
		if dates.Covers(canonical(t, url)) != want {
			t.Errorf("%s: %t", url, !want)
		}
	}
}

// TestPagesWithYieldAreNeverTaken: whatever the addresses and the links, no form is
// judged whose last pages say something.
func TestPagesWithYieldAreNeverTaken(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		formats := []string{"http://h.example/a/%d", "http://h.example/%d", "http://h.example/b?x=%d", "http://h.example/cal/20%02d/05"}
		var pages []Page
		for i := range rapid.IntRange(0, 90).Draw(r, "pages") {
			format := rapid.SampledFrom(formats).Draw(r, "format")
			p := Page{URL: canonicalOrZero(fmt.Sprintf(format, i)), Content: true, ID: int64(i + 1), Finder: int64(rapid.IntRange(0, i+1).Draw(r, "finder"))}
			if rapid.IntRange(0, 3).Draw(r, "what") > 0 {
				p.Said = change.NewWording(prose(60, "page", i))
			} else {
				p.Said = change.NewWording("nothing")
			}
			pages = append(pages, p)
		}
		for _, s := range Suspects(pages) {
			own := 0
			for _, p := range pages {
				if slices.Contains(s.Pages, p.ID) && !p.isEmpty(s.Pattern.Common) {
					own++
				}
			}
			if float64(own) > (1-minEmpty)*float64(len(s.Pages)) {
				r.Fatalf("%s is suspected, and %d of %d pages say something", s.Pattern, own, len(s.Pages))
			}
		}
	})
}

// FuzzForms: any addresses are survived, and each has the form of its family.
func FuzzForms(f *testing.F) {
	f.Add("http://h.example/2031/05\nhttp://h.example/a?b=1&c=2\nhttp://h.example/a?b=1&c=2")
	f.Fuzz(func(t *testing.T, text string) {
		var pages []Page
		seen := map[urlkey.URL]bool{}
		for line := range strings.Lines(text) {
			u := canonicalOrZero(strings.TrimSpace(line))
			if u.IsZero() || seen[u] {
				continue
			}
			seen[u] = true
			pages = append(pages, Page{URL: u, ID: int64(len(pages) + 1), Finder: int64(len(pages)), Said: change.NewWording("")})
		}
		for _, family := range familiesOf(pages) {
			for _, p := range family.pages {
				if !hasForm(p.URL, family.form) {
					t.Errorf("%s has not the form %v", p.URL, family.form)
				}
			}
		}
		Suspects(pages)
	})
}

func TestRepeats(t *testing.T) {
	t.Parallel()
	said := func(text string) Page { return Page{Said: change.NewWording(text)} }
	long := ""
	for i := range 100 {
		long += fmt.Sprintf("word%d is here\n", i)
	}
	counted := said(long)
	counted.Said.Sample = nil
	for name, c := range map[string]struct {
		page, other Page
		want        bool
	}{
		"the same text":                 {said("Nothing is here"), said("Nothing is here"), true},
		"another text":                  {said("Nothing is here"), said("All is there"), false},
		"no text on either":             {said(""), said(""), true},
		"a text where there was none":   {said("Nothing is here"), said(""), false},
		"the same long text":            {said(long), said(long), true},
		"a long text with a word more":  {said(long + "more"), said(long), true},
		"a part of a text":              {said("word1 is here"), said(long), false},
		"a text of as many phrases":     {said(long), counted, true},
		"a text of more phrases":        {said(long + strings.ToUpper(strings.ReplaceAll(long, "word", "other"))), counted, false},
		"a page that has not been read": {Page{}, said("Nothing is here"), false},
		"a finder that is not known":    {said("Nothing is here"), Page{}, false},
	} {
		if got := c.page.Repeats(c.other); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
