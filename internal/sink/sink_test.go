package sink

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/feed"
)

var start = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

// Tries of a receiver that does not answer: 5 s, doubling to an hour, and paused after five
// days.
func TestRetriesOfAReceiverThatIsDown(t *testing.T) {
	t.Parallel()
	var s Standing
	now := start
	var pauses []time.Duration
	for {
		j := Judge(s, errors.New("connection refused"), now)
		s = j.Standing
		if j.Step == Halt {
			break
		}
		if j.Step != Again || s.Paused || s.Problem != "connection refused" || !s.Since.Equal(start) {
			t.Fatalf("try %d: %+v", s.Tries, j)
		}
		pauses = append(pauses, s.NextAt.Sub(now))
		now = s.NextAt
	}
	want := []time.Duration{5 * time.Second, 10 * time.Second, 20 * time.Second, 40 * time.Second, 80 * time.Second, 160 * time.Second, 320 * time.Second, 640 * time.Second, 1280 * time.Second, 2560 * time.Second, time.Hour, time.Hour}
	if !slices.Equal(pauses[:len(want)], want) {
		t.Errorf("pauses %v, want %v", pauses[:len(want)], want)
	}
	if down := now.Sub(start); down < GiveUp || down > GiveUp+time.Hour {
		t.Errorf("paused after %s, want five days", down)
	}
	if !s.Paused || s.Code != CodeUnreachable || !strings.Contains(s.Problem, "connection refused") || !s.NextAt.IsZero() || s.Tries != len(pauses)+1 {
		t.Errorf("paused as %+v", s)
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		tries       int
		asked, want time.Duration
	}{
		{1, 0, 5 * time.Second},
		{1, time.Second, 5 * time.Second},
		{1, 5 * time.Minute, 5 * time.Minute},
		{1, 3 * time.Hour, 3 * time.Hour},
		{1, 30 * 24 * time.Hour, 24 * time.Hour},
		{40, time.Minute, time.Hour},
	} {
		s := Standing{Tries: tt.tries - 1, Since: start}
		j := Judge(s, fmt.Errorf("send: %w", &Later{After: tt.asked, Reason: "503"}), start)
		if got := j.NextAt.Sub(start); got != tt.want || j.Problem != "503" {
			t.Errorf("try %d, asked for %s: again in %s (%s), want %s", tt.tries, tt.asked, got, j.Problem, tt.want)
		}
	}
}

// A receiver that refuses an event is tried five times within an hour, and then passed by.
func TestRefused(t *testing.T) {
	t.Parallel()
	var s Standing
	now := start
	for n := 1; ; n++ {
		j := Judge(s, &Refused{Status: 400, Reason: "400 Bad Request"}, now)
		if n == RefusedTries {
			if j.Step != Pass || j.Standing != (Standing{}) || !strings.Contains(j.Reason, "400 Bad Request") {
				t.Errorf("the last: %+v", j)
			}
			break
		}
		if j.Step != Again || j.Code != CodeRefused || j.Tries != n || !j.NextAt.After(now) {
			t.Fatalf("try %d: %+v", n, j)
		}
		s, now = j.Standing, j.NextAt
	}
	if took := now.Sub(start); took > time.Hour || took < 30*time.Minute {
		t.Errorf("five tries took %s", took)
	}
}

// Refusals are counted separately, and all kinds of failures count for the five days.
func TestTroubleOfTwoKinds(t *testing.T) {
	t.Parallel()
	s := Judge(Standing{}, errors.New("no route"), start).Standing
	for range 30 {
		s = Judge(s, errors.New("no route"), start).Standing
	}
	j := Judge(s, &Refused{Reason: "400"}, start.Add(time.Hour))
	if j.Step != Again || j.Tries != 1 || !j.Since.Equal(start) {
		t.Errorf("a first refusal after 31 tries without an answer: %+v", j)
	}
	if j = Judge(j.Standing, errors.New("no route"), start.Add(GiveUp)); j.Step != Halt {
		t.Errorf("after five days of both: %+v", j)
	}
}

