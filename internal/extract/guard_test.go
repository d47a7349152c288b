package extract

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"recrawl/internal/urlkey"
)

func TestTooCostly(t *testing.T) {
	t.Parallel()
	var fonts strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&fonts, "<font size=%d>", i) // no two alike, or only three would count
	}
	for _, c := range []struct {
		name, body string
		costly     bool
	}{
		{"nothing", "", false},
		{"plain", "<p>a<p>b", false},
		{"an old page", strings.Repeat("<font color=red>x<p>", 300), false},
		{"formatting that is closed", strings.Repeat("<p><b>x</b>", 100_000), false},
		{"paragraphs in open formatting", fonts.String() + strings.Repeat("<p>x", 10_000), true},
		{"many tags", strings.Repeat("<br>", maxTokens+1), true},
		{"bodies with attributes", manyBodies(3000), true},
	} {
		if got := tooCostly([]byte(c.body)); got != c.costly {
			t.Errorf("%s: %v, want %v", c.name, got, c.costly)
		}
	}
}

func manyBodies(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "<body a%d>", i)
	}
	return b.String()
}

func manyLinks(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "<a href=%d>x</a>", i)
	}
	return b.String()
}

// Hostile pages take memory in proportion to their size: about sixty times.
func TestMemoryOfHostilePages(t *testing.T) { // not parallel: it reads the process's counters
	const size = 100 << 10
	base, err := urlkey.Canonical("http://localhost/")
	if err != nil {
		t.Fatal(err)
	}
	var fonts strings.Builder
	for i := 0; fonts.Len() < size/2; i++ {
		fmt.Fprintf(&fonts, "<font size=%d>", i)
	}
	for name, body := range map[string]string{
		"paragraphs in open formatting": fonts.String() + strings.Repeat("<p>x", size/8),
		"links in open formatting":      fonts.String() + strings.Repeat("<p><a href=x>y", size/28),
		"bodies with attributes":        manyBodies(size / 12),
		"links below a long base":       "<base href=/" + strings.Repeat("a", 8<<10) + "/>" + manyLinks(size/16),
		"tags":                          strings.Repeat("<br>", size/4),
		"cells":                         "<table>" + strings.Repeat("<td>", size/4),
		"attributes":                    "<p" + strings.Repeat(" a=1", size/4) + ">",
	} {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		if _, err := Parse(Source{Body: []byte(body), ContentType: "text/html", URL: base}, Rules{}); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		// All that was ever allocated, so more than was in use at a time.
		if total := after.TotalAlloc - before.TotalAlloc; total > 60<<20 {
			t.Errorf("%s: %d KiB of page took %d MiB", name, len(body)>>10, total>>20)
		}
	}
}
