package web

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/feed"
	"recrawl/internal/feed/reader"
	"recrawl/internal/store"
)

// recentChanges are the last changes of a crawl.
type recentChanges struct {
	Items []change
	Kinds []choice
	// All is the address of the whole list.
	All string
	// Chosen says that only some kinds are shown.
	Chosen bool
	// Unknown says that the store does not know the last changes now.
	Unknown bool
}

// change is a change of a page, a host or a crawl, for people.
type change struct {
	ID    string // for its place on the page
	Kind  string // as feed names it
	What  string
	Title string
	Where string
	Note  string
	At    time.Time
	Link  string // the page's
	// Diff is the change of the text, nil if it is not known yet; DiffLink shows it side by
	// side.
	Diff     *feed.EventDiff
	DiffLink string
}

// shownChange is a change with the time at which its list is shown.
type shownChange struct {
	change
	Now time.Time
}

// choice is one of several ways to see a list.
type choice struct {
	Name, Link string
	Chosen     bool
}

// kindChoices are the choices of kinds of changes to show alone, in the syntax of
// SelectKinds.
var kindChoices = []struct{ name, kinds string }{
	{"All", ""},
	{"New", "page.new"},
	{"Changed", "page.changed,page.back"},
	{"Gone", "page.gone,page.moved,page.excluded,page.duplicate,page.stopped,page.evicted,page.forgotten"},
	{"Trouble", "page.failing,page.recovered,trap.held,host.blocked,sink.paused,feed.gap,crawl.*"},
}

// shownChanges is the number of changes that a crawl's page shows.
const shownChanges = 15

// recent reads the last changes of a crawl of the kinds that were chosen.
func (s *Server) recent(ctx context.Context, record store.CrawlRecord, chosen string) (recentChanges, error) {
	name, q := record.Spec.Name, reader.Query{CrawlID: record.ID}
	if chosen != "" {
		var err error
		if q.Kinds, err = feed.SelectKinds(strings.Split(chosen, ",")); err != nil {
			return recentChanges{}, fmt.Errorf("kinds: %w (%w)", err, errBad)
		}
	}
	changes := reader.New(s.Feed, s.Files)
	last, err := changes.Last(ctx, q, feed.Cursor{}, shownChanges)
	unknown := errors.Is(err, store.ErrUnavailable) // the rest of the page is shown
	if err != nil && !unknown {
		return recentChanges{}, err
	}
	found := recentChanges{All: at(name, "changes"), Chosen: chosen != "", Unknown: unknown}
	for _, k := range kindChoices {
		c := choice{Name: k.name, Link: at(name), Chosen: k.kinds == chosen}
		if k.kinds != "" {
			c.Link += "?" + url.Values{"kinds": {k.kinds}}.Encode()
		}
		found.Kinds = append(found.Kinds, c)
	}
	s.diffs.fill(ctx, changes, record.Generation, last.Events)
	for _, e := range last.Events {
		found.Items = append(found.Items, changeOf(name, e))
	}
	return found, nil
}

// Titles and addresses are cut to what a line or two can show.
const (
	titleShown = 120
	urlShown   = 300
)

// changeOf makes an event readable for people.
func changeOf(crawlName string, e feed.Event) change {
	c := change{
		ID: "change-" + e.ID, Kind: e.Kind.String(), What: e.What(), Title: crawl.Clean(e.Title(), titleShown),
		Where: crawl.Clean(e.Where(), urlShown), Note: crawl.Clean(e.Detail(), urlShown), At: e.At, Diff: e.Diff,
	}
	if e.Page == nil || e.Page.URL == "" {
		return c
	}
	page := fmt.Sprint(e.Page.ID)
	c.Link = at(crawlName, "pages", page)
	if e.Before != nil && e.Version != nil && e.Before.Digest != "" && e.Version.Digest != "" && e.Before.Seq != e.Version.Seq {
		c.DiffLink = at(crawlName, "pages", page, "diff") + fmt.Sprintf("?from=%d&to=%d", e.Before.Seq, e.Version.Seq)
	}
	return c
}

// diffs caches the differences of the texts of the last events. Each takes reading two
// bodies, and never changes.
type diffs struct {
	mu   sync.Mutex
	kept map[diffKey]*feed.EventDiff
	old  map[diffKey]*feed.EventDiff // kept before, for as long as kept is not full
}

// diffKey names an event, and the spec with the rules by which texts are compared.
type diffKey struct {
	event      string
	generation int64
}

const (
	// keptDiffs is the least number of diffs that are kept, of up to 8 KiB each.
	keptDiffs = 500
	// diffTime is how long a page waits for diffs that are not cached. Those that are not
	// ready then are shown as links.
	diffTime = 50 * time.Millisecond
	// comparedMost bounds the bytes of a body that is compared while somebody waits.
	comparedMost = 256 << 10
)

// fill adds the diffs that are cached or quickly computed to the events. The changes are
// shown even after an error. What is cached of a page that was forgotten since, or of a version
// that is no longer kept, is not shown.
func (d *diffs) fill(ctx context.Context, r *reader.Reader, generation int64, events []feed.Event) {
	begun := time.Now()
	for i := range events {
		e := &events[i]
		if e.Page == nil || e.Page.URL == "" || !keepsBody(e.Before) || !keepsBody(e.Version) {
			continue
		}
		key := diffKey{e.ID, generation}
		var known bool
		if e.Diff, known = d.get(key); known {
			continue
		}
		if time.Since(begun) > diffTime || max(e.Before.Bytes, e.Version.Bytes) > comparedMost {
			continue
		}
		diff, err := r.DiffOf(ctx, *e)
		if err != nil {
			return
		}
		e.Diff = diff
		d.put(key, diff)
	}
}

func keepsBody(v *feed.EventVersionOf) bool { return v != nil && v.Digest != "" }

func (d *diffs) get(key diffKey) (*feed.EventDiff, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if diff, ok := d.kept[key]; ok {
		return diff, true
	}
	diff, ok := d.old[key]
	return diff, ok
}

// put caches a diff, and drops diffs older than the last keptDiffs.
func (d *diffs) put(key diffKey, diff *feed.EventDiff) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.kept == nil || len(d.kept) >= keptDiffs {
		d.old, d.kept = d.kept, map[diffKey]*feed.EventDiff{}
	}
	d.kept[key] = diff
}
