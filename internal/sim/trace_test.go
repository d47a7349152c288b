package sim

import (
	"math"
	"strings"
	"testing"
	"time"
)

// at is a Unix time as a day of 1970.
func dayTime(day float64) string { return time.Unix(int64(day*86400), 0).UTC().Format(time.DateTime) }

const traceChanges = `page,change_unix_time
docs/a,0
docs/a,86400
docs/a,172800
docs/a,172800
"with, commas",43200
b,864000
b,950400
only-born,86400
`

const tracePages = `page,birth,death,changes
docs/a,0,,2
"with, commas",43200,129600,0
b,864000,1036800,1
only-born,86400,,0
`

func TestReadTrace(t *testing.T) {
	t.Parallel()
	trace, err := ReadTrace("t", strings.NewReader(traceChanges), strings.NewReader(tracePages))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range trace.Pages {
		line := p.Name + " from " + p.Birth.Format(time.DateTime)
		if !p.Death.IsZero() {
			line += " to " + p.Death.Format(time.DateTime)
		}
		for _, c := range p.Changes {
			line += " change " + c.Format(time.DateTime)
		}
		got = append(got, line)
	}
	want := []string{
		`"with, commas" from ` + dayTime(.5) + " to " + dayTime(1.5),
		"b from " + dayTime(10) + " to " + dayTime(12) + " change " + dayTime(11),
		"docs/a from " + dayTime(0) + " change " + dayTime(1) + " change " + dayTime(2),
		"only-born from " + dayTime(1),
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if trace.First.Unix() != 0 || trace.Last.Unix() != 12*86400 {
		t.Errorf("from %s to %s", trace.First, trace.Last)
	}
}

// Without births and deaths the first line of a page is its birth, and a header
// is not needed.
func TestReadTraceAlone(t *testing.T) {
	t.Parallel()
	trace, err := ReadTrace("t", strings.NewReader("a,100\r\na,50\r\n\r\nb,70.5\r\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(trace.Pages); n != 2 || trace.Pages[0].Birth.Unix() != 50 || len(trace.Pages[0].Changes) != 1 || !trace.Pages[0].Death.IsZero() {
		t.Errorf("%+v", trace.Pages)
	}
}

func TestReadTraceMistakes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ changes, pages, want string }{
		{"", "", "has no pages"},
		{"page,time\n", "", "has no pages"},
		{"page,time\na\n", "", "line 2: too few fields"},
		{"page,time\na,1\nb,yesterday\n", "", `line 3: "yesterday" is not a Unix time`},
		{"a,1\n", "page,birth,death,changes\na,1,soon,0\n", `pages of trace t: line 2: "soon" is not a Unix time`},
		{"a,1\n", "page,birth,death,changes\na,1\n", "too few fields"},
	} {
		if _, err := ReadTrace("t", strings.NewReader(c.changes), strings.NewReader(c.pages)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q, %q: %v, want %q", c.changes, c.pages, err, c.want)
		}
	}
}

func TestTraceWorld(t *testing.T) {
	t.Parallel()
	trace, err := ReadTrace("t", strings.NewReader(traceChanges), strings.NewReader(tracePages))
	if err != nil {
		t.Fatal(err)
	}
	// From day 1 to day 11: the first page is there from the start, one dies, one is
	// born; changes on the first and last moment are not seen.
	w, err := trace.World(Cut{Start: time.Unix(86400, 0), Days: 10, Weights: "equal", Grouping: Folders})
	if err != nil {
		t.Fatal(err)
	}
	if len(w.Pages) != 4 || w.Hosts != 2 || w.Stationary {
		t.Fatalf("%d pages on %d hosts", len(w.Pages), w.Hosts)
	}
	for i, want := range []Page{
		{Name: `"with, commas"`, Birth: 0, Death: 0.5, Weight: 1},
		{Name: "b", Birth: 9, Death: 11, Weight: 1},
		{Name: "docs/a", Host: 1, Birth: 0, Death: math.Inf(1), Weight: 1, Rate: 0.1, Changes: []float64{1}},
		{Name: "only-born", Birth: 0, Death: math.Inf(1), Weight: 1},
	} {
		got := w.Pages[i]
		if got.Name != want.Name || got.Host != want.Host || got.Birth != want.Birth || got.Death != want.Death || got.Rate != want.Rate ||
			got.Weight != want.Weight || len(got.Changes) != len(want.Changes) {
			t.Errorf("page %d: %+v, want %+v", i, got, want)
		}
	}
	if _, err := trace.World(Cut{Start: time.Unix(-100*86400, 0), Days: 10}); err == nil || !strings.Contains(err.Error(), "no page lives") {
		t.Errorf("a time without pages: %v", err)
	}
}
