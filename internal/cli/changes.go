package cli

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"recrawl/internal/config"
	"recrawl/internal/crawl"
	"recrawl/internal/feed"
	"recrawl/internal/feed/atom"
	"recrawl/internal/feed/reader"
	"recrawl/internal/report"
	"recrawl/internal/store"
)

type changesCmd struct {
	Name     string   `arg:"" optional:"" help:"The crawl."`
	All      bool     `help:"Of all crawls of the store, instead of NAME."`
	After    string   `placeholder:"CURSOR" xor:"begin" help:"What came after a cursor, as an earlier call printed it; or 'now'."`
	Since    string   `placeholder:"WHEN" xor:"begin" help:"Since a date (2026-03-01), a time (2026-03-01T12:00:00Z), or for so long (7d). Without --after and --since: all that is kept."`
	Snapshot bool     `xor:"begin" help:"First all pages with their last versions, and then what changes since."`
	Follow   bool     `help:"Go on until Ctrl-C, and look for new changes every second."`
	Kinds    []string `placeholder:"KIND" help:"Only these kinds, such as page.new,page.changed or page.*."`
	Host     []string `placeholder:"HOST" help:"Only pages of these hosts."`
	Diff     bool     `help:"Say what changed in the texts. It takes the archive."`
	Limit    uint     `placeholder:"N" help:"Show at most N; with --format atom the newest, 100 by default."`
	Format   string   `enum:"${lines},atom" default:"${lines}" placeholder:"atom" help:"A feed for news readers, instead of lines."`
}

// noFormat is the value of --format that leaves the choice to --output.
const noFormat = "lines"

// atomEvents is the number of events in a feed for news readers.
const atomEvents = 100

// Help implements kong.HelpProvider.
func (changesCmd) Help() string {
	return `In the order in which they happened. The last line is the cursor from which to go on. If the changes after a cursor
are no longer kept, or the store was restored from a backup, the exit code is 4: take a --snapshot.
docs/changes.md describes the lines of --output json.

    starter changes news --since 7d
    starter changes news --follow --diff --kinds page.new,page.changed
    starter changes news --snapshot --follow --output json
    starter changes news --since 30d --diff --format atom > news.xml`
}

// Run writes changes.
func (c changesCmd) Run(s *session) error {
	if err := c.check(s.global.Output); err != nil {
		return err
	}
	kinds, err := feed.SelectKinds(c.Kinds)
	if err != nil {
		return usagef("--kinds %s", err)
	}
	begin, err := c.begin()
	if err != nil {
		return err
	}
	return s.withStore(func(opened Opened) error {
		l := &changesLog{
			cmd: c, session: s, feed: opened.Feed, query: reader.Query{Kinds: kinds, Diff: c.Diff},
			out: &report.Changes{Out: s.env.Stdout, Format: s.global.Output},
		}
		return orGone(l.run(opened, begin))
	})
}

// orGone gives the error of an invalid cursor its exit code and words.
func orGone(err error) error {
	if told := (*failure)(nil); errors.As(err, &told) {
		return err
	}
	for _, gone := range []error{feed.ErrTrimmed, feed.ErrAhead, feed.ErrEpoch} {
		if errors.Is(err, gone) {
			return &failure{ExitGone, gone.Error(), err}
		}
	}
	return err
}

// check refuses options that do not go together.
func (c changesCmd) check(output report.Format) error {
	switch {
	case c.Name == "" && !c.All:
		return usagef("give the NAME of a crawl, or --all")
	case c.Name != "" && c.All:
		return usagef("give either the NAME of a crawl, or --all")
	case c.Snapshot && len(c.Kinds) > 0:
		return usagef("--snapshot with --kinds: a consumer that keeps pages needs all of their changes; give one of the two")
	case c.Format != noFormat && (c.Follow || c.Snapshot):
		return usagef("--format atom is a document with an end: leave out --follow and --snapshot")
	case c.Format != noFormat && output != report.Text:
		return usagef("give either --format atom, or --output json")
	}
	return nil
}

// beginning is where to begin.
type beginning struct {
	after  feed.Cursor // if not zero
	now    bool
	since  time.Time
	within time.Duration
}

