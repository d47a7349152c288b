package report

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/feed"
	"recrawl/internal/schedule"
	"recrawl/internal/sink"
	"recrawl/internal/store"
)

// countedMost is the number up to which waiting and undelivered changes are counted.
const countedMost = 1000

// SinkLine is a sink, and how it stands with its receiver.
type SinkLine struct {
	Sink  string `json:"sink"`
	Kind  string `json:"kind"`
	State string `json:"state"` // new, delivering, collecting, retrying, paused
	// Code and Problem say why it is paused, or retries.
	Code    orNull `json:"code"`
	Problem orNull `json:"problem"`
	Since   stamp  `json:"since"`
	Tries   int    `json:"tries"`
	NextTry stamp  `json:"next_try"`
	// Waiting counts undelivered changes of its kinds, whatever their pages, at most 1000;
	// Lag is the age of the oldest.
	Waiting     int            `json:"waiting"`
	Lag         crawl.Duration `json:"lag"`
	Sent        int64          `json:"sent"`
	LastSent    stamp          `json:"last_sent"`
	Undelivered int            `json:"undelivered"` // at most 1000
	Cursor      orNull         `json:"cursor"`
}

// Sinks writes the sinks of a crawl, and how they stand with their receivers.
func (r Reporter) Sinks(ctx context.Context, name string) error {
	record, now, err := r.open(ctx, name)
	if err != nil {
		return err
	}
	lines, err := r.sinks(ctx, record, now)
	if err != nil {
		return err
	}
	if r.Format == JSON {
		for _, l := range lines {
			if err := writeJSON(r.Out, l); err != nil {
				return err
			}
		}
		return nil
	}
	if len(lines) == 0 {
		_, err := fmt.Fprintln(r.Out, "no sinks: name them in the spec")
		return err
	}
	t := newTable(r.Out, "SINK", "KIND", "STATE", "WAITING", "LAG", "SENT", "LAST SENT", "UNDELIVERED", "PROBLEM")
	for _, l := range lines {
		t.row(l.Sink, l.Kind, l.State, atMost(l.Waiting), lagWords(l), strconv.FormatInt(l.Sent, 10), when(time.Time(l.LastSent), now), atMost(l.Undelivered), some(l.problem(now)))
	}
	return t.flush()
}

// sinks returns the sinks of a crawl's spec by name.
func (r Reporter) sinks(ctx context.Context, c store.CrawlRecord, now time.Time) ([]SinkLine, error) {
	if len(c.Spec.Sinks) == 0 || r.Deliveries == nil {
		return nil, nil
	}
	known, err := r.Deliveries.ListSinks(ctx, c.ID)
	if err != nil {
		return nil, err
	}
	var lines []SinkLine
	for _, name := range slices.Sorted(maps.Keys(c.Spec.Sinks)) {
		i := slices.IndexFunc(known, func(k store.SinkRecord) bool { return k.Name == name })
		if i < 0 {
			lines = append(lines, SinkLine{Sink: name, Kind: c.Spec.Sinks[name].Kind, State: "new"})
			continue
		}
		line, err := r.sink(ctx, c.Spec.Sinks[name], known[i], now)
		if err != nil {
			return nil, err
		}
		lines = append(lines, line)
	}
	return lines, nil
}

func (r Reporter) sink(ctx context.Context, spec crawl.SinkSpec, k store.SinkRecord, now time.Time) (SinkLine, error) {
	line := SinkLine{
		Sink: k.Name, Kind: spec.Kind, State: sinkState(k, now), Code: orNull(k.Code), Problem: orNull(k.Problem), Since: stamp(k.Since),
		Tries: k.Tries, NextTry: stamp(k.NextAt), Sent: k.Sent, LastSent: stamp(k.LastSent), Cursor: orNull(k.After.String()),
	}
	failed, err := r.Deliveries.Undelivered(ctx, k.CrawlID, k.Name, 0, countedMost)
	if err != nil {
		return line, err
	}
	line.Undelivered = len(failed)
	page, err := r.Deliveries.Changes(ctx, store.ChangesParams{After: k.After, CrawlID: k.CrawlID, Kinds: sink.NewFilter(k.Name, spec).Kinds(), Limit: countedMost})
	switch {
	case errors.Is(err, feed.ErrTrimmed), errors.Is(err, feed.ErrAhead), errors.Is(err, feed.ErrEpoch):
		return line, nil // its next delivery says so
	case errors.Is(err, store.ErrStandby):
		return line, nil // the rest can be told
	case err != nil:
		return line, err
	}
	if line.Waiting = len(page.Changes); line.Waiting > 0 {
		line.Lag = crawl.Duration(max(now.Sub(page.Changes[0].At), 0).Truncate(time.Second))
	}
	return line, nil
}

