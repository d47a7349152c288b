package extract

import (
	"runtime"
	"strings"
	"testing"
)

func TestHeaders(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		source Source
		body   string
		want   string // kind, relations and address of each link
	}{
		"refresh":               {source: Source{Refresh: "0; url=/x"}, want: "meta-refresh  /x"},
		"quoted":                {source: Source{Refresh: "3;URL='x?a=1;b'"}, want: "meta-refresh  /dir/x?a=1;b"},
		"a base":                {source: Source{Refresh: "0;url=x", Links: []string{"<y>; rel=next"}}, body: "<base href=/b/>", want: "meta-refresh  /b/x, link next /dir/y"},
		"that only reloads":     {source: Source{Refresh: "30"}},
		"to itself":             {source: Source{Refresh: "30; url=" + self}},
		"links":                 {source: Source{Links: []string{`</2>; rel="next",</0> ; title="a, <b>; \"c" ; REL = Prev`, "<https://example.com/x>;rel=canonical"}}, want: "link next /2, link prev /0, link canonical /x"},
		"after those of a page": {source: Source{Links: []string{"</2>; rel=next"}}, body: "<a href=/1></a><a href=/2></a>", want: "a  /1, a  /2"},
		"other relations":       {source: Source{Links: []string{"</a.css>; rel=preload; as=style, </i>; rel=icon, </j>, </wp-json/>; rel=\"https://api.w.org/\""}}},
		"another type":          {source: Source{Links: []string{`</p.json>; rel="alternate"; type="application/json"`}}},
		"of another page":       {source: Source{Links: []string{`</2>; rel=next; anchor="/other"`}}},
		"the first relation":    {source: Source{Links: []string{"</2>; rel=preload; rel=next"}}},
		"broken":                {source: Source{Links: []string{"</1; rel=next", "x, </2>; rel=next; ;; =, </3>; x; rel=\"next", ",,", "<", "</4>; rel=next x,</5>;rel=prev"}}, want: "link next /2, link next /3, link next x /4, link prev /5"},
	} {
		for shape, wrap := range map[string]func(string) string{"tree": strings.TrimSpace, "flat": deep} {
			t.Run(name+" "+shape, func(t *testing.T) {
				src := tc.source
				src.Body, src.ContentType, src.URL = []byte(wrap(tc.body)), "text/html", mustURL(t, self)
				page, err := Parse(src, Rules{})
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				for _, l := range page.Links {
					got = append(got, string(l.Kind)+" "+l.Rel+" "+strings.TrimPrefix(l.URL, "https://example.com"))
				}
				if got := strings.Join(got, ", "); got != tc.want {
					t.Errorf("got %q, want %q", got, tc.want)
				}
				if name == "links" && page.Canonical != "https://example.com/x" {
					t.Errorf("canonical %q", page.Canonical)
				}
			})
		}
	}
}

// TestHostileHeaders: headers of a hostile server take memory in proportion to their size.
func TestHostileHeaders(t *testing.T) {
	const size = 200_000
	for _, value := range []string{"<x>; rel=next,", "<", ";", "<>;", `<x>;a="`, `<x>;a="\\"`, ","} {
		src := Source{ContentType: "text/html", URL: mustURL(t, self), Links: []string{strings.Repeat(value, size/len(value))}}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Parse(src, Rules{})
		runtime.ReadMemStats(&after)
		used := after.TotalAlloc - before.TotalAlloc
		if t.Logf("%q: %d KiB", value, used>>10); err != nil || used > 1000*size {
			t.Errorf("%q: %v, too much", value, err)
		}
	}
}
