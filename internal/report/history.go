package report

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/schedule"
	"recrawl/internal/store"
)

// HistoryQuery asks for the visits of a page.
type HistoryQuery struct {
	URL   string // canonical
	Crawl string // "" means every crawl that has the page
	Limit int    // visits per page, 0 means all
}

// VisitLine is a visit of a page.
type VisitLine struct {
	URL string `json:"url"`
	// Crawl is set only if the page is in several crawls.
	Crawl    string         `json:"crawl,omitempty"`
	Visit    int            `json:"visit"`
	At       stamp          `json:"at"`
	Outcome  crawl.Outcome  `json:"outcome"`
	Status   int            `json:"status"` // 0: no HTTP answer
	Version  int            `json:"version"`
	Digest   orNull         `json:"digest"`
	Bytes    int64          `json:"bytes"`
	Duration crawl.Duration `json:"duration"`
	NextAt   stamp          `json:"next_at"`
	// Reasons are in words: what went wrong, if anything, then why the next visit comes
	// when it does.
	Reasons []string `json:"reasons"`
	// Record is the visit as stored, for people's answers.
	Record store.VisitRecord `json:"-"`
}

// Why says the result of the visit, and what followed from it.
func (l VisitLine) Why() string { return why(l.Record) }

// NewVisitLine makes the answer about a visit.
func NewVisitLine(page store.PageRecord, v store.VisitRecord) VisitLine {
	return VisitLine{
		URL: page.URL, Visit: v.Visit, At: stamp(v.At), Outcome: v.Outcome, Status: v.Status, Version: v.Version,
		Digest: orNull(v.Digest), Bytes: v.Bytes, Duration: crawl.Duration(v.Duration), NextAt: stamp(v.NextAt),
		Reasons: append(trouble(v), words(v.Reasons)...), Record: v,
	}
}

// VisitsOf returns at most limit visits of a page, newest first, below visit number before
// (0: from the newest).
func (r Reporter) VisitsOf(ctx context.Context, page store.PageRecord, before, limit int) ([]VisitLine, error) {
	visits, err := r.Store.ListVisits(ctx, page.PageID, before, limit)
	if err != nil {
		return nil, err
	}
	lines := make([]VisitLine, 0, len(visits))
	for _, v := range visits {
		lines = append(lines, NewVisitLine(page, v))
	}
	return lines, nil
}

// History writes the visits of a page, newest first.
func (r Reporter) History(ctx context.Context, q HistoryQuery) error {
	return r.eachPage(ctx, q, func(page store.PageRecord, several bool, now time.Time) error {
		return r.visits(ctx, page, q.Limit, several, now)
	})
}

func (r Reporter) pageHead(ctx context.Context, p store.PageRecord, now time.Time) error {
	record, err := r.Store.Crawl(ctx, p.Crawl)
	if err != nil {
		return err
	}
	is, err := r.prospect(ctx, record, p, Live{}, now)
	if err != nil {
		return err
	}
	head := fmt.Sprintf("crawl %s, %s, %s, %s, next visit %s", p.Crawl, p.State, plural(p.Visits, "visit"), plural(p.Changes, "change"), is.words(now))
	if is.trouble != "" && is.Why != is.trouble {
		head += fmt.Sprintf("\nits host is %s: %s", is.state, is.trouble)
	}
	_, err = fmt.Fprintf(r.Out, "%s\n%s\n", p.URL, visibleLines(head))
	return err
}

// visibleLines keeps text from sites from moving the cursor, line by line.
func visibleLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = strings.Map(printable, l)
	}
	return strings.Join(lines, "\n")
}

func (r Reporter) visits(ctx context.Context, page store.PageRecord, limit int, nameCrawl bool, now time.Time) error {
	before, done := 0, 0
	for take(limit, done) > 0 {
		visits, err := r.VisitsOf(ctx, page, before, take(limit, done))
		if err != nil {
			return err
		}
		if len(visits) == 0 {
			return nil
		}
		if r.Format == Text {
			err = r.visitTable(visits, done == 0, now)
		} else {
			err = r.visitLines(page, visits, nameCrawl)
		}
		if err != nil {
			return err
		}
		done += len(visits)
		before = visits[len(visits)-1].Visit
		if before <= 1 {
			return nil
		}
	}
	return nil
}

func (r Reporter) visitLines(page store.PageRecord, visits []VisitLine, nameCrawl bool) error {
	for _, line := range visits {
		if nameCrawl {
			line.Crawl = page.Crawl
		}
		if err := writeJSON(r.Out, line); err != nil {
			return err
		}
	}
	return nil
}

func (r Reporter) visitTable(visits []VisitLine, head bool, now time.Time) error {
	var header []string
	if head {
		header = []string{"VISIT", "WHEN", "OUTCOME", "STATUS", "VERSION", "BYTES", "TOOK", "WHY THE NEXT VISIT IS THEN"}
	}
	t := newTable(r.Out, header...)
	for _, line := range visits {
		v := line.Record
		t.row(strconv.Itoa(v.Visit), when(v.At, now), v.Outcome.String(), numberOr(v.Status), numberOr(v.Version),
			size(v.Bytes), took(v.Duration), line.Why())
	}
	return t.flush()
}

// why says the result of a visit and what followed from it.
func why(v store.VisitRecord) string {
	parts := trouble(v)
	if v.NextAt.IsZero() {
		parts = append(parts, words(v.Reasons)...)
	} else {
		parts = append(parts, schedule.Summary(v.NextAt.Sub(v.At), v.Reasons))
	}
	return strings.Join(parts, "; ")
}

// trouble says what went wrong or led elsewhere.
func trouble(v store.VisitRecord) []string {
	parts := []string{}
	if v.Problem != "" {
		parts = append(parts, v.Problem)
	}
	if v.Location != "" {
		parts = append(parts, "to "+v.Location)
	}
	return parts
}

// Size says a number of bytes in three digits or so.
func Size(n int64) string { return size(n) }

// took says how long a request took, in three digits or so.
func took(d time.Duration) string {
	if d < time.Second {
		return d.Round(time.Millisecond).String()
	}
	return d.Round(10 * time.Millisecond).String()
}

func numberOr(n int) string {
	if n == 0 {
		return "-"
	}
	return strconv.Itoa(n)
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}
