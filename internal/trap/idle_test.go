package trap

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// visitedAt are visited pages; says names what each says, "" for one that waits.
type visitedAt struct {
	url, says string
	finder    int64
	fresh     bool // not compared yet
}

// visited makes pages, each of which copies the first that says the same.
func visited(t testing.TB, at []visitedAt) []Page {
	t.Helper()
	first := map[string]int64{}
	var pages []Page
	for i, v := range at {
		p := Page{URL: canonical(t, "http://h.example"+v.url), ID: int64(i + 1), Finder: v.finder, Waits: v.says == "", Content: v.says != "", Compared: v.says != "" && !v.fresh}
		if p.Content {
			p.Of = first[v.says]
			if p.Copy = p.Of != 0; !p.Copy {
				first[v.says] = p.ID
			}
		}
		pages = append(pages, p)
	}
	return pages
}

// story is the path of the i-th page of a site whose paths are names.
func story(i int) string {
	return "/news/" + strings.ToLower(firstNames[i%26]+"-"+lastNames[i%24]) + "/"
}

// twins are pages with a text each, and the same under other addresses: extra makes the part
// after the path of the k-th of them.
func twins(stories, each int, extra func(i, k int) string) []visitedAt {
	var at []visitedAt
	for i := range stories {
		at = append(at, visitedAt{url: story(i), says: story(i)})
		for k := range each {
			at = append(at, visitedAt{url: story(i) + extra(i, k), says: story(i)})
		}
	}
	return append(at, visitedAt{url: story(stories)}, visitedAt{url: story(stories) + extra(stories, 0)}, visitedAt{url: story(stories) + extra(stories, 1)})
}

// spelled are pages that also have another spelling each.
func spelled(other func(path string) string) []visitedAt {
	var at []visitedAt
	for i := range 21 {
		path := strings.TrimSuffix(story(i), "/")
		says := path
		if i == 20 {
			says = ""
		}
		at = append(at, visitedAt{url: path, says: says}, visitedAt{url: other(path), says: says})
	}
	return at
}

