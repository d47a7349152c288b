package sitemap

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"recrawl/internal/urlkey"
)

func TestParseDate(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"2026":                                 "2026-01-01T00:00:00Z",
		"2026-03":                              "2026-03-01T00:00:00Z",
		"2026-03-04":                           "2026-03-04T00:00:00Z",
		"2026-03-04T05:06Z":                    "2026-03-04T05:06:00Z",
		"2026-03-04T05:06+02:00":               "2026-03-04T03:06:00Z",
		"2026-03-04T05:06:07Z":                 "2026-03-04T05:06:07Z",
		"2026-03-04T05:06:07.89-01:30":         "2026-03-04T06:36:07.89Z",
		"2026-03-04t05:06:07z":                 "2026-03-04T05:06:07Z",
		"2026-03-04 05:06:07":                  "2026-03-04T05:06:07Z",
		"2026-03-04 05:06:07 +0100":            "2026-03-04T04:06:07Z",
		"2026-03-04T05:06:07+0100":             "2026-03-04T04:06:07Z",
		"Wed, 04 Mar 2026 05:06:07 GMT":        "2026-03-04T05:06:07Z",
		"Wed, 4 Mar 2026 05:06:07 +0100":       "2026-03-04T04:06:07Z",
		"04 Mar 26 05:06 PDT":                  "2026-03-04T12:06:00Z",
		"Wednesday, 4 March 2026 05:06:07 UT":  "2026-03-04T05:06:07Z",
		"2026-03-04 05:06:07+01":               "2026-03-04T04:06:07Z", // Postgres
		"2026-03-04 05:06:07.89-01:30":         "2026-03-04T06:36:07.89Z",
		"2026-03-04 05:06:07.89 +0100 CET":     "2026-03-04T04:06:07.89Z", // Go
		"2026-03-04 05:06:07 +0000 UTC":        "2026-03-04T05:06:07Z",
		"Wed, 4 Mar 2026 05:06:07 +0000 (UTC)": "2026-03-04T05:06:07Z", // a comment of RFC 5322
		"Wed, 4 Mar 2026 05:06:07 (noon)":      "",
		"2026-03-04 05:06:07 CET CET":          "",
		"0001-01-01T00:00:00Z":                 "", // the zero date of many programs
		"1969-12-31":                           "",
		"yesterday":                            "",
		"May 6, 2024":                          "",
		"6 May, 2024":                          "",
		"":                                     "",
		"2026-13-01":                           "",
		"Wed, 04 Mar 2026 05:06:07 XYZ":        "",
		strings.Repeat("2026 ", 50):            "",
	} {
		got, ok := ParseDate(text)
		if ok != (want != "") || ok && got.Format(time.RFC3339Nano) != want {
			t.Errorf("%q is %s, %t; want %q", text, got.Format(time.RFC3339Nano), ok, want)
		}
	}
}

var readAt = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func listOf(t testing.TB, dates ...time.Time) *List {
	t.Helper()
	l := &List{}
	for i, date := range dates {
		l.keep(Entry{URL: canonical(t, fmt.Sprintf("https://a.test/%d", i)), Modified: date}, len(dates))
	}
	return l
}

func TestBelieve(t *testing.T) {
	t.Parallel()
	ago := func(d time.Duration) time.Time { return readAt.Add(-d) }
	apart := func(n int, from, step time.Duration) (dates []time.Time) {
		for i := range n {
			dates = append(dates, ago(from+time.Duration(i)*step))
		}
		return dates
	}
	same := func(n int) (dates []time.Time) {
		for range n {
			dates = append(dates, ago(time.Hour))
		}
		return dates
	}
	for name, tc := range map[string]struct {
		dates   []time.Time
		dated   int
		dropped map[string]int
	}{
		"true":            {apart(50, time.Hour, time.Hour), 50, nil},
		"none":            {make([]time.Time, 5), 0, nil},
		"all the same":    {same(50), 0, map[string]int{DropDatesEqual: 50}},
		"nearly all":      {append(same(45), apart(5, 2*time.Hour, time.Hour)...), 0, map[string]int{DropDatesEqual: 50}},
		"many the same":   {append(same(44), apart(6, 2*time.Hour, time.Hour)...), 50, nil},
		"two the same":    {same(2), 2, nil},
		"always now":      {apart(50, 0, time.Second), 0, map[string]int{DropDatesNow: 50}},
		"some now":        {append(apart(20, 0, time.Second), apart(20, time.Hour, time.Hour)...), 40, nil},
		"in the future":   {append(apart(5, time.Hour, time.Hour), readAt.Add(25*time.Hour), readAt.Add(1e6*time.Hour)), 5, map[string]int{DropFuture: 2}},
		"future and past": {apart(5, -28*time.Hour, time.Hour), 1, map[string]int{DropFuture: 4}},
	} {
		l := listOf(t, tc.dates...)
		l.Believe(readAt)
		if l.Dated() != tc.dated || !maps.Equal(l.Dropped, tc.dropped) {
			t.Errorf("%s: %d dated, dropped %v; want %d, %v", name, l.Dated(), l.Dropped, tc.dated, tc.dropped)
		}
		for _, e := range l.Entries {
			if e.Modified.After(readAt.Add(future)) {
				t.Errorf("%s: %s is in the future", name, e.Modified)
			}
		}
	}
}

// Dates that are ahead of us are the same at each reading. A day may have begun elsewhere.
func TestDatesAhead(t *testing.T) {
	t.Parallel()
	day, hour := readAt.Add(12*time.Hour), readAt.Add(13*time.Hour)
	want := []time.Time{readAt.Add(-2 * time.Hour), hour}
	for _, at := range []time.Time{readAt, readAt.Add(11 * time.Hour)} {
		l := listOf(t, day, hour)
		l.Entries[1].Timed = true
		l.Believe(at)
		for i, e := range l.Entries {
			if !e.Modified.Equal(want[i]) {
				t.Errorf("read at %s: %s, want %s", at, e.Modified, want[i])
			}
		}
	}
}