func sinkState(k store.SinkRecord, now time.Time) string {
	switch {
	case k.Paused:
		return "paused"
	case k.NextAt.After(now) || k.Tries > 0:
		return "retrying"
	case !k.DigestSince.IsZero():
		return "collecting"
	}
	return "delivering"
}

// problem says why a sink is paused or retries, "" if it is neither.
func (l SinkLine) problem(now time.Time) string {
	switch l.State {
	case "paused":
		return string(l.Problem)
	case "retrying":
		return fmt.Sprintf("try %d: %s; again %s", l.Tries, string(l.Problem), when(time.Time(l.NextTry), now))
	}
	return ""
}

// words puts a sink into the words of a status.
func (l SinkLine) words(crawlName string, now time.Time) string {
	text := l.Sink + " (" + l.Kind + "): "
	switch l.State {
	case "paused":
		text += fmt.Sprintf("paused: %s; `starter sinks resume %s %s` goes on", string(l.Problem), crawlName, l.Sink)
	case "retrying":
		text += l.problem(now)
	case "new":
		return text + "not opened yet"
	default:
		text += fmt.Sprintf("%d sent, the last %s", l.Sent, when(time.Time(l.LastSent), now))
	}
	if l.Waiting > 0 {
		text += fmt.Sprintf("; %s wait, the oldest for %s", atMost(l.Waiting), lagWords(l))
	}
	if l.Undelivered > 0 {
		text += fmt.Sprintf("; %s undelivered: `starter sinks failed %s %s`", atMost(l.Undelivered), crawlName, l.Sink)
	}
	return text
}

func lagWords(l SinkLine) string {
	if l.Waiting == 0 {
		return "-"
	}
	return schedule.Rough(max(l.Lag.Std(), time.Second))
}

// atMost writes a count that ends at countedMost.
func atMost(n int) string {
	if n == countedMost {
		return strconv.Itoa(n) + " or more"
	}
	return strconv.Itoa(n)
}

// FailedLine is a change that a sink could not deliver.
type FailedLine struct {
	Change  int64  `json:"change"`
	At      stamp  `json:"at"`
	Tries   int    `json:"tries"`
	Problem string `json:"problem"`
}

func failedLineOf(u store.UndeliveredRecord) FailedLine {
	return FailedLine{u.ChangeID, stamp(u.At), u.Tries, u.Problem}
}

// FailedOf writes the changes that a sink could not deliver.
func (r Reporter) FailedOf(ctx context.Context, crawlName, name string) error {
	record, now, err := r.open(ctx, crawlName)
	if err != nil {
		return err
	}
	after, n := int64(0), 0
	for {
		failed, err := r.Deliveries.Undelivered(ctx, record.ID, name, after, batch)
		if err != nil {
			return err
		}
		if len(failed) == 0 {
			break
		}
		t := newTable(r.Out)
		if n == 0 && r.Format == Text {
			t = newTable(r.Out, "CHANGE", "LAST TRY", "TRIES", "PROBLEM")
		}
		for _, u := range failed {
			if r.Format == JSON {
				err = writeJSON(r.Out, failedLineOf(u))
			} else {
				t.row(strconv.FormatInt(u.ChangeID, 10), when(u.At, now), strconv.Itoa(u.Tries), u.Problem)
			}
			if err != nil {
				return err
			}
		}
		if err := t.flush(); err != nil {
			return err
		}
		n += len(failed)
		after = failed[len(failed)-1].ChangeID
	}
	if n == 0 && r.Format == Text {
		_, err := fmt.Fprintln(r.Out, "nothing is undelivered")
		return err
	}
	return nil
}

// sinkLate is the lag from which on a sink needs somebody: its receiver is slow or down, or
// no worker delivers.
const sinkLate = time.Hour

// NeedsSomebody reports whether a person must look at the sink: it is paused, could not
// deliver something, or is far behind. One that tries again is left to itself at first.
func (l SinkLine) NeedsSomebody() bool {
	return l.State == "paused" || l.Undelivered > 0 || (l.State == "delivering" || l.State == "retrying") && l.Lag.Std() >= sinkLate
}
