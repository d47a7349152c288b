package web

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/report"
	"recrawl/internal/schedule"
	"recrawl/internal/store"
)

// How fresh a crawl is, by host: the page has a row for each of the JSON's parts, with the
// time that a change waits for its visit. A host that is visited more rarely has the longer
// wait. Both are read at the same time, for freshness falls from second to second.
func TestHowFresh(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const day = 24 * time.Hour
	visited := time.Now()
	w.reads(func(s report.Store) report.Store { return clockAt{s, visited.Add(day)} })
	for host, every := range map[string]time.Duration{"often.example": day, "rarely.example": 8 * day} {
		id := w.page("https://"+host+"/", host)
		w.finds(id, "Home", "<p>Hello to you all.")
		w.check(w.record(id, store.RecordParams{
			Visit: store.VisitRecord{Outcome: crawl.OutcomeUnchanged, State: crawl.Active, Status: 200}, Interval: every,
			Belief: schedule.Belief{Pairs: 20, Changes: 10, Days: 40, Compared: visited.UnixMilli()}.Encode(),
		}))
	}
	var line struct{ Freshness *report.Freshness }
	if err := json.Unmarshal([]byte(w.get("/crawls/news.json")), &line); err != nil {
		t.Fatal(err)
	}
	if line.Freshness == nil || len(line.Freshness.Hosts) != 2 {
		t.Fatalf("freshness %+v", line.Freshness)
	}
	page := w.get("/crawls/news")
	w.has(page, "How fresh", ">A change waits</th>", "a change waits "+inDays(line.Freshness.Delay)+" for its visit")
	wait := map[string]float64{}
	for _, part := range line.Freshness.Hosts {
		wait[part.Name] = part.Delay
		_, row, _ := strings.Cut(page, "<bdi>"+part.Name+"</bdi> <small>1 page</small></th>")
		row, _, _ = strings.Cut(row, "</tr>")
		want := ""
		for _, cell := range []string{report.Percent(part.Fresh), report.Percent(part.Planned), inDays(part.Age), inDays(part.Delay)} {
			want += fmt.Sprintf(`<td class="number">%s</td>`, cell)
		}
		if row != want {
			t.Errorf("the row of %s is %s, want %s", part.Name, row, want)
		}
	}
	if wait["often.example"] <= 0 || wait["rarely.example"] < 4*wait["often.example"] {
		t.Errorf("a change waits %v days", wait)
	}
}

// clockAt is a store whose clock stands still.
type clockAt struct {
	report.Store
	at time.Time
}

func (c clockAt) Now(context.Context) (time.Time, error) { return c.at, nil }