func TestIdleParameters(t *testing.T) {
	t.Parallel()
	print1 := func(int, int) string { return "?print=1" }
	campaign := func(i, k int) string { return fmt.Sprintf("?utm_source=s%d&utm_content=c%d&utm_medium=mail", k, i) }
	for name, c := range map[string]struct {
		at   []visitedAt
		held []string
	}{
		"print views":            {twins(20, 1, print1), []string{"/?print=1"}},
		"too few":                {twins(19, 1, print1), nil},
		"where a reader is from": {twins(12, 2, campaign), []string{"/?utm_content=*", "/?utm_medium=mail", "/?utm_source=s0", "/?utm_source=s1"}},
		"many values":            {twins(10, 2, func(i, k int) string { return fmt.Sprintf("?ref=%d", 10*i+k) }), []string{"/?ref=*"}},
		"few values":             {twins(20, 2, func(_, k int) string { return fmt.Sprintf("?size=%d", k) }), []string{"/?size=0", "/?size=1"}},
		"a name alone":           {twins(20, 1, func(int, int) string { return "?amp" }), []string{"/?amp="}},
		"few paths":              {append(twins(9, 4, func(i, k int) string { return fmt.Sprintf("?ref=%d", 10*i+k) }), visitedAt{url: "/x?ref=7"}), nil},
		"without a page": {slices.DeleteFunc(twins(12, 3, func(i, k int) string { return fmt.Sprintf("?ref=%d", 10*i+k) }), func(v visitedAt) bool {
			return !strings.Contains(v.url, "?")
		}), []string{"/?ref=*"}},
		"one value chooses": {append(twins(20, 2, func(_, k int) string { return []string{"?lang=en", "?lang=xx"}[k] }),
			visitedAt{url: "/a", says: "a"}, visitedAt{url: "/a?lang=de", says: "b"}, visitedAt{url: "/a?lang=xx", says: "c"}), []string{"/?lang=en"}},
		"it chooses elsewhere": {append(twins(20, 2, func(i, k int) string { return fmt.Sprintf("?page=%d", 10*i+k) }),
			visitedAt{url: "/list", says: "a"}, visitedAt{url: "/list?page=2", says: "b"}), nil},
		"beside one that chooses": {append(twins(20, 1, print1), visitedAt{url: "/list?page=1", says: "a"}, visitedAt{url: "/list?page=2&print=1", says: "b"}), []string{"/?print=1"}},
		"a page was edited":       {append(twins(25, 1, print1), visitedAt{url: "/x", says: "a"}, visitedAt{url: "/x?print=1", says: "b"}), []string{"/?print=1"}},
		"slashes at the end":      {spelled(func(path string) string { return path + "/" }), []string{" slash at the end"}},
		"slashes that relative links need": {func() []visitedAt {
			at := spelled(func(path string) string { return path + "/" })
			for i, v := range at {
				if strings.HasSuffix(v.url, "/") && v.says != "" {
					at = append(at, visitedAt{url: v.url + "part", says: v.url + "part", finder: int64(i + 1)})
				}
			}
			return at
		}(), nil},
		"names of indexes": {spelled(func(path string) string { return path + "/index.html" }), []string{" name of an index", " slash at the end"}},
		"doubled slashes":  {spelled(func(path string) string { return strings.Replace(path, "/", "//", 2) }), []string{" doubled slashes"}},
		"capitals":         {spelled(func(path string) string { return "/News" + path[5:] }), []string{" capitals", "/News"}},
		"orders of parameters": {slices.DeleteFunc(twins(20, 2, func(i, k int) string {
			return fmt.Sprintf([]string{"?a=%d&b=1", "?b=1&a=%d"}[k], i)
		}), func(v visitedAt) bool { return !strings.Contains(v.url, "?") }), []string{" order of parameters"}},
		"spellings that choose": {append(spelled(func(path string) string { return path + "/" }),
			visitedAt{url: "/x", says: "a"}, visitedAt{url: "/x/", says: "b"}), nil},
		"a page was not compared yet": {append(twins(20, 1, print1), visitedAt{url: "/x", says: "a"}, visitedAt{url: "/x?print=1", says: "b", fresh: true}), []string{"/?print=1"}},
		"pages of an album": {func() []visitedAt {
			at := twins(20, 8, func(i, k int) string { return fmt.Sprintf("?photo=%d", 10*i+k) })
			for i := range at {
				at[i].finder = 5000
			}
			return at
		}(), nil},
		"each leads to the next": {func() []visitedAt {
			at := twins(20, 4, func(_, k int) string { return fmt.Sprintf("?photo=%d", k) })
			for i := 1; i < len(at); i++ {
				at[i].finder = int64(i)
			}
			return at
		}(), nil},
		"only the first visited leads to other pages": {func() []visitedAt {
			at := twins(20, 1, print1)
			for i, v := range at {
				if strings.Contains(v.url, "?") && v.says != "" {
					at = append(at, visitedAt{url: fmt.Sprintf("/picture/%d", i), says: fmt.Sprint(i), finder: int64(i + 1)})
				}
			}
			return at
		}(), []string{"/?print=1"}},
		"lists that lead to other pages": {func() []visitedAt {
			at := twins(20, 2, func(_, k int) string { return fmt.Sprintf("?page=%d", k+2) })
			for i, v := range at {
				if v.says != "" {
					at = append(at, visitedAt{url: fmt.Sprintf("/picture/%d", i), says: fmt.Sprint(i), finder: int64(i + 1)})
				}
			}
			return at
		}(), nil},
	} {
		var held []string
		for _, f := range Look(visited(t, c.at), year, nil) {
			held = append(held, strings.TrimPrefix(f.Pattern.String(), "h.example"))
			if f.Reason != ReasonIdle && f.Pattern.String() != "h.example/News" {
				t.Errorf("%s: %+v", name, f)
			}
		}
		slices.Sort(held)
		if !slices.Equal(held, c.held) {
			t.Errorf("%s: held %v, want %v", name, held, c.held)
		}
	}
}

