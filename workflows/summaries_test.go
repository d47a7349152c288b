package workflows

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/converter"

	"recrawl/internal/contract"
)

// The purpose of a timer stands at the beginning of its summary, and the UI shows all of
// it: the end of long words is cut, not the beginning.
func TestTimerSummary(t *testing.T) {
	t.Parallel()
	s := newOnServer(t)
	in := visited(time.Now().Add(72*time.Hour + time.Minute))
	in.Why = strings.Repeat("other bytes, but the text is the same; ", 20)
	run := s.startPage(in)
	events := s.client.GetWorkflowHistory(s.ctx, run.GetID(), run.first, true, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		event, err := events.Next()
		if err != nil {
			t.Fatal(err)
		}
		if event.EventType != enumspb.EVENT_TYPE_TIMER_STARTED {
			continue
		}
		var summary string
		if err := converter.GetDefaultDataConverter().FromPayload(event.GetUserMetadata().GetSummary(), &summary); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(summary, "revisit in 3d: other bytes") || utf8.RuneCountInString(summary) > 60 || !strings.HasSuffix(summary, "…") {
			t.Errorf("the summary is %q", summary)
		}
		break
	}
	s.signal(run.GetID(), contract.StopName, nil)
	s.end(run)
}

// The UI breaks no line of a table: no row of the details is long, whatever a site says.
func TestDetailsAreNarrow(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("very long ", 50)
	page := visited(start.Add(day))
	page.Page.URL, page.Why, page.Waiting, page.Recent[0].Note = "https://example.com/"+long, long, long, long
	crawl := contract.CrawlProgress{Name: "news", Problem: long, Problems: map[string]string{"ranks": long}}
	for what, details := range map[string]string{"page": pageDetails(&page, "sleeping"), "crawl": crawlDetails(&crawl, long)} {
		for line := range strings.Lines(details) {
			if utf8.RuneCountInString(line) > 160 {
				t.Errorf("the %s's details have a row of %d characters: %s", what, utf8.RuneCountInString(line), line)
			}
		}
	}
}