func (c changesCmd) begin() (b beginning, err error) {
	switch {
	case c.After == "now":
		b.now = true
	case c.After != "":
		if b.after, err = feed.ParseCursor(c.After); err != nil {
			return b, usagef("--after: %w, or now", err)
		}
	case c.Since != "":
		if b.since, b.within, err = parseWhen(c.Since); err != nil {
			return b, usagef("--since %w", err)
		}
	}
	return b, nil
}

// parseWhen reads a date, a time, or how long ago it was.
func parseWhen(text string) (at time.Time, ago time.Duration, err error) {
	for _, layout := range []string{time.RFC3339Nano, time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, 0, nil
		}
	}
	d, err := crawl.ParseDuration(text)
	if err != nil || d == 0 {
		return at, 0, fmt.Errorf("%s: write a date (2026-03-01), a time (2026-03-01T12:00:00Z), or how long ago (7d)", text)
	}
	return at, d, nil
}

// changesLog is one run of `starter changes`.
type changesLog struct {
	cmd     changesCmd
	session *session
	feed    Feed
	reader  *reader.Reader
	query   reader.Query
	out     *report.Changes
	done    uint        // events
	quiet   int         // looks since the last line
	told    feed.Cursor // the last one written
	epoch   string
}

// errEnough ends the reading of a log that is long enough.
var errEnough = errors.New("enough")

func (l *changesLog) run(opened Opened, begin beginning) error {
	s := l.session
	files, err := l.files()
	if err != nil {
		return err
	}
	l.reader = reader.New(l.feed, files)
	if err := l.choose(opened); err != nil {
		return err
	}
	if l.query.After, err = l.start(begin); err != nil {
		return err
	}
	l.epoch = l.query.After.Epoch
	if l.cmd.Format != noFormat {
		return l.atom()
	}
	if l.cmd.Snapshot {
		if l.query.After, err = l.reader.Snapshot(s.ctx, l.query, l.out.Pages); err != nil {
			if interrupted := s.ctx.Err(); interrupted != nil {
				return interrupted // half a snapshot has no cursor from which to go on
			}
			return err
		}
	}
	follow := reader.Following{Take: l.take}
	if l.cmd.Follow {
		ticker := time.NewTicker(reader.PollEvery)
		defer ticker.Stop()
		follow.Ticks = ticker.C
		follow.Trouble = func(err error) { fmt.Fprintln(s.env.Stderr, "starter: trying again:", oneLine(err)) }
		if l.cmd.Snapshot { // a consumer that ends now has the snapshot
			if err := l.cursor(); err != nil {
				return err
			}
		}
	}
	if err := l.reader.Follow(s.ctx, l.query, follow); err != nil && !errors.Is(err, errEnough) {
		return err
	}
	return l.cursor()
}

// files is the archive if diffs are asked for.
func (l *changesLog) files() (reader.Contents, error) {
	if !l.cmd.Diff {
		return nil, nil
	}
	if l.session.places.Archive == "" {
		return nil, usage(config.ErrNoArchive)
	}
	files, err := l.session.env.Backend.OpenArchive(l.session.ctx, l.session.places.Archive)
	if err != nil {
		return nil, fmt.Errorf("cannot open the archive: %w", err)
	}
	return files, nil
}

// choose finds the crawl and the hosts.
func (l *changesLog) choose(opened Opened) error {
	if !l.cmd.All {
		record, err := opened.Crawl(l.session.ctx, l.cmd.Name)
		if err != nil {
			return orNoCrawl(l.cmd.Name, err)
		}
		l.query.CrawlID = record.ID
	}
	for _, given := range l.cmd.Host {
		host, err := hostFilter(given)
		if err != nil {
			return err
		}
		if _, err := opened.ListPages(l.session.ctx, store.PageFilter{CrawlID: l.query.CrawlID, Host: host, Limit: 1}); err != nil {
			return fmt.Errorf("--host %s: %w", host, err)
		}
		l.query.Hosts = append(l.query.Hosts, host)
	}
	return nil
}

