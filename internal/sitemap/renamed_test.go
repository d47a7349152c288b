package sitemap

import (
	"testing"
	"time"
)

func TestRenamed(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 29, 6, 0, 0, 0, time.UTC)
	readings := func(n, lists int, apart time.Duration, change func(reading, list int, c *Child)) []Child {
		var all []Child
		for r := range n {
			for l := range lists {
				c := Child{Found: now.Add(-time.Duration(r)*apart - apart).Add(-time.Duration(l) * time.Millisecond), Visited: true}
				change(r, l, &c)
				all = append(all, c)
			}
		}
		return all
	}
	none := func(int, int, *Child) {}
	for name, c := range map[string]struct {
		children []Child
		want     bool
	}{
		"nothing is known":              {nil, false},
		"renamed at each reading":       {readings(4, 50, time.Hour, none), true},
		"and before that it was useful": {readings(5, 50, time.Hour, func(r, _ int, c *Child) { c.Brought = r / 4 }), true},
		"renamed three times":           {readings(3, 50, time.Hour, none), false},
		"a huge index, read once":       {readings(1, 50_000, time.Hour, none), false},
		"renamed once a month":          {readings(9, 50, 28*24*time.Hour, none), false},
		"a new list a day, all named":   {readings(30, 1, 24*time.Hour, func(_, _ int, c *Child) { c.Named = true }), false},
		"the newest is still named":     {readings(9, 5, time.Hour, func(r, l int, c *Child) { c.Named = r == 0 && l == 0 }), false},
		"one of the last brought news":  {readings(9, 50, time.Hour, func(r, l int, c *Child) { c.Brought = max(0, r*l-3*49+1) }), false},
		"not visited yet":               {readings(9, 50, time.Hour, func(r, _ int, c *Child) { c.Visited = r > 6 }), false},
	} {
		if got := Renamed(c.children, now); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
