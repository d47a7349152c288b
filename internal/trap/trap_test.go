package trap

import (
	"slices"
	"strings"
	"testing"

	"recrawl/internal/urlkey"
)

func canonical(t testing.TB, raw string) urlkey.URL {
	t.Helper()
	u, err := urlkey.Canonical(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestShaped(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"https://h.example/a/docs/docs/docs/":             ReasonRepeats,
		"https://h.example/en/docs/en/docs/en/docs/x":     ReasonRepeats,
		"https://h.example/a/b/img/a/b/img/a/b/img":       ReasonRepeats,
		"https://h.example/foo/1/foo/2/foo/3/foo/4/foo/5": ReasonRepeats,
		"https://h.example/" + strings.Repeat("1/2/", 11): ReasonDepth,
		"https://h.example/a/docs/docs/x":                 "",
		"https://h.example/en/docs/en/docs/x":             "",
		"https://h.example/0/0/0/0/x":                     "",
		"https://h.example/a/a/a/a/x":                     "",
		"https://h.example/ab/ab/ab/x":                    "",
		"https://h.example/2020/2020/2020/x":              "",
		"https://h.example/src/main/java/org/src/main/x":  "",
		"https://h.example/" + strings.Repeat("1/2/", 10): "",
		"https://h.example/":                              "",
	} {
		found, ok := Shaped(canonical(t, url))
		if ok != (want != "") || found.Reason != want {
			t.Errorf("%s: %+v, want %q", url, found, want)
		}
	}
}

func TestSession(t *testing.T) {
	t.Parallel()
	const id = "a81f3c5590b2e4d7"
	for url, want := range map[string]string{
		"https://h.example/a?PHPSESSID=" + id + "&x=1":                              "https://h.example/a?x=1",
		"https://h.example/a?sid=" + id:                                             "https://h.example/a",
		"https://h.example/a;jsessionid=0123456789ABCDEF0123.node1?x=1":             "https://h.example/a?x=1",
		"https://h.example/a;v=1;jsessionid=0123456789ABCDEF0123/b":                 "https://h.example/a;v=1/b",
		"https://h.example/(S(hqp4kc55xkjgf3nd1f5q4yra))/a.aspx":                    "https://h.example/a.aspx",
		"https://h.example/a?cfid=" + id + "&cftoken=" + id:                         "https://h.example/a",
		"https://h.example/a?s=golang":                                              "",
		"https://h.example/a?s=" + strings.Repeat("longsearch", 3):                  "",
		"https://h.example/story?sid=201204171523000123":                            "",
		"https://h.example/a?id=" + id:                                              "",
		"https://h.example/a?s=how+to+write+a+crawler+in+10+days":                   "",
		"https://h.example/a?session=3f2b8c9a-1d4e-4f5a-9b6c-7d8e9f0a1b2c":          "https://h.example/a",
		"https://h.example/a?session=deadbeef-cafe-1234-beef-123456789012":          "https://h.example/a",
		"https://h.example/a?sid=aGVsbG8-d29ybGQ_MTIz":                              "https://h.example/a",
		"https://h.example/a?sid=Kx3v-Qm9ZtR_4bLw8PqY2":                             "https://h.example/a",
		"https://h.example/a?s=a81f3c55-90b2e4d7":                                   "https://h.example/a",
		"https://h.example/a?sid=a81f3c5590b2e4d7.node1":                            "https://h.example/a",
		"https://h.example/a?s=1732800000-abcdefgh":                                 "https://h.example/a",
		"https://h.example/a?PHPSESSID=opening-keynote-2026":                        "https://h.example/a",
		"https://h.example/programme?session=opening-keynote-2026":                  "",
		"https://h.example/programme?session=workshop-rust-101-day-2":               "",
		"https://h.example/programme?session=Deploying_K8s_with_HTTP2.2026":         "",
		"https://h.example/?s=iphone-15-pro-max-256gb":                              "",
		"https://h.example/?s=mp3-player-16gb-usb":                                  "",
		"https://h.example/?s=b2b-sales-in-2026":                                    "",
		"https://h.example/?sid=2026-11-28-budget-vote":                             "",
		"https://h.example/?s=vol-12-issue-34-letters":                              "",
		"https://h.example/(S(x))/a":                                                "",
		"https://h.example/sid=" + id:                                               "",
		"https://h.example/a?session=" + strings.Repeat("0", 20) + "%20" + "abcdef": "",
	} {
		base, found, ok := Session(canonical(t, url))
		if base.String() != want || ok != (want != "") || ok && found.Reason != ReasonSession {
			t.Errorf("%s: %q, %+v, want %q", url, base, found, want)
		}
	}
}

func TestShape(t *testing.T) {
	t.Parallel()
	for segment, want := range map[string]string{
		"intro.html": "intro.html", "page-12.html": "page-#.html", "12": "#", "v1.2": "v#.#",
		"3f2b8c9a-1d4e-4f5a-9b6c-7d8e9f0a1b2c":      "*",
		"a81f3c5590b2e4d7a81f3c55":                  "*",
		"how-to-write-a-crawler-in-10-days-2024":    "how-to-write-a-crawler-in-#-days-#",
		"an-article-about-iso-8601-and-utf-8-today": "an-article-about-iso-#-and-utf-#-today",
	} {
		if got := shape(segment); got != want {
			t.Errorf("%s: %s, want %s", segment, got, want)
		}
	}
}

func TestDateIn(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]date{
		"https://h.example/cal/2031/05":              {2031, 5, 0, 1},
		"https://h.example/cal/2031/5/17/x":          {2031, 5, 17, 1},
		"https://h.example/2031-05-17.html":          {2031, 5, 17, 0},
		"https://h.example/cal/month-2031-05":        {2031, 5, 0, 1},
		"https://h.example/cal?month=2031-05":        {2031, 5, 0, 1},
		"https://h.example/cal?Year=2031&m=5&d=7":    {2031, 5, 7, 1},
		"https://h.example/a/2031":                   {},
		"https://h.example/a/20310517":               {},
		"https://h.example/a?year=2031":              {},
		"https://h.example/item/2031/55":             {},
		"https://h.example/a/2999-05":                {},
		"https://h.example/isbn/978-3-16-148410-0":   {},
		"https://h.example/a?year=2031&month=might!": {},
	} {
		got, ok := dateIn(canonical(t, url))
		if ok != (want != date{}) || ok && got != want {
			t.Errorf("%s: %+v %t, want %+v", url, got, ok, want)
		}
	}
}