func TestWithout(t *testing.T) {
	t.Parallel()
	patterns := []Pattern{{Kind: KindIdle, Host: "h.example", Param: "ref"}, {Kind: KindIdle, Host: "h.example", Param: "print=1"}, {Kind: KindIdle, Host: "g.example", Param: "x"}}
	for _, twin := range []string{twinSlash + "=", twinIndex + "=", twinDouble + "=", twinCase} {
		patterns = append(patterns, Pattern{Kind: KindIdle, Host: "s.example", Param: twin})
	}
	for raw, want := range map[string]struct {
		base  string
		first int
	}{
		"http://h.example/a?ref=3":             {"http://h.example/a", 0},
		"http://h.example/a?REF=3&id=2":        {"http://h.example/a?id=2", 0},
		"http://h.example/a?id=2&print=1":      {"http://h.example/a?id=2", 1},
		"http://h.example/a?print=1&ref":       {"http://h.example/a", 1},
		"http://h.example/a?print=2":           {"http://h.example/a?print=2", -1},
		"http://h.example/a?x=1":               {"http://h.example/a?x=1", -1},
		"http://g.example/a?x=1&y=2&ref=1":     {"http://g.example/a?y=2&ref=1", 2},
		"http://h.example/a?reference=1&ref[]": {"http://h.example/a?reference=1&ref[]", -1},
		"http://s.example/a/":                  {"http://s.example/a", 3},
		"http://s.example/a/index.html?x":      {"http://s.example/a?x", 4},
		"http://s.example//A//b":               {"http://s.example/a/b", 6},
		"http://s.example/?b&a":                {"http://s.example/?b&a", -1},
		"http://s.example/":                    {"http://s.example/", -1},
		"http://s.example/%C3%9C":              {"http://s.example/%C3%9C", -1},
	} {
		base, first := Without(canonical(t, raw), patterns)
		if base != canonical(t, want.base) || first != want.first {
			t.Errorf("%s: %s by %d, want %s by %d", raw, base, first, want.base, want.first)
		}
		if got := slices.ContainsFunc(patterns, func(p Pattern) bool { return p.Covers(canonical(t, raw)) }); got != (first >= 0) {
			t.Errorf("%s is covered: %v", raw, got)
		}
	}
}

// TestManyParameters: addresses may have thousands of parameters. Each pair of pages was compared in the
// square of their number, and that many differences of each were kept: it would take hours and gigabytes.
func TestManyParameters(t *testing.T) {
	t.Parallel()
	for name, param := range map[string]func(page, i int) string{
		"names":  func(_, i int) string { return fmt.Sprintf("p%d=1", i) },
		"values": func(page, i int) string { return fmt.Sprintf("p=%d", page+i) },
		"own":    func(page, i int) string { return fmt.Sprintf("p%d_%d", page, i) },
	} {
		at := twins(20, 3, func(_, k int) string { return fmt.Sprintf("?ref=%d", k) })
		for i := range 320 {
			var params []string
			for k := range 900 {
				params = append(params, param(i, k))
			}
			at = append(at, visitedAt{url: fmt.Sprintf("/long/%d?%s", i%5, strings.Join(params, "&")), says: fmt.Sprint(i), finder: 1})
		}
		pages := visited(t, at)
		for i := range pages {
			pages[i].Said.Known = true
		}
		idle := slices.ContainsFunc(Look(pages, year, nil), func(f Finding) bool { return f.Reason == ReasonIdle && strings.HasPrefix(f.Pattern.Param, "ref") })
		if Suspects(pages); !idle {
			t.Errorf("%s: what other addresses show is not found", name)
		}
	}
}
