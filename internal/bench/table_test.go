package bench

import (
	"math"
	"testing"
)

func TestSpread(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		figures []float64
		want    Spread
		text    string
		noise   float64
	}{
		{nil, Spread{}, "0", 0},
		{[]float64{5}, Spread{5, 5, 5}, "5.00", 1},
		{[]float64{90, 60}, Spread{60, 75, 90}, "75.0 (60.0–90.0)", 1.5},
		{[]float64{300, 100, 120}, Spread{100, 120, 300}, "120 (100–300)", 3},
	} {
		if got := SpreadOf(c.figures...); got != c.want || got.String() != c.text || got.Noise() != c.noise {
			t.Errorf("%v: %+v %q %v", c.figures, got, got, got.Noise())
		}
	}
}

func TestFigure(t *testing.T) {
	t.Parallel()
	for x, want := range map[float64]string{0: "0", 0.954: "0.95", 9.5: "9.50", 12.34: "12.3", 123.4: "123", -0.5: "-0.50", math.Inf(1): Unknown} {
		if got := Figure(x); got != want {
			t.Errorf("%v: %q, want %q", x, got, want)
		}
	}
}

func TestTable(t *testing.T) {
	t.Parallel()
	table := Table{Head: []string{"case", "visits/s"}}
	table.Add("first", "35.0")
	table.Add("a|b", "7.00 (6.00–8.00)")
	if got, want := table.Text(), "case           visits/s\nfirst              35.0\na|b    7.00 (6.00–8.00)\n"; got != want {
		t.Errorf("text:\n%s\nwant:\n%s", got, want)
	}
	if got, want := table.Markdown(), "| case | visits/s |\n| --- | ---: |\n| first | 35.0 |\n| a\\|b | 7.00 (6.00–8.00) |\n"; got != want {
		t.Errorf("Markdown:\n%s\nwant:\n%s", got, want)
	}
}

func TestReplace(t *testing.T) {
	t.Parallel()
	const page = "before\n<!-- x: begin -->\nold\n<!-- x: end -->\nafter\n"
	const want = "before\n<!-- x: begin -->\n\nnew\n\n<!-- x: end -->\nafter\n"
	got, err := Replace(page, "x", "new\n")
	if err != nil || got != want {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
	if again, err := Replace(got, "x", "new\n"); err != nil || again != want {
		t.Errorf("a second time: %q, %v", again, err)
	}
	for _, c := range [][3]string{
		{page, "y", "new"},
		{"<!-- x: end -->\n<!-- x: begin -->\n", "x", "new"},
		{page, "x", "<!-- x: end -->\n"},
	} {
		if got, err := Replace(c[0], c[1], c[2]); err == nil {
			t.Errorf("%q is replaced in %q: %q", c[1], c[0], got)
		}
	}
}