func TestStopAndSuccess(t *testing.T) {
	t.Parallel()
	j := Judge(Standing{Tries: 3, Since: start}, &Stop{Code: "gone", Reason: "410 Gone"}, start)
	if j.Step != Halt || !j.Paused || j.Code != "gone" || j.Problem != "410 Gone" {
		t.Errorf("stop: %+v", j)
	}
	if j = Judge(Standing{Tries: 3, Since: start, Problem: "x", Code: CodeRefused}, nil, start); j.Step != Move || j.Standing != (Standing{}) {
		t.Errorf("success: %+v", j)
	}
}

func TestFilterKinds(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		spec crawl.SinkSpec
		want []feed.Kind
	}{
		{crawl.SinkSpec{}, []feed.Kind{feed.PageNew, feed.PageChanged, feed.PageGone, feed.PageBack, feed.PageMoved, feed.FeedGap}},
		{crawl.SinkSpec{Kinds: []string{"crawl.*", "page.gone"}}, []feed.Kind{feed.PageGone, feed.CrawlState, feed.CrawlSpec, feed.FeedGap}},
		{crawl.SinkSpec{Kinds: []string{"*"}}, feed.Kinds()},
		{crawl.SinkSpec{When: &crawl.SinkWhen{Words: 1}}, []feed.Kind{feed.PageNew, feed.PageChanged, feed.PageBack, feed.FeedGap}},
		{crawl.SinkSpec{When: &crawl.SinkWhen{Words: 1}, Kinds: []string{"page.*"}}, []feed.Kind{feed.PageNew, feed.PageChanged, feed.PageBack, feed.FeedGap}},
	} {
		if got := NewFilter("x", tt.spec).Kinds(); !slices.Equal(got, tt.want) {
			t.Errorf("%+v: %v, want %v", tt.spec, got, tt.want)
		}
	}
}

// The spec knows the kinds by name: every kind can be asked for, and the usual ones exist.
func TestKindsOfSpecs(t *testing.T) {
	t.Parallel()
	for _, kind := range feed.Kinds() {
		spec := crawl.DefaultSpec()
		spec.Name, spec.Seeds = "a", []string{"http://a.example/"}
		spec.Sinks = map[string]crawl.SinkSpec{"x": {Kind: crawl.SinkExec, To: "a", Kinds: []string{kind.String()}}}
		if err := spec.Validate(); err != nil {
			t.Error(err)
		}
	}
	for _, name := range crawl.DefaultSinkKinds() {
		if err := new(feed.Kind).UnmarshalText([]byte(name)); err != nil {
			t.Error(err)
		}
	}
}

// TestRefusedForGood: if some of the receivers have a message, it is not sent again.
func TestRefusedForGood(t *testing.T) {
	t.Parallel()
	j := Judge(Standing{}, &Refused{Status: 550, Reason: "550 no such user", Final: true}, time.Unix(0, 0))
	if j.Step != Pass || j.Tried != 1 || j.Standing != (Standing{}) {
		t.Errorf("%+v", j)
	}
}

