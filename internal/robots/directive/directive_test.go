package directive_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/robots/directive"
)

func TestParseTags(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name    string
		headers []string
		want    string
	}{
		{"none", nil, ""},
		{"empty", []string{"", " , ,"}, ""},
		{"one", []string{"noindex"}, "noindex"},
		{"case and space", []string{"\tNoIndex ,NOFOLLOW"}, "noindex, nofollow"},
		{"none is two", []string{"none"}, "noindex, nofollow"},
		{"several headers", []string{"noarchive", "unavailable_after: 25 Jun 2010 15:00:00 PST"}, "noarchive, unavailable_after: 2010-06-25T23:00:00Z"},
		{"to allow takes nothing back", []string{"noindex", "index, follow, all"}, "noindex"},
		{"unknown", []string{"noodp, nosnippet, noai, noindexx, max-snippet: 5, max-image-preview:large"}, ""},
		{"unknown besides", []string{"nosnippet, noindex, max-snippet:-1"}, "noindex"},
		{"without commas", []string{"noindex nofollow"}, "noindex, nofollow"},

		{"ours", []string{"recrawl: noindex"}, "noindex"},
		{"ours in capitals, no space", []string{"Recrawl:noarchive"}, "noarchive"},
		{"ours with space and version", []string{"recrawl/1.0 : noindex"}, "noindex"},
		{"of others", []string{"googlebot: nofollow", "otherbot: noindex, nofollow"}, ""},
		{"everybody's and ours", []string{"noarchive", "recrawl: nofollow", "otherbot: noindex"}, "nofollow, noarchive"},
		{"ours does not undo everybody's", []string{"noindex", "recrawl: index"}, "noindex"},
		{"a token holds to the end of its header", []string{"noarchive, otherbot: noindex, nofollow"}, "noarchive"},
		{"several tokens in one header", []string{"otherbot: noindex, recrawl: nofollow, thirdbot: noarchive"}, "nofollow"},
		{"a header begins with everybody", []string{"otherbot: noindex", "nofollow"}, "nofollow"},
		{"everybody by name", []string{"otherbot: none, *: noarchive", "robots: nofollow"}, "nofollow, noarchive"},
		{"a part of our name", []string{"recrawl-images: noindex", "crawl: noindex"}, ""},
		{"a date for us", []string{"otherbot: none, recrawl:unavailable_after:2010-06-25"}, "unavailable_after: 2010-06-25T00:00:00Z"},
		{"two words are no token", []string{"big bot: noindex"}, "noindex"},
		{"garbage", []string{":", "::,:", "noindex:", "a:b:c:d", "\x00\xff,é"}, "noindex"},

		{"semicolon", []string{"noindex;nofollow"}, "noindex, nofollow"},
		{"bar", []string{"noindex|nofollow"}, "noindex, nofollow"},
		{"a permission with a value", []string{"index: false, noindex"}, "noindex"},
		{"permissions with values", []string{"index: false", "follow=no"}, "noindex, nofollow"},
		{"permissions as names", []string{"follow: noindex", "archive: nofollow, snippet: noarchive"}, "noindex, nofollow, noarchive"},
		{"all as a name", []string{"otherbot: none, all: noarchive"}, "noarchive"},
		{"its own name", []string{"X-Robots-Tag: noindex", "x-robots-tag: otherbot: nofollow"}, "noindex"},
		{"robots in a value", []string{"Robots: noindex, nofollow"}, "noindex, nofollow"},
		{"several names", []string{"otherbot, recrawl: noindex", "recrawl, otherbot: nofollow", "thirdbot, otherbot: noarchive"}, "noindex, nofollow"},
		{"several names, everybody among them", []string{"robots|otherbot: noindex", "* , otherbot : noarchive"}, "noindex, noarchive"},
		{"a name behind a directive stands alone", []string{"recrawl noodp, noindex, otherbot: nofollow"}, "noindex"},
		{"of others, behind semicolons", []string{"otherbot: noindex; nofollow", "otherbot:none;thirdbot:noarchive"}, ""},
		{"ours, behind a semicolon", []string{"otherbot: noindex; recrawl: nofollow|otherbot: noarchive"}, "nofollow"},
		{"of others, without a colon's space", []string{"otherbot:noindex,nofollow", "Other-Bot/2.1:none", "archive.org_bot: none", "otherbot = none"}, ""},
		{"a name like a directive", []string{"noindexbot: nofollow", "index-bot: noarchive", "nofollow.bot: noindex"}, ""},
		{"a date of others", []string{"otherbot: unavailable_after: Fri, 25 Jun 2010 15:00:00 GMT, nofollow"}, ""},
		{"a date, then others", []string{"unavailable_after: Fri, 25 Jun 2010 15:00:00 GMT, otherbot: nofollow"}, "unavailable_after: 2010-06-25T15:00:00Z"},
		{"quotes", []string{`"noindex, nofollow"`, `otherbot: "noarchive"`}, "noindex, nofollow"},
		{"quoted name", []string{`"recrawl": "noindex"`, `"otherbot": "nofollow"`}, "noindex"},
		{"a preview", []string{"max-image-preview:none", "max-image-preview: none, max-snippet=0", "max-image-preview none"}, ""},
		{"a preview of ours", []string{"recrawl: max-image-preview: none, noarchive"}, "noarchive"},
		{"in the 17th header", append(slices.Repeat([]string{"otherbot: all"}, 16), "noindex"), "noindex"},
		{"far behind", []string{strings.Repeat("max-snippet: 5, ", 5000) + "noindex"}, "noindex"},
		{"a long word before", []string{strings.Repeat("x", 1<<20) + ", noindex"}, "noindex"},
	}
	for _, c := range cases {
		if got := directive.ParseTags(c.headers, "recrawl").String(); got != c.want {
			t.Errorf("%s: %q asks for %q, want %q", c.name, c.headers, got, c.want)
		}
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	for list, want := range map[string]string{
		"":                       "",
		"noindex":                "noindex",
		"NOINDEX, follow":        "noindex",
		"none":                   "noindex, nofollow",
		"index,noarchive":        "noarchive",
		"noindex\u00a0nofollow":  "noindex, nofollow",
		"otherbot: noindex":      "noindex", // tokens are the names of elements
		"about nofollow links":   "nofollow",
		"width=device-width":     "",
		"unavailable_after":      "",
		"unavailable_after: ":    "",
		"unavailable_after: now": "",
		"unavailable_after: 25-Aug-2007 15:00:00 EST":                      "unavailable_after: 2007-08-25T20:00:00Z",
		"noarchive, unavailable_after: 25-Aug-2007 15:00:00 EST, nofollow": "nofollow, noarchive, unavailable_after: 2007-08-25T20:00:00Z",
		"noarchive unavailable_after: 2007-08-25 nofollow":                 "nofollow, noarchive, unavailable_after: 2007-08-25T00:00:00Z",
		"unavailable_after: someday noindex":                               "noindex",
		"unavailable_after: 2030-01-01, unavailable_after: 2020-01-01":     "unavailable_after: 2020-01-01T00:00:00Z",
		strings.Repeat("x", 1<<20) + ", noindex":                           "noindex",
	} {
		if got := directive.Parse(list).String(); got != want {
			t.Errorf("%.80q asks for %q, want %q", list, got, want)
		}
	}
}

