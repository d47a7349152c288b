package testsite

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"recrawl/internal/crawl"
)

// asked is a request to a host from one second to another; a negative end is
// still to come.
func asked(path string, begin, end float64) Request {
	at := func(s float64) time.Time { return epoch.Add(time.Duration(s * float64(time.Second))) }
	r := Request{Host: News, Path: path, Begin: at(begin)}
	if end >= 0 {
		r.End = at(end)
	}
	return r
}

func (r Request) with(change func(*Request)) Request {
	change(&r)
	return r
}

func TestCheckPolite(t *testing.T) {
	t.Parallel()
	throttled := func(r *Request) { r.RetryAfter = crawl.Duration(10 * time.Second) }
	slowHost := func(r *Request) { r.CrawlDelay = crawl.Duration(3 * time.Second) }
	elsewhere := func(r *Request) { r.Host = Docs }
	cases := []struct {
		name string
		log  []Request
		want string
	}{
		{"nothing", nil, ""},
		{"polite", []Request{asked("/a", 0, 1), asked("/b", 2, 3)}, ""},
		{"exactly the gap", []Request{asked("/a", 0, 1), asked("/b", 2, 2)}, ""},
		{"too early", []Request{asked("/a", 0, 1), asked("/b", 1.75, 3)}, "gap /b after /a, 250ms"},
		{"order of the log does not count", []Request{asked("/b", 1.75, 3), asked("/a", 0, 1)}, "gap /b after /a, 250ms"},
		{"overlap", []Request{asked("/a", 0, 2), asked("/b", 1, 3)}, "overlap /b after /a, 1s"},
		{"a long one over two short ones", []Request{asked("/a", 0, 9), asked("/b", 1, 2), asked("/c", 5, 6)}, "overlap /b after /a, 8s; overlap /c after /a, 4s"},
		{"one still runs", []Request{asked("/a", 0, -1), asked("/b", 5, 6), asked("/c", 9, 10)}, "overlap /b after /a, 0s; overlap /c after /a, 0s"},
		{"the last one still runs", []Request{asked("/a", 0, 1), asked("/b", 2, -1)}, ""},
		{"hosts count alone", []Request{asked("/a", 0, 2), asked("/b", 1, 3).with(elsewhere)}, ""},
		{"Crawl-delay", []Request{asked("/a", 0, 1).with(slowHost), asked("/b", 3, 4).with(slowHost)}, "gap /b after /a, 1s"},
		{"Retry-After kept", []Request{asked("/a", 0, 1).with(throttled), asked("/b", 11, 12)}, ""},
		{"Retry-After broken", []Request{asked("/a", 0, 1).with(throttled), asked("/b", 8, 9), asked("/c", 10.5, 11)}, "retry /b after /a, 3s; retry /c after /a, 500ms"},
		{"forbidden", []Request{asked("/a", 0, 1).with(func(r *Request) { r.Forbidden = true })}, "robots /a"},
	}
	short := map[Rule]string{OneAtATime: "overlap", KeepGap: "gap", RetryLater: "retry", ObeyRobots: "robots"}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, b := range CheckPolite(c.log, time.Second) {
				text := short[b.Rule] + " " + b.Request.Path
				if b.Rule != ObeyRobots {
					text += fmt.Sprintf(" after %s, %s", b.Because.Path, b.Early)
				}
				got = append(got, text)
			}
			if all := strings.Join(got, "; "); all != c.want {
				t.Errorf("got %q, want %q", all, c.want)
			}
		})
	}
}

func TestBreachWords(t *testing.T) {
	t.Parallel()
	a, b := asked("/a", 0, 1), asked("/b", 2, 3)
	a.RetryAfter = crawl.Duration(10 * time.Second)
	for want, breach := range map[string]Breach{
		"robots.txt: news.localhost/b at Nov 21 12:00:02.000000 is forbidden":                                        {Rule: ObeyRobots, Request: b},
		"one request at a time: news.localhost/b at Nov 21 12:00:02.000000 began while /a ran":                       {Rule: OneAtATime, Request: b, Because: a},
		"the gap between two requests: news.localhost/b at Nov 21 12:00:02.000000 came 1s too early after /a":        {KeepGap, b, a, time.Second},
		"Retry-After: news.localhost/b at Nov 21 12:00:02.000000 came 9s before the 10s that /a asked for were over": {RetryLater, b, a, 9 * time.Second},
	} {
		if breach.String() != want {
			t.Errorf("got  %s\nwant %s", breach, want)
		}
	}
}
