package app

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/report"
	"recrawl/internal/store"
)

// A trouble is said once, for as long as it holds, and again if it comes back.
func TestNotices(t *testing.T) {
	t.Parallel()
	told := notices{}
	for i, c := range []struct {
		all  map[string]string
		want []string
	}{
		{map[string]string{}, nil},
		{map[string]string{"b": "b is dead", "a": "a is blocked"}, []string{"a is blocked", "b is dead"}},
		{map[string]string{"b": "b is dead: another time", "a": "a is blocked"}, nil},
		{nil, nil}, // the store did not answer
		{map[string]string{"a": "a is blocked"}, nil},
		{map[string]string{"b": "b is dead", "a": "a is blocked"}, []string{"b is dead"}},
	} {
		if got := told.news(c.all); !slices.Equal(got, c.want) {
			t.Errorf("%d: %q, want %q", i, got, c.want)
		}
	}
}

// A log gets a dated line for each crawl that has made progress. On a terminal the crawls'
// lines are overwritten, except for what must stay visible.
func TestScreen(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 23, 16, 40, 0, 0, time.UTC)
	const stamp = "2026-11-23 16:40:00  "
	for over, want := range map[bool]string{
		false: stamp + "a: 1 visit, 3m left\n" + stamp + "b: 1 visit\n" + stamp + "b: 2 visits\n" + stamp + "the store is gone\n" + stamp + "a: 2 visits\n",
		true: noWrap + "a: 1 visit, 3m left\nb: 1 visit" + wrap + "\x1b[1A\r\x1b[J" + noWrap + "a: 1 visit, 3m left\nb: 2 visits" + wrap +
			"\x1b[1A\r\x1b[J" + stamp + "the store is gone\n" +
			noWrap + "a: 1 visit, 3m left\nb: 2 visits" + wrap + "\x1b[1A\r\x1b[J" + noWrap + "a: 2 visits" + wrap,
	} {
		line := func(name, words string) crawlLine {
			done, _, _ := strings.Cut(words, ",")
			return crawlLine{name, words, done}
		}
		var out bytes.Buffer
		s := &screen{out: &out, over: over}
		s.show([]crawlLine{line("a", "1 visit, 3m left"), line("b", "1 visit")}, at)
		s.show([]crawlLine{line("a", "1 visit, 3m left"), line("b", "1 visit")}, at)
		if s.show([]crawlLine{line("a", "1 visit, 3m left"), line("b", "2 visits")}, at); !over {
			s.show([]crawlLine{line("a", "1 visit, 2m left"), line("b", "2 visits")}, at)
		}
		failed, gone := notices{}, errors.New("the store is gone")
		for _, err := range []error{nil, gone, gone} {
			if news := failed.news(failures(err)); len(news) > 0 {
				s.say([]string{err.Error()}, at)
			}
		}
		s.show([]crawlLine{line("a", "1 visit, 3m left"), line("b", "2 visits")}, at)
		s.show([]crawlLine{line("a", "2 visits")}, at)
		if out.String() != want {
			t.Errorf("over %v: %q, want %q", over, out.String(), want)
		}
	}
}

// Finding out the progress of large crawls takes a small part of the time only.
func TestProgressRests(t *testing.T) {
	t.Parallel()
	for took, want := range map[time.Duration]time.Duration{
		0: time.Second, 20 * time.Millisecond: time.Second, 300 * time.Millisecond: 6 * time.Second, 3 * time.Second: time.Minute,
	} {
		if got := restAfter(drawEvery, took); got != want {
			t.Errorf("after %s: %s, want %s", took, got, want)
		}
	}
}

func TestProgressWords(t *testing.T) {
	t.Parallel()
	s := store.StatusRecord{Visits: 34, Waiting: 2, Pages: map[crawl.PageState]int{crawl.Known: 1000, crawl.Active: 56}}
	first := &report.FirstPass{Done: 34, Left: 1022, Host: "a.test", Every: crawl.Duration(10 * time.Second), Takes: crawl.Duration(10220 * time.Second)}
	for want, c := range map[string]struct {
		state crawl.CrawlState
		first *report.FirstPass
		short bool
	}{
		"34 visits, 1000 known, 56 active, 2 waiting in line; first pass: 34 of 1056 pages visited; 1022 to go, one every 10s at a.test, about 2h 50m": {crawl.CrawlRunning, first, false},
		"░░░░░░░░░░░░░░░░░░░░ 34/1056, about 2h 50m left; 34 visits, 1000 known, 56 active, 2 waiting in line":                                         {crawl.CrawlRunning, first, true},
		"paused, 34 visits, 1000 known, 56 active, 2 waiting in line":                                                                                  {crawl.CrawlPaused, nil, true},
	} {
		if got := progressWords(c.state, s, c.first, c.short); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