// Common mistakes in place of a list with commas, and their meaning.
func TestSpellings(t *testing.T) {
	t.Parallel()
	for list, want := range map[string]string{
		"noindex;nofollow":                               "noindex, nofollow",
		"noindex ; nofollow;":                            "noindex, nofollow",
		"noindex|nofollow":                               "noindex, nofollow",
		"noindex\tnofollow":                              "noindex, nofollow",
		"\r\n noindex,\r\n nofollow\r\n":                 "noindex, nofollow",
		"NOINDEX/NOFOLLOW":                               "noindex, nofollow",
		"noindex+nofollow":                               "noindex, nofollow",
		"noindex&nofollow":                               "noindex, nofollow",
		"noindex & nofollow":                             "noindex, nofollow",
		"noindex.nofollow":                               "noindex, nofollow",
		"noindex. nofollow.":                             "noindex, nofollow",
		"noindex-nofollow":                               "noindex, nofollow",
		"noindex_nofollow":                               "noindex, nofollow",
		"noindexnofollow":                                "noindex, nofollow",
		"noindex:nofollow":                               "noindex, nofollow",
		"noindex,,nofollow,":                             "noindex, nofollow",
		"noindex，nofollow":                               "noindex, nofollow",
		"noindex、nofollow；noarchive":                     "noindex, nofollow, noarchive",
		"noindex\u200bnofollow":                          "noindex, nofollow",
		"\ufeffnoindex":                                  "noindex",
		"no\u00adindex":                                  "noindex",
		"'noindex','nofollow'":                           "noindex, nofollow",
		`"noindex" "nofollow"`:                           "noindex, nofollow",
		`\"noindex\"`:                                    "noindex",
		"”noindex, nofollow”":                            "noindex, nofollow",
		"«noindex»":                                      "noindex",
		"[noindex, nofollow]":                            "noindex, nofollow",
		"(noindex)":                                      "noindex",
		"robots: noindex":                                "noindex",
		"robots=noindex":                                 "noindex",
		"content=noindex":                                "noindex",
		"no-index, no-follow":                            "noindex, nofollow",
		"no_index no_follow no_archive":                  "noindex, nofollow, noarchive",
		"No Index, No Follow":                            "noindex, nofollow",
		"noindex: true, nofollow=1":                      "noindex, nofollow",
		"noindex: false, nofollow":                       "nofollow",
		"index: false":                                   "noindex",
		"index: false, noindex":                          "noindex",
		"index=no; follow=no":                            "noindex, nofollow",
		`{"index": false, "follow": true, "archive": 0}`: "noindex, noarchive",
		"index: true, follow: yes":                       "",
		"follow : off":                                   "nofollow",
		"index, false":                                   "",
		"max-image-preview:none":                         "",
		"max-image-preview: none, noarchive":             "noarchive",
		"index, follow, max-image-preview=none, max-video-preview:": "",
		"max-snippet:-1 noindex":                                    "noindex",
		"max-snippet:, noindex":                                     "noindex",
		"noimageindex, noindexx, notnofollow, indexifembedded":      "",
		"unavailable_after: none":                                   "",
		"unavailable_after=2010-06-25;nofollow":                     "nofollow, unavailable_after: 2010-06-25T00:00:00Z",
		"Unavailable-After: 25 Jun 2010 15:00:00 PST;noindex":       "noindex, unavailable_after: 2010-06-25T23:00:00Z",
		"unavailable_after: '25 Jun 2010 15:00:00 PST'|noindex":     "noindex, unavailable_after: 2010-06-25T23:00:00Z",
		"unavailable_after 2010-06-25 noindex":                      "noindex, unavailable_after: 2010-06-25T00:00:00Z",
	} {
		if got := directive.Parse(list).String(); got != want {
			t.Errorf("%.80q asks for %q, want %q", list, got, want)
		}
	}
}

