package change

import "testing"

// A label and what it says may stand in two lines, as in lists and tables of facts.
func TestLabelsInTheLineBefore(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		prev, next string
		noise      bool
	}{
		{"Last updated\n4 January 2026\nFees", "Last updated\n11 February 2026\nFees", true},
		{"Fees\nLast updated:\n4 January 2026", "Fees\nLast updated:\n11 February 2026", true},
		{"Last updated\n4 January 2026 — See all updates", "Last updated\n11 February 2026 — See all updates", true},
		{"Zuletzt aktualisiert\n04.01.2026, 12:30 Uhr", "Zuletzt aktualisiert\n11.02.2026, 14:30 Uhr", true},
		{"最后更新\n2026-01-04", "最后更新\n2026-02-11", true},
		{"Last modified\n\n2026-01-04 10:20", "Last modified\n\n2026-02-11 11:21", true},
		{"Local time\n14:05", "Local time\n16:07", true},
		{"Replies\nnone\nViews\n1,234", "Replies\nnone\nViews\n1,301", true},
		{"Page views:\n1.2k\nFees", "Page views:\n1.3k\nFees", true},
		{"閲覧数\n1,234", "閲覧数\n1,301", true},
		// Something else.
		{"Published\n4 January 2026", "Published\n11 February 2026", false},
		{"Last updated\n4 January 2026\n12 euros", "Last updated\n11 February 2026\n13 euros", false},
		{"Last updated\n4 January 2026, 12 euros", "Last updated\n11 February 2026, 13 euros", false},
		{"Last updated\n4 January 2026 in Oslo", "Last updated\n11 February 2026 in Oslo", false},
		{"Last updated rules\n4 January 2026", "Last updated rules\n11 February 2026", false},
		{"Last update\n3.1.4", "Last update\n3.1.5", false},
		{"Updated\n12 euros", "Updated\n13 euros", false},
		{"Views\n12 euros", "Views\n13 euros", false},
		{"Downloads\n12", "Downloads\n13", false},
		{"1,234\nViews\n12\nSeats left", "1,234\nViews\n11\nSeats left", false},
	} {
		prev, next := Rendering{Text: "Head\n" + c.prev, At: at}, Rendering{Text: "Head\n" + c.next, At: at.AddDate(0, 3, 0)}
		for _, pair := range [][2]Rendering{{prev, next}, {next, prev}} {
			if noise, _ := CompareRenderings(pair[0], pair[1]); noise != c.noise {
				t.Errorf("%q to %q: noise is %v", pair[0].Text, pair[1].Text, noise)
			}
		}
	}
}