// start is the cursor to begin with.
func (l *changesLog) start(b beginning) (feed.Cursor, error) {
	ctx := l.session.ctx
	if b.after != (feed.Cursor{}) {
		return b.after, nil
	}
	ends, err := l.feed.FeedEnds(ctx)
	if err != nil {
		return feed.Cursor{}, err
	}
	if b.within > 0 {
		now, err := l.feed.Now(ctx)
		if err != nil {
			return feed.Cursor{}, err
		}
		b.since = now.Add(-b.within)
	}
	switch {
	case b.now:
		return ends.Newest, nil
	case b.since.IsZero():
		return ends.Oldest, nil
	}
	before, err := l.feed.ChangeBefore(ctx, b.since)
	if errors.Is(err, feed.ErrTrimmed) {
		text := fmt.Sprintf("--since %s: some of the changes since then are no longer kept: leave --since out for all that are, or take a --snapshot", l.cmd.Since)
		return before, &failure{ExitGone, text, err}
	}
	return before, err
}

// quietLooks is the number of looks without a find after which a follower's consumer gets a
// cursor: otherwise one that selects few events would hold an old one, until the changes
// after it are no longer kept.
const quietLooks = 60

// take writes a batch.
func (l *changesLog) take(b reader.Batch) error {
	events := b.Events
	if limit := l.cmd.Limit; limit > 0 && uint(len(events)) >= limit-l.done {
		events = events[:limit-l.done]
		if err := l.out.Events(events); err != nil {
			return err
		}
		l.query.After = events[len(events)-1].Cursor
		return errEnough
	}
	l.done += uint(len(events))
	l.query.After = b.Through
	if len(events) > 0 {
		l.quiet, l.told = 0, events[len(events)-1].Cursor
		return l.out.Events(events)
	}
	if l.quiet++; l.quiet < quietLooks || l.told == b.Through || l.session.global.Output != report.JSON {
		return nil
	}
	l.quiet = 0
	return l.cursor()
}

// cursor writes where to go on.
func (l *changesLog) cursor() error {
	l.told = l.query.After
	name := l.cmd.Name
	if l.cmd.All {
		name = "--all"
	}
	return l.out.Cursor(l.query.After, "starter changes "+name)
}

// atom writes the newest events as a feed for news readers.
func (l *changesLog) atom() error {
	limit := int(l.cmd.Limit)
	if limit == 0 {
		limit = atomEvents
	}
	// Diffs take reading two bodies each, so the events are chosen before.
	diff := l.query.Diff
	l.query.Diff = false
	var newest []feed.Event
	err := l.reader.Follow(l.session.ctx, l.query, reader.Following{Take: func(b reader.Batch) error {
		newest = append(newest, b.Events...)
		newest = slices.Delete(newest, 0, max(0, len(newest)-limit))
		return nil
	}})
	if err != nil {
		return err
	}
	if err := l.session.ctx.Err(); err != nil {
		return err
	}
	if diff && len(newest) > 0 {
		if newest, err = l.withDiffs(newest); err != nil {
			return err
		}
	}
	now, err := l.feed.Now(l.session.ctx)
	if err != nil {
		return err
	}
	return atom.Write(l.session.env.Stdout, atom.Feed{
		Name: l.cmd.Name, Chosen: atom.Chosen(l.cmd.Kinds, l.query.Hosts), Epoch: l.epoch, Updated: now, Software: "recrawl/" + config.VersionText(), Events: newest,
	})
}

// withDiffs reads events again, with their diffs.
func (l *changesLog) withDiffs(events []feed.Event) ([]feed.Event, error) {
	q := l.query
	q.Diff, q.After = true, feed.Cursor{Epoch: l.epoch, ID: events[0].Cursor.ID - 1}
	last := events[len(events)-1].Cursor
	var again []feed.Event
	err := l.reader.Follow(l.session.ctx, q, reader.Following{Take: func(b reader.Batch) error {
		again = append(again, b.Events...)
		if b.Through.ID >= last.ID {
			return errEnough
		}
		return nil
	}})
	if err != nil && !errors.Is(err, errEnough) {
		return nil, err
	}
	return again, nil
}