func TestUnavailableAfter(t *testing.T) {
	t.Parallel()
	for date, want := range map[string]string{
		"25 Jun 2010 15:00:00 PST":                 "2010-06-25T23:00:00Z", // RFC 822 with a year of four digits
		"Fri, 25 Jun 2010 15:00:00 GMT":            "2010-06-25T15:00:00Z", // RFC 9110
		"25 Jun 10 15:00 +0200":                    "2010-06-25T13:00:00Z", // RFC 822
		"Friday, 25-Jun-10 15:00:00 UTC":           "2010-06-25T15:00:00Z", // RFC 850
		"23-Jul-2007 18:00:00 EST":                 "2007-07-23T23:00:00Z",
		"25-dec-2007 13:00:00 gmt":                 "2007-12-25T13:00:00Z",
		"7 Jul 2007 16:30:00 GMT":                  "2007-07-07T16:30:00Z",
		"Fri Jun 25 15:00:00 2010":                 "2010-06-25T15:00:00Z", // asctime
		"June 25, 2010":                            "2010-06-25T00:00:00Z",
		"2010-06-25":                               "2010-06-25T00:00:00Z", // ISO 8601
		"2010-06-25T15:00:00Z":                     "2010-06-25T15:00:00Z",
		"2010-06-25T15:00:00.750+02:00":            "2010-06-25T13:00:00Z",
		"2010-06-25T15:00:00-0700":                 "2010-06-25T22:00:00Z",
		"2010-06-25 15:00:00 EST":                  "2010-06-25T20:00:00Z",
		"2010-06-25 15:00":                         "2010-06-25T15:00:00Z",
		"20100625T150000Z":                         "2010-06-25T15:00:00Z",
		"25 Jun 2010 15:00:00 XYZ":                 "2010-06-25T15:00:00Z", // an unknown zone is UTC
		"25 Jun 2010 15:00:00 CEST, noindexx":      "2010-06-25T13:00:00Z",
		"Fri,25 Jun 2010 15:00:00 GMT":             "2010-06-25T15:00:00Z",
		"Friday, June 25th, 2010, 3:00 PM EST":     "2010-06-25T20:00:00Z",
		"25th June 2010":                           "2010-06-25T00:00:00Z",
		"2010/06/25 15:00":                         "2010-06-25T15:00:00Z",
		"2010-06-25 15:00:00 +02:00":               "2010-06-25T13:00:00Z",
		"Fri Jun 25 2010 15:00:00 GMT+0200 (CEST)": "2010-06-25T13:00:00Z", // JavaScript
		"31 Feb 2010":                              "",
		"25/06/2010":                               "",
		"Friday":                                   "",
		"9999-12-31T23:00:00-10:00":                "", // cannot be written again
	} {
		got := directive.Parse("unavailable_after: " + date).UnavailableAfter
		if text := got.Format(time.RFC3339); got.IsZero() != (want == "") || want != "" && text != want {
			t.Errorf("%q is %s, want %q", date, text, want)
		}
	}
}

