package report

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"recrawl/internal/crawl"
	"recrawl/internal/sitemap"
	"recrawl/internal/store"
)

// SourcesQuery asks for the sitemaps and feeds of a crawl.
type SourcesQuery struct {
	Crawl string
	Host  string // "" means all
	Limit int    // 0 means all
}

// SourceLine is a sitemap or feed that a crawl reads.
type SourceLine struct {
	URL       string          `json:"url"`
	Kind      crawl.PageKind  `json:"kind"`
	State     crawl.PageState `json:"state"`
	Format    orNull          `json:"format"`
	Entries   int             `json:"entries"`
	Dated     int             `json:"dated"`
	Dropped   map[string]int  `json:"dropped"`
	Hinted    int             `json:"hinted"`
	Hits      int             `json:"hits"`
	Misses    int             `json:"misses"`
	Trusted   bool            `json:"trusted"`
	Skipped   map[string]int  `json:"skipped"`
	LastVisit stamp           `json:"last_visit"`
	ReadAt    stamp           `json:"read_at"`
	Problem   orNull          `json:"problem"`
}

// Sources writes the lists of URLs that a crawl reads, in the order in which they were
// found: what they have, what was left out, and whether their dates were worth a visit.
func (r Reporter) Sources(ctx context.Context, q SourcesQuery) error {
	record, now, err := r.open(ctx, q.Crawl)
	if err != nil {
		return err
	}
	filter := store.SourceFilter{CrawlID: record.ID, Host: q.Host}
	done := 0
	for filter.Limit = take(q.Limit, done); filter.Limit > 0; filter.Limit = take(q.Limit, done) {
		sources, err := r.Store.ListSources(ctx, filter)
		if err != nil {
			return err
		}
		if len(sources) == 0 {
			break
		}
		t := r.sourceTable(done == 0)
		for _, s := range sources {
			if r.Format == JSON {
				err = writeJSON(r.Out, sourceLineOf(s))
			} else {
				t.row(s.Kind.String(), some(s.Format), strconv.Itoa(s.Entries), strconv.Itoa(s.Dated), strconv.Itoa(s.Hits), strconv.Itoa(s.Misses),
					trust(s), when(s.LastAt, now), s.URL, some(strings.Join(notes(s), ", ")))
			}
			if err != nil {
				return err
			}
		}
		if err := t.flush(); err != nil {
			return err
		}
		done += len(sources)
		filter.After = sources[len(sources)-1].PageID
	}
	if done == 0 && r.Format == Text {
		fmt.Fprintln(r.Out, "no sitemaps or feeds have been found")
	}
	return nil
}

func (r Reporter) sourceTable(head bool) *table {
	if r.Format == Text && head {
		return newTable(r.Out, "KIND", "FORMAT", "URLS", "DATED", "HITS", "MISSES", "TRUSTED", "LAST VISIT", "URL", "NOTES")
	}
	return newTable(r.Out)
}

func sourceLineOf(s store.SourceRecord) SourceLine {
	line := SourceLine{
		URL: s.URL, Kind: s.Kind, State: s.State, Format: orNull(s.Format), Entries: s.Entries, Dated: s.Dated,
		Dropped: map[string]int{}, Hinted: s.Hinted, Hits: s.Hits, Misses: s.Misses, Trusted: trusted(s), Skipped: map[string]int{},
		LastVisit: stamp(s.LastAt), ReadAt: stamp(s.ReadAt), Problem: orNull(s.Problem),
	}
	maps.Copy(line.Dropped, s.Dropped)
	maps.Copy(line.Skipped, s.Skipped)
	return line
}

func trusted(s store.SourceRecord) bool {
	return sitemap.Record{Hits: s.Hits, Misses: s.Misses}.Trusted()
}

func trust(s store.SourceRecord) string {
	if trusted(s) {
		return "yes"
	}
	return "no"
}

// notes says what is wrong with a source: what could not be read, what was left out, and
// which dates moved no visit.
func notes(s store.SourceRecord) []string {
	var all []string
	if s.Problem != "" {
		all = append(all, s.Problem)
	}
	for _, counts := range []map[string]int{s.Dropped, s.Skipped} {
		for _, reason := range slices.Sorted(maps.Keys(counts)) {
			all = append(all, fmt.Sprintf("%s: %d", reason, counts[reason]))
		}
	}
	return all
}

// source returns one source, nil if the page is none.
func (r Reporter) source(ctx context.Context, crawlID, pageID int64) (*store.SourceRecord, error) {
	if pageID == 0 {
		return nil, nil
	}
	found, err := r.Store.ListSources(ctx, store.SourceFilter{CrawlID: crawlID, PageID: pageID, Limit: 1})
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}

// hintWords says whose hint makes a page's next visit early.
func hintWords(s store.SourceRecord) string {
	return fmt.Sprintf("the %s %s says that the page has changed (%s)", s.Kind, s.URL, recordWords(s))
}

// recordWords says what a source's hints were worth so far.
func recordWords(s store.SourceRecord) string {
	words := fmt.Sprintf("%d of its %s found a change", s.Hits, plural(s.Hits+s.Misses, "hint"))
	if !trusted(s) {
		words += ", so one in ten is followed"
	}
	return words
}
