package activities

import (
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