func TestDecide(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 5, 6, 7, 8, 9, 0, time.UTC)
	cases := []struct {
		tag, meta    string
		keep, follow bool
		words        string
	}{
		{"", "", true, true, ""},
		{"noindex", "", false, true, "noindex by X-Robots-Tag: no body kept"},
		{"", "noindex", false, true, "noindex by meta robots: no body kept"},
		{"noarchive", "noindex", false, true, "noindex by meta robots: no body kept"},
		{"noindex", "noindex", false, true, "noindex by X-Robots-Tag: no body kept"},
		{"noarchive", "", false, true, "noarchive by X-Robots-Tag: no body kept"},
		{"", "noarchive", false, true, "noarchive by meta robots: no body kept"},
		{"nofollow", "", true, false, "nofollow by X-Robots-Tag: no links followed"},
		{"none", "", false, false, "noindex by X-Robots-Tag: no body kept; nofollow by X-Robots-Tag: no links followed"},
		{"noindex", "nofollow", false, false, "noindex by X-Robots-Tag: no body kept; nofollow by meta robots: no links followed"},
		{"unavailable_after: 2026-05-06T07:08:08Z", "", false, true, "unavailable_after by X-Robots-Tag (2026-05-06 07:08 UTC): no body kept"},
		{"", "unavailable_after: 2020-01-01, noarchive", false, true, "unavailable_after by meta robots (2020-01-01 00:00 UTC): no body kept"},
		{"unavailable_after: 2026-05-06T07:08:09Z", "unavailable_after: 2030-01-01", true, true, ""},
	}
	for _, c := range cases {
		v := directive.Decide(directive.Parse(c.tag), directive.Parse(c.meta), at)
		if v.Keep != c.keep || v.Follow != c.follow || words(t, v.Reasons) != c.words {
			t.Errorf("%q and %q: keep %t, follow %t: %s; want %t, %t: %s", c.tag, c.meta, v.Keep, v.Follow, words(t, v.Reasons), c.keep, c.follow, c.words)
		}
		if kept := len(directive.AgainstKeeping(v.Reasons)) == 0; kept != v.Keep {
			t.Errorf("%q and %q: the reasons say that the body is kept: %t", c.tag, c.meta, kept)
		}
		if byTag := directive.NoFollowTag(v.Reasons); byTag != directive.Parse(c.tag).NoFollow {
			t.Errorf("%q and %q: the reasons have a header's nofollow: %t", c.tag, c.meta, byTag)
		}
	}
	for said, want := range map[string]string{
		"":        "meta robots too long to read, taken as noindex: no body kept; meta robots too long to read, taken as nofollow: no links followed",
		"noindex": "noindex by meta robots: no body kept; meta robots too long to read, taken as nofollow: no links followed",
	} {
		cut := directive.Parse(said).With(directive.Directives{Cut: true})
		if v := directive.Decide(directive.Directives{}, cut, at); v.Keep || v.Follow || words(t, v.Reasons) != want || len(directive.AgainstKeeping(v.Reasons)) != 1 {
			t.Errorf("%q and more: %+v, %s; want %s", said, v, words(t, v.Reasons), want)
		}
		if got := cut.String(); got != "noindex, nofollow" {
			t.Errorf("%q and more is written as %q", said, got)
		}
	}
	if _, ok := directive.Word(crawl.Reason{Code: "same-text"}); ok {
		t.Error("a foreign reason has words")
	}
}