func TestFilterPlaces(t *testing.T) {
	t.Parallel()
	page := func(host, url string) feed.Event {
		return feed.Event{Kind: feed.PageChanged, Page: &feed.EventPage{Host: host, URL: url}, Version: &feed.EventVersionOf{Seq: 2}}
	}
	a := page("a.example", "https://a.example/docs/x")
	never := feed.Event{Kind: feed.PageGone, Page: &feed.EventPage{Host: "a.example", URL: "https://a.example/dead"}}
	sitemap := page("a.example", "https://a.example/sitemap.xml")
	sitemap.Page.Source = crawl.KindSitemap
	picture := page("a.example", "https://a.example/x.png")
	picture.Page.Source = crawl.KindRequisite
	for _, tt := range []struct {
		name  string
		spec  crawl.SinkSpec
		event feed.Event
		want  bool
	}{
		{"all", crawl.SinkSpec{}, a, true},
		{"another kind", crawl.SinkSpec{Kinds: []string{"page.new"}}, a, false},
		{"host", crawl.SinkSpec{Hosts: crawl.Texts{"b.example", "a.example"}}, a, true},
		{"another host", crawl.SinkSpec{Hosts: crawl.Texts{"example"}}, a, false},
		{"under", crawl.SinkSpec{Hosts: crawl.Texts{"*.example"}}, a, true},
		{"under, not itself", crawl.SinkSpec{Hosts: crawl.Texts{"*.a.example"}}, a, false},
		{"any port", crawl.SinkSpec{Hosts: crawl.Texts{"a.example"}}, page("a.example:8080", "http://a.example:8080/"), true},
		{"its port", crawl.SinkSpec{Hosts: crawl.Texts{"*.example:8080"}}, page("a.example:8080", "http://a.example:8080/"), true},
		{"another port", crawl.SinkSpec{Hosts: crawl.Texts{"a.example:8081"}}, page("a.example:8080", "http://a.example:8080/"), false},
		{"the usual port", crawl.SinkSpec{Hosts: crawl.Texts{"a.example:443"}}, a, true},
		{"the usual port of another scheme", crawl.SinkSpec{Hosts: crawl.Texts{"a.example:80"}}, a, false},
		{"one of grouped hosts", crawl.SinkSpec{Hosts: crawl.Texts{"www.a.example"}}, page("a.example", "https://www.a.example/"), true},
		{"grouped hosts below", crawl.SinkSpec{Hosts: crawl.Texts{"*.a.example"}}, page("a.example", "https://www.a.example/"), true},
		{"the group", crawl.SinkSpec{Hosts: crawl.Texts{"a.example"}}, page("a.example", "https://www.a.example/"), true},
		{"another of grouped hosts", crawl.SinkSpec{Hosts: crawl.Texts{"shop.a.example"}}, page("a.example", "https://www.a.example/"), false},
		{"address", crawl.SinkSpec{Hosts: crawl.Texts{"[::1]"}}, page("[::1]:80", "http://[::1]:80/"), true},
		{"prefix", crawl.SinkSpec{Prefix: crawl.Texts{"https://a.example/docs/"}}, a, true},
		{"prefix as people write it", crawl.SinkSpec{Prefix: crawl.Texts{"https://A.Example:443/%64ocs/"}}, a, true},
		{"prefix with letters", crawl.SinkSpec{Prefix: crawl.Texts{"https://ä.example/ö"}}, page("xn--4ca.example", "https://xn--4ca.example/%C3%B6/"), true},
		{"another prefix", crawl.SinkSpec{Prefix: crawl.Texts{"https://a.example/blog/"}}, a, false},
		{"part of a name", crawl.SinkSpec{Prefix: crawl.Texts{"https://a.example/do"}}, a, true},
		{"a host alone", crawl.SinkSpec{Prefix: crawl.Texts{"https://a.example"}}, a, true},
		{"a host alone and a longer one", crawl.SinkSpec{Prefix: crawl.Texts{"https://a.example"}}, page("a.example.evil", "https://a.example.evil/"), false},
		{"a host alone and another port", crawl.SinkSpec{Prefix: crawl.Texts{"http://a.example:80"}}, page("a.example:8080", "http://a.example:8080/"), false},
		{"host and prefix", crawl.SinkSpec{Hosts: crawl.Texts{"b.example"}, Prefix: crawl.Texts{"https://a.example/"}}, a, false},
		{"forgotten", crawl.SinkSpec{Hosts: crawl.Texts{"a.example"}}, feed.Event{Kind: feed.PageChanged, Page: &feed.EventPage{ID: 7}}, false},
		{"forgotten since", crawl.SinkSpec{}, feed.Event{Kind: feed.PageChanged, Page: &feed.EventPage{ID: 7}}, false},
		{"a takedown", crawl.SinkSpec{Kinds: []string{"page.*"}, Hosts: crawl.Texts{"a.example"}}, feed.Event{Kind: feed.PageForgotten, Page: &feed.EventPage{ID: 7}}, true},
		{"of the crawl", crawl.SinkSpec{Kinds: []string{"crawl.*"}, Hosts: crawl.Texts{"a.example"}}, feed.Event{Kind: feed.CrawlState}, false},
		{"a sitemap", crawl.SinkSpec{}, sitemap, false},
		{"a sitemap that is asked for", crawl.SinkSpec{Kinds: []string{"page.changed"}}, sitemap, true},
		{"a picture", crawl.SinkSpec{}, picture, false},
		{"a picture that is asked for", crawl.SinkSpec{Kinds: []string{"page.*"}}, picture, false},
		{"a picture in a folder", crawl.SinkSpec{Kind: crawl.SinkFolder}, picture, false},
		{"a picture in a mirror", crawl.SinkSpec{Kind: crawl.SinkFolder, Format: "mirror"}, picture, true},
		{"a dead link", crawl.SinkSpec{}, never, false},
		{"a dead link that is asked for", crawl.SinkSpec{Kinds: []string{"page.gone"}}, never, true},
		{"a folder's own page", crawl.SinkSpec{Kind: crawl.SinkFolder}, never, true},
		{"a folder of other pages", crawl.SinkSpec{Kind: crawl.SinkFolder, Hosts: crawl.Texts{"b.example"}}, a, false},
		{"a folder's crawl", crawl.SinkSpec{Kind: crawl.SinkFolder, Hosts: crawl.Texts{"b.example"}}, feed.Event{Kind: feed.CrawlSpec}, true},
		{"a folder and the state of its crawl", crawl.SinkSpec{Kind: crawl.SinkFolder}, feed.Event{Kind: feed.CrawlState}, false},
		{"its own gap", crawl.SinkSpec{Hosts: crawl.Texts{"b.example"}}, feed.Event{Kind: feed.FeedGap, Sink: "x"}, true},
		{"another's gap", crawl.SinkSpec{}, feed.Event{Kind: feed.FeedGap, Sink: "y"}, false},
		{"a folder's own gap", crawl.SinkSpec{Kind: crawl.SinkFolder, Hosts: crawl.Texts{"b.example"}}, feed.Event{Kind: feed.FeedGap, Sink: "x"}, true},
		{"another's gap and a folder", crawl.SinkSpec{Kind: crawl.SinkFolder}, feed.Event{Kind: feed.FeedGap, Sink: "y"}, false},
	} {
		if v := NewFilter("x", tt.spec).Place(tt.event); v.Send != tt.want || v.Reason == "" {
			t.Errorf("%s: %+v", tt.name, v)
		}
	}
}

