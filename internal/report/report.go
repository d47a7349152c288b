package report

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"recrawl/internal/crawl"
	"recrawl/internal/schedule"
	"recrawl/internal/store"
)

// Store holds the data of reports; every store.Store is one.
type Store interface {
	Now(ctx context.Context) (time.Time, error)
	Crawl(ctx context.Context, name string) (store.CrawlRecord, error)
	ListCrawls(ctx context.Context) ([]store.CrawlRecord, error)
	FindPages(ctx context.Context, url, crawlName string) ([]store.PageRecord, error)
	Status(ctx context.Context, crawlID int64) (store.StatusRecord, error)
	HeldWorkers(ctx context.Context) ([]store.HeldWorker, error)
	Care(ctx context.Context, crawlID int64) (store.CareRecord, error)
	ListPages(ctx context.Context, f store.PageFilter) ([]store.PageRecord, error)
	ListVisits(ctx context.Context, pageID int64, before, limit int) ([]store.VisitRecord, error)
	ListVersions(ctx context.Context, pageID int64, before, limit int) ([]store.VersionRecord, error)
	Version(ctx context.Context, pageID int64, seq int) (store.VersionRecord, error)
	ListDuplicates(ctx context.Context, f store.DuplicateFilter) ([]store.DuplicateRecord, error)
	Mirrors(ctx context.Context, crawlID int64, limit int) ([]store.MirrorRecord, error)
	Steering(ctx context.Context, crawlID int64, hosts bool) (store.SteeringRecord, error)
	Evictions(ctx context.Context, crawlID int64, untold bool, limit int) ([]store.Eviction, error)
	Ranking(ctx context.Context, crawlID int64) (last store.RankingRecord, links int, err error)
	ListHosts(ctx context.Context, f store.HostFilter) ([]store.HostRecord, error)
	TroubledHosts(ctx context.Context, crawlID int64, limit int) ([]store.HostRecord, int, error)
	Standings(ctx context.Context, pages []int64) (map[int64]store.Standing, error)
	Robots(ctx context.Context, origin string) (store.RobotsRecord, error)
	Rejections(ctx context.Context, crawlID int64) ([]store.RejectionCount, error)
	ListSources(ctx context.Context, f store.SourceFilter) ([]store.SourceRecord, error)
	ListRejected(ctx context.Context, f store.RejectedFilter) ([]store.RejectedLink, error)
	Traps(ctx context.Context, f store.TrapFilter) ([]store.TrapRecord, error)
	Dominating(ctx context.Context, crawlID int64, limit int) ([]store.PrefixRecord, error)
}

// Visits reads visits of many pages at once, for surveys, and other crawls' plans at hosts,
// for forecasts. Every store.Store is one.
type Visits interface {
	RecentVisits(ctx context.Context, pages []int64, each int) ([]store.VisitLook, error)
	HostLoads(ctx context.Context, crawlID int64, hosts []int64) ([]store.HostLoad, error)
}

// Search finds pages and hosts by a part of their names; every store.Store is one.
type Search interface {
	SearchPages(ctx context.Context, q store.PageSearch) (store.PagesFound, error)
	SearchHosts(ctx context.Context, q store.HostSearch) (store.HostsFound, error)
}

// Deliveries reads the state of sinks; every store.Store is one.
type Deliveries interface {
	ListSinks(ctx context.Context, crawlID int64) ([]store.SinkRecord, error)
	Changes(ctx context.Context, p store.ChangesParams) (store.ChangesPage, error)
	Undelivered(ctx context.Context, crawlID int64, sink string, after int64, limit int) ([]store.UndeliveredRecord, error)
}

// Imports reads unfinished imports of seeds; every store.Store is one.
type Imports interface {
	Imports(ctx context.Context, crawlID int64, limit int) ([]store.ImportRecord, error)
}

// Format is how an answer is written.
type Format string

// The formats.
const (
	Text Format = "text" // for people
	JSON Format = "json" // JSON Lines, one object a line
)