// The date of the newest entry tells when a list changed if it has a time of day.
func TestNewest(t *testing.T) {
	t.Parallel()
	const noon = "2026-03-02T12:00:05Z"
	for name, tc := range map[string]struct{ dates, want string }{
		"RFC 3339":              {"2026-03-01T10:00:00+01:00 " + noon, noon},
		"RFC 822":               {"Sun,_01_Mar_2026_10:00:00_GMT Mon,_02_Mar_2026_12:00:05_GMT", noon},
		"without seconds":       {"2026-03-02T12:07Z", "2026-03-02T12:07:00Z"},
		"none":                  {"", ""},
		"no dates":              {"- -", ""},
		"days":                  {"2026-03-01 2026-03-02", ""},
		"the day is newer":      {noon + " 2026-03-03", ""},
		"the day is older":      {"2026-03-01 " + noon, noon},
		"midnight is a day":     {"Mon,_02_Mar_2026_00:00:00_+0100", ""},
		"midnight, W3C":         {"2026-03-02T00:00:00.000+01:00", ""},
		"midnight in UTC only":  {"2026-03-02T01:00:00+01:00", "2026-03-02T00:00:00Z"},
		"a year and a month":    {"2026 2026-03", ""},
		"one that is no date":   {noon + " yesterday", noon},
		"a day, and its minute": {"2026-03-02 2026-03-02T00:01:00Z", "2026-03-02T00:01:00Z"},
	} {
		l := &List{}
		for i, date := range strings.Fields(tc.dates) {
			l.add(urlkey.NewBase(canonical(t, "https://a.test/")), found{href: fmt.Sprint(i), date: strings.ReplaceAll(strings.Trim(date, "-"), "_", " ")}, 10)
		}
		got := ""
		if newest := l.Newest(); !newest.IsZero() {
			got = newest.UTC().Format(time.RFC3339)
		}
		if got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

func TestTrusted(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		Record
		want bool
	}{
		{Record{0, 0}, true},
		{Record{0, 1}, true},
		{Record{0, 2}, false},
		{Record{1, 3}, true},
		{Record{1, 4}, false},
		{Record{10, 20}, true},
		{Record{10, 22}, false},
		{Record{100, 0}, true},
	} {
		if tc.Trusted() != tc.want {
			t.Errorf("%+v: %t", tc.Record, tc.Trusted())
		}
	}
}

// knownPages draws pages that a list reports as changed.
func knownPages(t *rapid.T) []Known {
	n := rapid.IntRange(0, 300).Draw(t, "pages")
	known := make([]Known, n)
	for i := range known {
		last := readAt.Add(-time.Duration(rapid.IntRange(1, 100).Draw(t, "ago")) * time.Hour)
		known[i] = Known{
			PageID: int64(i + 1), Visit: rapid.IntRange(1, 50).Draw(t, "visit"), LastAt: last,
			Modified: last.Add(time.Duration(rapid.IntRange(1, 30).Draw(t, "after")) * time.Hour), NextAt: readAt.Add(time.Duration(rapid.IntRange(-10, 200).Draw(t, "next")) * time.Hour),
			Min: time.Duration(rapid.IntRange(0, 48).Draw(t, "min")) * time.Hour, Moved: rapid.IntRange(0, 9).Draw(t, "moved") == 0,
		}
	}
	return known
}

func TestChoose(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		known := knownPages(t)
		r := Record{rapid.IntRange(0, 20).Draw(t, "hits"), rapid.IntRange(0, 20).Draw(t, "misses")}
		listed := len(known) + rapid.IntRange(0, 20_000).Draw(t, "others")
		hints, skipped := Choose(known, r, listed, readAt)
		all := len(hints)
		for _, n := range skipped {
			all += n
		}
		if all != len(known) {
			t.Fatalf("%d hints and %v of %d pages", len(hints), skipped, len(known))
		}
		if r.Trusted() && skipped[SkipUntrusted] > 0 {
			t.Fatalf("%d hints are not followed, though %+v is trusted", skipped[SkipUntrusted], r)
		}
		if most := max(pulledLeast, listed/20+1); len(hints) > max(0, min(most, pulledMost)-skipped[SkipMoved]) {
			t.Fatalf("%d of %d pages are moved", len(hints), listed)
		}
		for i, h := range hints {
			if h.Due.Before(readAt) || h.Due.Before(h.LastAt.Add(h.Min)) || h.Due.Before(h.Modified) || !h.Due.Before(h.NextAt) {
				t.Fatalf("due %s: %+v", h.Due, h.Known)
			}
			if h.Moved {
				t.Fatal("moved twice")
			}
			if i > 0 && h.Modified.After(hints[i-1].Modified) {
				t.Fatal("an older date comes first")
			}
			if !r.Trusted() && !h.proves() {
				t.Fatalf("followed though %+v is not trusted", r)
			}
		}
	})
}

// About one in ten hints of an untrusted source is followed, and never the same
// pages for ever.
func TestChooseLetsAnySourceProveItself(t *testing.T) {
	t.Parallel()
	followed, pages := 0, map[int64]bool{}
	for visit := range 100 {
		for id := range int64(100) {
			if (Known{PageID: id, Visit: visit}).proves() {
				followed++
				pages[id] = true
			}
		}
	}
	if followed < 800 || followed > 1200 || len(pages) < 95 {
		t.Errorf("%d of 10000 hints are followed, of %d of 100 pages", followed, len(pages))
	}
}
