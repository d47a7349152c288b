package export

import (
	"context"
	"fmt"

	"recrawl/internal/crawl"
)

// The files of a JSON Lines export.
const (
	visitsName   = "visits.jsonl"
	versionsName = "versions.jsonl"
)

// lines writes visits and versions as JSON Lines, a file for each: every line of a file has
// the same fields, for data frames and databases.
type lines struct {
	src              Source
	job              *job
	visits, versions *stream
}

// visitLine is a visit, in the names of `starter history`.
type visitLine struct {
	URL      string         `json:"url"`
	Visit    int            `json:"visit"`
	At       stamp          `json:"at"`
	Outcome  crawl.Outcome  `json:"outcome"`
	Status   int            `json:"status"`  // 0: no HTTP answer
	Version  int            `json:"version"` // that the page had after it, 0: none
	Digest   orNull         `json:"digest"`  // SHA-256 in hex of the content, after a 304 of the version
	Bytes    int64          `json:"bytes"`   // as received
	Duration crawl.Duration `json:"duration"`
	Location orNull         `json:"location"`
	Problem  orNull         `json:"problem"`
	Reasons  []crawl.Reason `json:"reasons"`
}

// versionLine is a version with its text. Text is null if its body may not be kept, is
// gone or is damaged.
type versionLine struct {
	URL         string  `json:"url"`
	Version     int     `json:"version"`
	Visit       int     `json:"visit"` // that found it
	At          stamp   `json:"at"`
	Digest      orNull  `json:"digest"`
	Bytes       int64   `json:"bytes"` // as decoded
	ContentType orNull  `json:"content_type"`
	Title       orNull  `json:"title"`
	Canonical   orNull  `json:"canonical"`
	Text        *string `json:"text"`
	// Reserved holds what the site said about uses of the version, null if it said nothing.
	Reserved []crawl.Reservation `json:"reserved"`
}

func newLines(src Source, j *job) (*lines, error) {
	visits, err := j.stream(visitsName)
	if err != nil {
		return nil, err
	}
	versions, err := j.stream(versionsName)
	return &lines{src: src, job: j, visits: visits, versions: versions}, err
}

func (l *lines) add(ctx context.Context, x Exchange) error {
	line := visitLine{
		URL: x.URL, Visit: x.Visit, At: stamp(x.At), Outcome: x.Outcome, Status: x.Status, Version: x.Version.Seq,
		Digest: orNull(x.Digest), Bytes: x.Bytes, Duration: crawl.Duration(x.Duration), Location: orNull(x.Location),
		Problem: orNull(x.Problem), Reasons: x.Reasons,
	}
	if line.Reasons == nil {
		line.Reasons = []crawl.Reason{}
	}
	if err := writeLine(l.visits, line); err != nil {
		return err
	}
	if !x.Found() {
		return nil
	}
	return l.version(ctx, x)
}

func (l *lines) version(ctx context.Context, x Exchange) error {
	v := x.Version
	line := versionLine{
		URL: x.URL, Version: v.Seq, Visit: v.Visit, At: stamp(v.At), Digest: orNull(v.Digest), Bytes: v.Bytes,
		ContentType: orNull(v.ContentType), Title: orNull(v.Title), Canonical: orNull(v.Canonical), Reserved: x.Reserved,
	}
	if x.keeps() {
		text, there, err := l.job.text(ctx, l.src, x)
		if err != nil {
			return fmt.Errorf("%s: %w", x.URL, err)
		}
		if there {
			line.Text = &text
		}
	}
	return writeLine(l.versions, line)
}

func (l *lines) endPage(context.Context) error { return nil }
func (l *lines) finish(context.Context) error  { return nil }