// Reporter writes answers. Its methods return errors of the store and of Out;
// a crawl or page that does not exist is store.ErrNotFound.
type Reporter struct {
	Store  Store
	Visits Visits // Survey, Compare and forecasts need them
	// Deliveries is needed for sinks: by Sinks and FailedOf, and by statuses that show
	// them.
	Deliveries Deliveries
	// Imports is needed by statuses that show unfinished imports.
	Imports Imports
	// Relations is needed for pages by their numbers and their relations to others.
	Relations Relations
	// Requests is needed by EvidenceOf. Without it, pages that were never visited are not
	// reported as excluded by a tdmrep.json.
	Requests Requests
	// Contact is the workers' contact, shown for crawls whose spec has none; "" if it is
	// not known.
	Contact string
	// Search is needed for parts of the lists of pages and hosts.
	Search Search
	// Index is needed by SearchOf only.
	Index  SearchIndex
	Out    io.Writer
	Format Format
	// Short, unless nil, says that this machine's disks with the store and the archive have
	// no room left; "" if they have, or are elsewhere.
	Short func() string
	// Reading, if set, is called while all pages of a crawl or a host are read, with how
	// many of about how many have been.
	Reading func(done, all int)
}

func (r Reporter) sayRead(done, all int) {
	if r.Reading != nil {
		r.Reading(done, all)
	}
}

// batch is the number of records that are read and, in text, aligned at a time: large
// enough that a screen is one table, small enough that output starts at once and a million
// rows need no memory.
const batch = 500

// take returns the size of the next batch when done of limit rows are written; limit 0
// means no limit. It returns 0 when no more are wanted.
func take(limit, done int) int {
	if limit == 0 {
		return batch
	}
	return min(batch, limit-done)
}

// table writes rows in aligned columns, header first if there is one; the
// columns are aligned anew for each table.
type table struct {
	w *tabwriter.Writer
}

func newTable(out io.Writer, header ...string) *table {
	t := &table{w: tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)}
	if len(header) > 0 {
		t.row(header...)
	}
	return t
}

func (t *table) row(cells ...string) {
	for i, c := range cells {
		cells[i] = strings.Map(printable, c)
	}
	// Errors surface in flush: a tabwriter keeps what it is given.
	fmt.Fprintln(t.w, strings.Join(cells, "\t"))
}

// printable keeps text from sites from moving columns or the cursor.
func printable(r rune) rune {
	if unicode.IsControl(r) {
		return ' '
	}
	return r
}

func (t *table) flush() error { return t.w.Flush() }

// writeJSON writes one line.
func writeJSON(out io.Writer, v any) error {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false) // an & in a URL stays readable
	return enc.Encode(v)
}

// stamp is a time in JSON; the zero time is null.
type stamp time.Time

const stampLayout = "2006-01-02T15:04:05.000000000Z"

// MarshalJSON implements json.Marshaler.
func (s stamp) MarshalJSON() ([]byte, error) {
	t := time.Time(s)
	if t.IsZero() {
		return []byte("null"), nil
	}
	return []byte(`"` + t.UTC().Format(stampLayout) + `"`), nil
}

// orNull is a text in JSON; "" is null.
type orNull string

// MarshalJSON implements json.Marshaler.
func (s orNull) MarshalJSON() ([]byte, error) {
	if s == "" {
		return []byte("null"), nil
	}
	return json.Marshal(string(s))
}

// when says a time relative to now: "in 3d 4h", "12m ago", "now", or "-" for
// none.
func when(t, now time.Time) string {
	switch d := t.Sub(now); {
	case t.IsZero():
		return "-"
	case d >= time.Second:
		return "in " + schedule.Rough(d)
	case d <= -time.Second:
		return schedule.Rough(d) + " ago"
	}
	return "now"
}

// When says a time relative to now, in the words of all answers.
func When(t, now time.Time) string { return when(t, now) }

// size says a number of bytes in three digits or so: "512 B", "18.2 KiB".
func size(n int64) string {
	const unit = 1024
	if n < unit {
		return fmt.Sprintf("%d B", n)
	}
	f, names := float64(n)/unit, []string{"KiB", "MiB", "GiB", "TiB"}
	for ; f >= unit && len(names) > 1; names = names[1:] {
		f /= unit
	}
	return fmt.Sprintf("%.1f %s", f, names[0])
}

// some is a cell that may be empty.
func some(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

func words(reasons []crawl.Reason) []string {
	all := make([]string, 0, len(reasons))
	for _, r := range reasons {
		all = append(all, schedule.Word(r))
	}
	return all
}

// Message writes the answer of a command that did something as a line of JSON.
func Message(out io.Writer, text string) error {
	return writeJSON(out, struct {
		Message string `json:"message"`
	}{text})
}