func number(after string, below, above float64) *crawl.SinkNumber {
	n := &crawl.SinkNumber{After: after}
	if below != 0 {
		n.Below = &below
	}
	if above != 0 {
		n.Above = &above
	}
	return n
}

func TestFilterTexts(t *testing.T) {
	t.Parallel()
	shop := Texts{Before: "Lamp\nPrice: 129.90 €\nIn stock", After: "Lamp\nPrice: 99.90 €\nSold out", Known: true}
	for _, tt := range []struct {
		name  string
		when  crawl.SinkWhen
		texts Texts
		want  bool
	}{
		{"appears", crawl.SinkWhen{Appears: crawl.Texts{"SOLD OUT"}}, shop, true},
		{"was there", crawl.SinkWhen{Appears: crawl.Texts{"lamp"}}, shop, false},
		{"any of them", crawl.SinkWhen{Appears: crawl.Texts{"lamp", "sold"}}, shop, true},
		{"goes", crawl.SinkWhen{Goes: crawl.Texts{"in stock"}}, shop, true},
		{"goes not", crawl.SinkWhen{Goes: crawl.Texts{"sold out"}}, shop, false},
		{"both", crawl.SinkWhen{Appears: crawl.Texts{"sold"}, Goes: crawl.Texts{"lamp"}}, shop, false},
		{"a second one appears", crawl.SinkWhen{Appears: crawl.Texts{"x"}}, Texts{Before: "x", After: "x\nx", Known: true}, true},
		{"a new page", crawl.SinkWhen{Appears: crawl.Texts{"lamp"}}, Texts{After: "Lamp", Known: true}, true},
		{"words", crawl.SinkWhen{Words: 6}, shop, true},
		{"too few words", crawl.SinkWhen{Words: 7}, shop, false},
		{"a word once more", crawl.SinkWhen{Words: 2}, Texts{Before: "x", After: "x x", Known: true}, false},
		{"falls", crawl.SinkWhen{Number: number("price:", 100, 0)}, shop, true},
		{"fell before", crawl.SinkWhen{Number: number("price:", 130, 0)}, shop, false},
		{"rises not", crawl.SinkWhen{Number: number("price:", 0, 100)}, shop, false},
		{"rises", crawl.SinkWhen{Number: number("", 0, 4)}, Texts{Before: "4 left", After: "5 left", Known: true}, true},
		{"from its bound", crawl.SinkWhen{Number: number("", 4, 0)}, Texts{Before: "4 left", After: "3 left", Known: true}, true},
		{"to its bound", crawl.SinkWhen{Number: number("", 4, 0)}, Texts{Before: "5 left", After: "4 left", Known: true}, false},
		{"no number before", crawl.SinkWhen{Number: number("", 4, 0)}, Texts{Before: "none", After: "3 left", Known: true}, false},
		{"no number before, and one above now", crawl.SinkWhen{Number: number("", 0, 4)}, Texts{Before: "none", After: "5 left", Known: true}, false},
		{"no number now", crawl.SinkWhen{Number: number("", 4, 0)}, Texts{Before: "5 left", After: "none", Known: true}, false},
		{"rose before", crawl.SinkWhen{Number: number("", 0, 4)}, Texts{Before: "5 left", After: "6 left", Known: true}, false},
		{"rises from its bound", crawl.SinkWhen{Number: number("", 0, 4)}, Texts{Before: "4 left", After: "5 left", Known: true}, true},
		{"rises to its bound", crawl.SinkWhen{Number: number("", 0, 4)}, Texts{Before: "3 left", After: "4 left", Known: true}, false},
		{"one of two goes", crawl.SinkWhen{Goes: crawl.Texts{"x"}}, Texts{Before: "x\nx", After: "x", Known: true}, true},
		{"two stay two", crawl.SinkWhen{Appears: crawl.Texts{"x"}}, Texts{Before: "x\nx", After: "x\nx\ny", Known: true}, false},
		{"not kept", crawl.SinkWhen{Words: 1}, Texts{}, false},
	} {
		v := NewFilter("x", crawl.SinkSpec{When: &tt.when}).Text(feed.Event{Kind: feed.PageChanged}, tt.texts)
		if v.Send != tt.want || v.Reason == "" {
			t.Errorf("%s: %+v", tt.name, v)
		}
	}
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]float64{
		"Price 12": 12, "Price: 12.90 EUR": 12.9, "price 12,90": 12.9, "Price 1.299,00": 1299, "Price 1,299.00": 1299, "Price 1.299": 1299,
		"Price 1,299": 1299, "Price 0.125": 0.125, "Price 1'299.50": 1299.5, "Price 12\u00A0345": 12345, "Price 3 4": 3, "Price -5": -5,
		"Price \u22125": -5, "Price 1.234.567": 1234567, "Price 2026.125": 2026.125, "2 Price 7.": 7,
	} {
		if got, ok := numberAfter(text, "Price"); !ok || got != want {
			t.Errorf("%q: %v %t, want %v", text, got, ok, want)
		}
	}
	for _, text := range []string{"Price", "12", "Price: none"} {
		if got, ok := numberAfter(text, "Price"); ok {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestMerge(t *testing.T) {
	t.Parallel()
	id := int64(0)
	of := func(page int64, kind feed.Kind, was, state crawl.PageState, from, seq int) feed.Change {
		id++
		return feed.Change{ID: id, PageID: page, Kind: kind, Seq: seq, Data: feed.Data{Was: was, State: state, From: from}}
	}
	changes := []feed.Change{
		of(1, feed.PageNew, 0, crawl.Active, 0, 1),
		of(2, feed.PageChanged, crawl.Active, crawl.Active, 4, 5),
		of(3, feed.PageChanged, crawl.Active, crawl.Active, 1, 2),
		{ID: 100, Kind: feed.CrawlState},
		of(1, feed.PageChanged, crawl.Active, crawl.Active, 1, 2),
		of(2, feed.PageChanged, crawl.Active, crawl.Active, 5, 6),
		of(2, feed.PageChanged, crawl.Active, crawl.Active, 6, 7),
		of(3, feed.PageChanged, crawl.Active, crawl.Active, 2, 1), // as it was
		of(4, feed.PageGone, crawl.Active, crawl.Gone, 0, 0),
		of(5, feed.PageFailing, crawl.Active, crawl.Failing, 0, 0),
		of(5, feed.PageRecovered, crawl.Failing, crawl.Active, 0, 0), // as it was
		of(6, feed.PageChanged, crawl.Active, crawl.Active, 1, 2),
		of(6, feed.PageFailing, crawl.Active, crawl.Failing, 0, 0),
		of(6, feed.PageRecovered, crawl.Failing, crawl.Active, 0, 0),
		of(7, feed.PageNew, 0, crawl.Active, 0, 1),
		of(7, feed.PageGone, crawl.Active, crawl.Gone, 0, 0),
		of(8, feed.PageMoved, crawl.Redirect, crawl.Redirect, 3, 3),
		of(8, feed.PageMoved, crawl.Redirect, crawl.Redirect, 3, 3), // elsewhere again
		of(9, feed.PageMoved, crawl.Redirect, crawl.Redirect, 3, 3),
		of(9, feed.PageFailing, crawl.Redirect, crawl.Failing, 3, 3),
		of(9, feed.PageRecovered, crawl.Failing, crawl.Redirect, 3, 3),
		of(10, feed.PageMoved, crawl.Active, crawl.Redirect, 3, 3),
		of(10, feed.PageBack, crawl.Redirect, crawl.Active, 3, 3), // as it was
		of(11, feed.PageFailing, crawl.Active, crawl.Failing, 3, 3),
		of(12, feed.PageChanged, crawl.Active, crawl.Active, 6, 7),
		of(11, feed.PageGone, crawl.Failing, crawl.Gone, 3, 3),
		of(13, feed.PageGone, crawl.Failing, crawl.Gone, 3, 3),
		of(13, feed.PageFailing, crawl.Gone, crawl.Failing, 3, 3),
		of(13, feed.PageRecovered, crawl.Failing, crawl.Gone, 3, 3),
		of(14, feed.PageStopped, crawl.Active, crawl.Stopped, 0, 3), // without a visit
		of(14, feed.PageResumed, crawl.Stopped, crawl.Known, 0, 0),
		of(14, feed.PageChanged, crawl.Known, crawl.Active, 3, 4),
		of(15, feed.PageResumed, crawl.Stopped, crawl.Known, 0, 0),
		of(15, feed.PageChanged, crawl.Known, crawl.Active, 3, 4),
		of(16, feed.PageEvicted, crawl.Active, crawl.Evicted, 0, 3),
		of(16, feed.PageResumed, crawl.Evicted, crawl.Active, 0, 3), // as it was
	}
	var got []string
	for _, m := range Merge(changes) {
		got = append(got, fmt.Sprintf("%d %s %d-%d", m.PageID, m.Kind, m.Data.From, m.Seq))
	}
	want := []string{
		"0 crawl.state 0-0", "1 page.new 0-2", "2 page.changed 4-7", "4 page.gone 0-0", "6 page.changed 1-2", "7 page.gone 0-1",
		"8 page.moved 3-3", "9 page.moved 3-3", "12 page.changed 6-7", "11 page.gone 3-3", "13 page.recovered 3-3",
		"14 page.changed 3-4", "15 page.changed 3-4",
	}
	if !slices.Equal(got, want) {
		t.Errorf("merged %q\nwant   %q", got, want)
	}
}

// In a digest, a page is as in an earlier version only if that is from before the digest.
func TestMergeOfAReturn(t *testing.T) {
	t.Parallel()
	change := func(from, seq, returned int) feed.Change {
		return feed.Change{PageID: 1, Kind: feed.PageChanged, Seq: seq, Data: feed.Data{Was: crawl.Active, State: crawl.Active, From: from, ReturnedTo: returned}}
	}
	first := change(0, 1, 0)
	first.Kind = feed.PageNew
	for name, tt := range map[string]struct {
		changes  []feed.Change
		kind     feed.Kind
		from, to int
		returned int
	}{
		"one return":                   {[]feed.Change{change(5, 2, 2)}, feed.PageChanged, 5, 2, 2},
		"to a version from before":     {[]feed.Change{change(4, 5, 0), change(5, 2, 2)}, feed.PageChanged, 4, 2, 2},
		"to a later one from before":   {[]feed.Change{change(1, 4, 0), change(4, 2, 2)}, feed.PageChanged, 1, 2, 2},
		"twice to one from before":     {[]feed.Change{change(1, 2, 2), change(2, 3, 0), change(3, 2, 2)}, feed.PageChanged, 1, 2, 2},
		"to one that came meanwhile":   {[]feed.Change{change(1, 2, 0), change(2, 3, 0), change(3, 2, 2)}, feed.PageChanged, 1, 2, 0},
		"of a new page to its version": {[]feed.Change{first, change(1, 2, 0), change(2, 1, 1)}, feed.PageNew, 0, 1, 0},
	} {
		for i := range tt.changes {
			tt.changes[i].ID = int64(i + 1)
		}
		m := Merge(tt.changes)
		if len(m) != 1 || m[0].Kind != tt.kind || m[0].Data.From != tt.from || m[0].Seq != tt.to || m[0].Data.ReturnedTo != tt.returned {
			t.Errorf("%s: %+v", name, m)
		}
	}
}

func TestShorten(t *testing.T) {
	t.Parallel()
	for _, tt := range [][4]int{{30, 0, 20, 0}, {0, 30, 0, 20}, {30, 30, 10, 10}, {3, 30, 3, 17}, {30, 3, 17, 3}, {10, 10, 10, 10}} {
		e := feed.Event{Diff: &feed.EventDiff{Added: make([]string, tt[0]), Removed: make([]string, tt[1])}}
		s := Shorten(e, DigestLines)
		if got := [2]int{len(s.Diff.Added), len(s.Diff.Removed)}; got != [2]int{tt[2], tt[3]} || s.Diff.Cut != (tt[0]+tt[1] > DigestLines) {
			t.Errorf("%v: %v, cut %t", tt, got, s.Diff.Cut)
		}
		if len(e.Diff.Added) != tt[0] || e.Diff.Cut {
			t.Errorf("%v: the event itself was changed", tt)
		}
	}
}
