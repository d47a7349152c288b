package polite

import (
	"math"
	"net/http"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestParseRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(1994, 11, 6, 8, 49, 0, 0, time.UTC)
	tests := map[string]struct {
		want time.Duration
		ok   bool
	}{
		"120":                               {120 * time.Second, true},
		" 120 ":                             {120 * time.Second, true},
		"0":                                 {0, true},
		"007":                               {7 * time.Second, true},
		"99999999999999999999":              {math.MaxInt64, true},
		"9223372037":                        {math.MaxInt64, true},
		"Sun, 06 Nov 1994 08:49:37 GMT":     {37 * time.Second, true},
		"Sun, 6 Nov 1994 08:49:37 GMT":      {37 * time.Second, true},
		"Sun, 6 Nov 1994 09:49:37 +0100":    {37 * time.Second, true},
		"Sunday, 06-Nov-94 08:49:37 GMT":    {37 * time.Second, true},
		"Sun Nov  6 08:49:37 1994":          {37 * time.Second, true},
		"Sun, 06 Nov 1994 08:00:00 GMT":     {0, false},
		"Sun, 06 Nov 1994 08:49:00 GMT":     {0, false},
		"":                                  {0, false},
		"-1":                                {0, false},
		"+1":                                {0, false},
		"1.5":                               {2 * time.Second, true},
		"99999999999999999999.5":            {math.MaxInt64, true},
		"60.0":                              {time.Minute, true},
		"0.0":                               {0, true},
		"1.":                                {0, false},
		".5":                                {0, false},
		"1.5.5":                             {0, false},
		"45s":                               {45 * time.Second, true},
		"45 seconds":                        {45 * time.Second, true},
		"2 Minutes":                         {2 * time.Minute, true},
		"1.5 min":                           {2 * time.Minute, true},
		"24h":                               {24 * time.Hour, true},
		"9999999999 hours":                  {math.MaxInt64, true},
		"1 day":                             {24 * time.Hour, true},
		"0.5d":                              {24 * time.Hour, true},
		"2 Days":                            {48 * time.Hour, true},
		"999999999 days":                    {math.MaxInt64, true},
		"Sun, 06-Nov-1994 08:49:37 GMT":     {37 * time.Second, true},
		"Sun, 06-Nov-94 08:49:37 GMT":       {37 * time.Second, true},
		"3 fortnights":                      {0, false},
		"hours":                             {0, false},
		"1e3":                               {0, false},
		"soon":                              {0, false},
		"Sun, 06 Nov 1994 08:49:37 UTC":     {37 * time.Second, true},
		"Sun, 06 Nov 1994 09:49:37 +0100":   {37 * time.Second, true},
		"Sun, 06 Nov 1994 08:49:37 +0100":   {0, false}, // it is over
		"Sun, 32 Nov 1994 08:49:37 GMT":     {0, false},
		"1994-11-06T08:49:37Z":              {37 * time.Second, true},
		"1994-11-06T09:49:37.5+01:00":       {37*time.Second + time.Second/2, true},
		"120, 240":                          {0, false},
		"Sun, 06 Nov 1994 08:49:37 GMT, 12": {0, false},
		"٣":                                 {0, false},
	}
	for header, tc := range tests {
		if got, ok := ParseRetryAfter(header, now); got != tc.want || ok != tc.ok {
			t.Errorf("ParseRetryAfter(%q) = %v, %v; want %v, %v", header, got, ok, tc.want, tc.ok)
		}
	}
}

// Seconds and dates that say the same are read the same, and no header makes a
// negative duration.
func TestParseRetryAfterProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		seconds := rapid.Int64Range(1, 1e8).Draw(t, "seconds")
		now := time.Unix(rapid.Int64Range(0, 4e9).Draw(t, "now"), 0).UTC()
		date := now.Add(time.Duration(seconds) * time.Second).Format(rapid.SampledFrom([]string{http.TimeFormat, httpDates[0]}).Draw(t, "format"))
		for _, header := range []string{strconv.FormatInt(seconds, 10), date} {
			got, ok := ParseRetryAfter(header, now)
			if want := time.Duration(seconds) * time.Second; !ok || got != want {
				t.Fatalf("ParseRetryAfter(%q) = %v, %v; want %v", header, got, ok, want)
			}
		}
		if got, _ := ParseRetryAfter(rapid.String().Draw(t, "noise"), now); got < 0 {
			t.Fatalf("a negative duration: %v", got)
		}
	})
}