func TestPatterns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern     Pattern
		name        string
		covers, not []string
	}{
		{
			Pattern{Kind: KindPrefix, Host: "h.example:8080", Path: []string{"cal", "#"}},
			"h.example:8080/cal/#",
			[]string{"http://h.example:8080/cal/7", "https://h.example:8080/cal/12/x?y=1"},
			[]string{"http://h.example/cal/7", "http://h.example:8080/cal", "http://h.example:8080/cal/x", "http://h.example:8080/calendar/7"},
		},
		{
			Pattern{Kind: KindPrefix, Host: "h.example", Path: []string{"list", "?dir&sort"}},
			"h.example/list/?dir&sort",
			[]string{"http://h.example/list?sort=a&dir=b", "http://h.example/list?dir=b&sort=a"},
			[]string{"http://h.example/list", "http://h.example/list?sort=a", "http://h.example/list/x?dir=b&sort=a"},
		},
		{
			Pattern{Kind: KindParams, Host: "h.example", Path: []string{"shop"}, Params: 3},
			"h.example/shop?3+",
			[]string{"http://h.example/shop?a=1&b=2&c=3", "http://h.example/shop/?a=1&b=2&c=3&d=4"},
			[]string{"http://h.example/shop?a=1&b=2", "http://h.example/shop/x?a=1&b=2&c=3"},
		},
		{
			Pattern{Kind: KindDates, Host: "h.example", Path: []string{"cal"}, Year: 2029},
			"h.example/cal@dates",
			[]string{"http://h.example/cal/2029/01", "http://h.example/cal/2030/12/24", "http://h.example/cal?month=2030-01"},
			[]string{"http://h.example/cal/2028/12", "http://h.example/2029/01", "http://h.example/cal/2029"},
		},
		{
			Pattern{Kind: KindHosts, Host: "h.example", Except: []string{"www.h.example"}},
			"*.h.example",
			[]string{"http://a.h.example/", "http://b.a.h.example:81/x"},
			[]string{"http://h.example/", "http://www.h.example/x", "http://oh.example/"},
		},
		{Pattern{Kind: KindSession, Host: "h.example"}, "h.example session", nil, []string{"http://h.example/?sid=1"}},
	} {
		if got := c.pattern.String(); got != c.name {
			t.Errorf("%+v is called %s, want %s", c.pattern, got, c.name)
		}
		for _, url := range c.covers {
			if !c.pattern.Covers(canonical(t, url)) {
				t.Errorf("%s does not cover %s", c.name, url)
			}
		}
		for _, url := range c.not {
			if c.pattern.Covers(canonical(t, url)) {
				t.Errorf("%s covers %s", c.name, url)
			}
		}
		if site := c.pattern.Site(); !slices.Contains([]string{"h.example"}, site) {
			t.Errorf("%s is of the site %s", c.name, site)
		}
	}
}

func TestFolder(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"http://h.example/": "", "http://h.example/?a=1": "", "http://h.example/a": "", "http://h.example/a/": "/a/", "http://h.example/2031/b": "/#/",
		"http://h.example/viewtopic.php?t=1": "/viewtopic.php?", "http://h.example/a/b?c=1": "/a/",
	} {
		u := canonical(t, url)
		folder := Folder(u)
		if folder != want {
			t.Errorf("%s: %q, want %q", url, folder, want)
		}
		if f := Budget("h.example", folder, 7); !f.Pattern.Covers(u) || f.Reason != ReasonBudget {
			t.Errorf("%+v does not cover %s", f, url)
		}
	}
}
