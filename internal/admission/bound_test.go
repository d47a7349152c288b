package admission

import (
	"fmt"
	"testing"
	"time"

	"recrawl/internal/crawl"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestNext(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		pages int
		since time.Duration // the last move
		wait  time.Duration
		taken int
		want  int
		words string
	}{
		"quick, and used up":               {80, time.Second, 200 * time.Millisecond, 75, 100, "tasks wait only 0.2 s for a worker, so there may be more than the 80 of before"},
		"quick, and nearly used up":        {80, time.Second, 0, 70, 100, "tasks wait only 0.0 s for a worker, so there may be more than the 80 of before"},
		"quick, but with places left":      {80, time.Hour, 0, 69, 80, ""},
		"quick, but it has just grown":     {80, 900 * time.Millisecond, 0, 80, 80, ""},
		"neither quick nor slow":           {80, time.Hour, 1500 * time.Millisecond, 80, 80, ""},
		"slow":                             {80, 3 * time.Second, 2400 * time.Millisecond, 100, 60, "tasks wait 2.4 s for a worker"},
		"slow, from what is taken":         {10_000, time.Minute, 5 * time.Second, 200, 150, "tasks wait 5.0 s for a worker"},
		"slow, but it has just shrunk":     {1000, 4 * time.Second, 5 * time.Second, 1000, 1000, ""},
		"slow for hours, though not shown": {1000, 31 * time.Second, time.Hour, 1000, 750, "tasks wait 3600 s for a worker"},
		"slow, down to the floor":          {40, time.Minute, 5 * time.Second, 40, Floor, "tasks wait 5.0 s for a worker"},
		"slow, at the floor":               {Floor, time.Hour, time.Minute, 1000, Floor, ""},
		"quick, at the top":                {Most, time.Hour, 0, Most, Most, ""},
		"quick, after the clock went back": {80, -2 * time.Hour, 0, 80, 100, "tasks wait only 0.0 s for a worker, so there may be more than the 80 of before"},
		"slow, after the clock went back":  {80, -2 * time.Hour, 3 * time.Second, 100, 60, "tasks wait 3.0 s for a worker"},
		"quick, by another's clock":        {80, -time.Second, 0, 80, 80, ""},
	} {
		was := Bound{Pages: c.pages, At: now.Add(-c.since), Reason: crawl.Reason{Text: "before"}}
		got := was.Next(now, Engine{Wait: c.wait}, c.taken)
		if got.Pages != c.want {
			t.Errorf("%s: %d pages, want %d", name, got.Pages, c.want)
		}
		moved := c.words != ""
		if moved != got.At.Equal(now) || moved && Words(got.Reason) != c.words || !moved && got.Reason.Text != "before" {
			t.Errorf("%s: %+v: %s", name, got, Words(got.Reason))
		}
	}
}

func TestRoom(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		pages int
		d     Demand
		want  int
	}{
		"nothing on its way":               {64, Demand{0, 0, 1}, 64},
		"worth a refill":                   {64, Demand{56, 56, 1}, 8},
		"not worth a refill":               {64, Demand{57, 57, 1}, 0},
		"used up":                          {64, Demand{64, 64, 1}, 0},
		"more than the bound":              {64, Demand{500, 500, 1}, 0},
		"used up by another, own share":    {64, Demand{64, 0, 2}, 32},
		"used up by another, own share to": {64, Demand{94, 30, 2}, 0},
		"of a hundred crawls":              {64, Demand{500, 0, 100}, 8},
		"the last page of a hundred":       {64, Demand{500, 8, 100}, 0},
		"large":                            {8000, Demand{7500, 7500, 1}, 0},
	} {
		if got := (Bound{Pages: c.pages}).Room(c.d); got != c.want {
			t.Errorf("%s: room for %d, want %d", name, got, c.want)
		}
	}
	// A crawl that has nothing on its way always has room: no visit would inform it of
	// any.
	for crawls := range 2000 {
		if (Bound{Pages: Floor}).Room(Demand{Taken: 1 << 30, Crawls: crawls}) == 0 {
			t.Fatalf("no room for the last of %d crawls", crawls)
		}
	}
}

func TestLow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		taken, window int
		want          bool
	}{{0, 1, true}, {1, 1, false}, {1, 2, true}, {8, 16, true}, {9, 16, false}} {
		if Low(c.taken, c.window) != c.want {
			t.Errorf("a host with %d of %d is low: %t", c.taken, c.window, !c.want)
		}
	}
}

func TestShare(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		hosts []Host
		n     int
		want  []int
	}{
		{nil, 8, []int{}},
		{[]Host{{0, 9}, {0, 9}, {0, 9}}, 2, []int{1, 1, 0}},
		{[]Host{{0, 9}, {0, 9}, {0, 9}}, 7, []int{3, 2, 2}},
		{[]Host{{3, 9}, {0, 9}, {1, 9}}, 5, []int{0, 3, 2}},
		{[]Host{{1, 1}, {0, 2}}, 100, []int{1, 2}},
		{[]Host{{0, 1}, {0, 9}}, 6, []int{1, 5}},
		{[]Host{{5, 11}, {16, 0}}, 100, []int{11, 0}},
	} {
		if got := Share(c.hosts, c.n); fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%d among %v: %v, want %v", c.n, c.hosts, got, c.want)
		}
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	for _, code := range []string{CodeStart, CodeGrew, CodeShrank} {
		if got := Words(crawl.Reason{Code: code}); got == code || got == "" {
			t.Errorf("no words for %s", code)
		}
	}
	if got := Words(crawl.Reason{Code: "x"}) + Words(crawl.Reason{Code: "x", Text: "y"}); got != "xy" {
		t.Errorf("another package's reasons: %s", got)
	}
}