func words(t *testing.T, reasons []crawl.Reason) string {
	t.Helper()
	var all []string
	for _, r := range reasons {
		word, ok := directive.Word(r)
		if !ok {
			t.Errorf("no words for %s", r.Code)
		}
		all = append(all, word)
	}
	return strings.Join(all, "; ")
}

// Any input is read, and its meaning is written so that it is read back as the
// same. Headers may come in any order, and more of them never allow more.
func FuzzParseTags(f *testing.F) {
	f.Add("noindex, recrawl: nofollow", "otherbot: none", "recrawl")
	f.Add("unavailable_after: Fri, 25 Jun 2010 15:00:00 PST", "unavailable_after:2010-06-25T15:00:00Z, none", "x")
	f.Add("unavailable_after: 0001-01-01", ":::,,a : b", "")
	f.Add("a:b:c unavailable_after::", "unavailable_after : 25-Jun-10 15:00:00 +1400", "a")
	f.Fuzz(func(t *testing.T, a, b, agent string) {
		both := directive.ParseTags([]string{a, b}, agent)
		if turned := directive.ParseTags([]string{b, a}, agent); turned != both {
			t.Errorf("%v, in the other order %v", both, turned)
		}
		if parts := directive.ParseTags([]string{a}, agent).With(directive.ParseTags([]string{b}, agent)); parts != both {
			t.Errorf("%v, one by one %v", both, parts)
		}
		if both.With(both) != both {
			t.Errorf("%v twice is %v", both, both.With(both))
		}
		if again := directive.Parse(both.String()); again != both {
			t.Errorf("%q is read as %v", both, again)
		}
		if again := directive.ParseTags([]string{both.String()}, agent); again != both {
			t.Errorf("%q is read as %v in a header", both, again)
		}
		directive.Parse(a)
	})
}

// pieces are directives that ask the same in every order.
var pieces = []string{
	"noindex", "nofollow", "none", "noarchive", "all", "index", "nosnippet", "max-snippet: 5", "max-image-preview:large", "what is this",
	"unavailable_after: Friday, 25-Jun-10 15:00:00 PST", "unavailable_after: 2030-01-01", "unavailable_after: June 25, 2010", "unavailable_after: never",
}

func FuzzOrder(f *testing.F) {
	for seed := range uint64(8) {
		f.Add(seed, uint(seed))
	}
	f.Fuzz(func(t *testing.T, seed uint64, n uint) {
		random := rand.New(rand.NewPCG(seed, 1))
		var list []string
		for range n % 8 {
			list = append(list, pieces[random.IntN(len(pieces))])
		}
		turned := slices.Clone(list)
		random.Shuffle(len(turned), func(i, j int) { turned[i], turned[j] = turned[j], turned[i] })
		ordered, other := strings.Join(list, ", "), strings.ToUpper(strings.Join(turned, ","))
		want := directive.Parse(ordered)
		for _, got := range []directive.Directives{
			directive.Parse(other), directive.ParseTags([]string{ordered}, "recrawl"), directive.ParseTags(turned, "recrawl"),
			directive.ParseTags([]string{"Recrawl: " + other}, "recrawl"),
			directive.Parse(strings.Join(list, ";")), directive.ParseTags([]string{strings.Join(turned, " | ")}, "recrawl"),
		} {
			if got != want {
				t.Errorf("%q asks for %v, in another form for %v", ordered, want, got)
			}
		}
		if got := directive.ParseTags([]string{"otherbot: " + ordered}, "recrawl"); got != (directive.Directives{}) {
			t.Errorf("%q asks another crawler, but us for %v", ordered, got)
		}
	})
}
