package activities

import (
	"net/http"
	"testing"
	"time"

	"recrawl/internal/contract"
	"recrawl/internal/fetch"
	"recrawl/internal/store"
)

func TestConditions(t *testing.T) {
	t.Parallel()
	const date = "Sat, 21 Nov 2026 10:00:00 GMT"
	at := httpTime(date)
	for name, c := range map[string]struct {
		page        store.PageRecord
		now         time.Time
		etag, since string
	}{
		"both":                   {store.PageRecord{ETag: `"1"`, LastModified: date}, at, `"1"`, date},
		"after a failure":        {store.PageRecord{ETag: `"1"`, LastModified: date, Failures: 1}, at, "", ""},
		"a date ahead of us":     {store.PageRecord{ETag: `"1"`, LastModified: date}, at.Add(-time.Second), `"1"`, ""},
		"a date that is no date": {store.PageRecord{LastModified: "yesterday"}, at, "", "yesterday"},
	} {
		if etag, since := conditions(c.page, c.now); etag != c.etag || since != c.since {
			t.Errorf("%s: %q, %q", name, etag, since)
		}
	}
}

// A date counts by the clock of the site, unless that must be wrong.
func TestRetryAfterByWhichClock(t *testing.T) {
	t.Parallel()
	now := time.Now()
	at := func(ahead time.Duration) string { return now.Add(ahead).UTC().Format(http.TimeFormat) }
	for name, c := range map[string]struct {
		header, date string
		want         time.Duration
	}{
		"no clock":                             {at(time.Hour), "", time.Hour},
		"no date of a clock":                   {at(time.Hour), "now", time.Hour},
		"an hour ahead":                        {at(2 * time.Hour), at(time.Hour), time.Hour},
		"an hour behind":                       {at(-30 * time.Minute), at(-time.Hour), 30 * time.Minute},
		"of 1970, and so is the date":          {"Thu, 01 Jan 1970 02:00:00 GMT", "Thu, 01 Jan 1970 01:00:00 GMT", time.Hour},
		"of 1970, but a person wrote the date": {at(time.Hour), "Thu, 01 Jan 1970 01:00:00 GMT", time.Hour},
		"years ahead, but not the date":        {at(time.Hour), at(5 * 8760 * time.Hour), time.Hour},
		"years ahead, both":                    {at(5*8760*time.Hour + time.Hour), at(5 * 8760 * time.Hour), time.Hour},
		"the date is over":                     {at(-time.Hour), at(0), 0},
		"seconds":                              {"120", "Thu, 01 Jan 1970 01:00:00 GMT", 2 * time.Minute},
		"nothing":                              {"", at(0), 0},
	} {
		got, ok := retryAfter(fetch.Result{RetryAfter: c.header, Date: c.date})
		if (got-c.want).Abs() > time.Minute || ok != (c.want > 0) {
			t.Errorf("%s: %s, %t; want %s", name, got, ok, c.want)
		}
	}
}

func TestRefresh(t *testing.T) {
	t.Parallel()
	const old, later = "Sat, 21 Nov 2026 10:00:00 GMT", "Sat, 21 Nov 2026 11:00:00 GMT"
	type validators struct{ etag, modified string }
	cases := map[string]struct {
		ours, answer, want validators
	}{
		"nothing repeated":               {validators{`"1"`, old}, validators{}, validators{`"1"`, old}},
		"the same":                       {validators{`"1"`, old}, validators{`"1"`, old}, validators{`"1"`, old}},
		"weak now":                       {validators{`"1"`, old}, validators{`W/"1"`, ""}, validators{`W/"1"`, old}},
		"strong now":                     {validators{`W/"1"`, ""}, validators{`"1"`, old}, validators{`"1"`, old}},
		"unquoted":                       {validators{`1`, ""}, validators{`"1"`, ""}, validators{`"1"`, ""}},
		"the same touched":               {validators{`"1"`, old}, validators{`"1"`, later}, validators{`"1"`, later}},
		"without the coding":             {validators{`"1-gzip"`, ""}, validators{`"1"`, ""}, validators{`"1"`, ""}},
		"another coding":                 {validators{`"1--gzip"`, ""}, validators{`W/"1;br"`, ""}, validators{`W/"1;br"`, ""}},
		"no coding, a name":              {validators{`"a"`, ""}, validators{`"abr"`, ""}, validators{}},
		"of only a coding":               {validators{`"gzip"`, ""}, validators{`"br"`, ""}, validators{}},
		"another version":                {validators{`"1"`, old}, validators{`"2"`, old}, validators{}},
		"another version, no date":       {validators{`"1"`, ""}, validators{`W/"2"`, ""}, validators{}},
		"later":                          {validators{"", old}, validators{"", later}, validators{}},
		"earlier":                        {validators{"", later}, validators{"", old}, validators{}},
		"later, of an unknown tag":       {validators{"", old}, validators{`"2"`, later}, validators{}},
		"a tag that our version had not": {validators{"", old}, validators{`"2"`, ""}, validators{"", old}},
		"a date that it had not":         {validators{`"1"`, ""}, validators{"", old}, validators{`"1"`, old}},
	}
	for name, c := range cases {
		page := store.PageRecord{ETag: c.ours.etag, LastModified: c.ours.modified}
		var out contract.FetchOut
		refresh(&out, page, fetch.Result{ETag: c.answer.etag, LastModified: c.answer.modified})
		if got := (validators{out.ETag, out.LastModified}); got != c.want || out.Validators != (got != c.ours) {
			t.Errorf("%s: %+v, changed %t; want %+v", name, got, out.Validators, c.want)
		}
		if another := c.want == (validators{}); out.Doubted != another {
			t.Errorf("%s: doubted %t, want %t", name, out.Doubted, another)
		}
	}
}
