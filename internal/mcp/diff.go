package mcp

import (
	"context"
	"strconv"
	"unicode/utf8"

	"recrawl/internal/report"
	"recrawl/internal/store"
)

type diffAsked struct {
	pageAsked
	From   int    `json:"from,omitempty" jsonschema:"The number of the older version, by default the one before to."`
	To     int    `json:"to,omitempty" jsonschema:"The number of the newer version, by default the newest."`
	Since  string `json:"since,omitempty" jsonschema:"Instead of from: the version that the page had at the end of a date (2026-03-01, in UTC) or at a time (2026-03-01T12:00:00Z)."`
	Extent string `json:"extent,omitempty" jsonschema:"What is compared: main (the default) is the text in which changes are found, all is everything that a reader sees."`
	Offset int    `json:"offset,omitempty" jsonschema:"How many characters of the comparison to leave out: next_offset of the answer before."`
}

// comparisons are the values of extent.
var comparisons = map[string]report.View{"": report.ViewText, "main": report.ViewText, "all": report.ViewAll}

func (in diffAsked) check() error {
	switch _, known := comparisons[in.Extent]; {
	case !known:
		return mistakef("extent %q: it is main or all", oneLine(in.Extent, 40))
	case in.From < 0 || in.To < 0:
		return mistakef("versions are numbered from 1")
	case in.From > 0 && in.Since != "" && in.Offset == 0:
		return mistakef("give from or since, not both")
	}
	return notNegative("offset", in.Offset)
}

func (s *Server) diffPage(ctx context.Context, in diffAsked) (*answer, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	page, err := s.page(ctx, in.pageAsked)
	if err != nil {
		return nil, err
	}
	if s.Files == nil {
		return nil, errNoFiles
	}
	q := report.DiffQuery{From: in.From, To: in.To, View: comparisons[in.Extent]}
	if in.Since != "" && in.From == 0 { // an answer's to_go_on adds from, which since had led to
		if q.From, err = s.versionSince(ctx, page, in.Since); err != nil {
			return nil, err
		}
	}
	d, err := s.Reports.Difference(ctx, s.Files, page, q)
	if err != nil {
		return nil, err
	}
	a := newAnswer()
	now, err := s.pageFacts(ctx, a, page)
	if err != nil {
		return nil, err
	}
	a.fact("from", "version %d, found %s", d.From, isoTime(d.Versions[0].At, now))
	a.fact("to", "version %d, found %s", d.To, isoTime(d.Versions[1].At, now))
	before, reserved := reservedWords(d.Versions[0].Reserved), reservedWords(d.Versions[1].Reserved)
	a.fact("reserved", "%s", reserved)
	if before != reserved {
		a.fact("reserved_before", "%s", before)
	}
	return a, a.difference(d, in)
}

// versionSince returns the number of the version that a page had at a time.
func (s *Server) versionSince(ctx context.Context, page store.PageRecord, since string) (int, error) {
	at, err := timeAsked("since", since)
	if err != nil {
		return 0, err
	}
	then, err := s.Reports.DocumentOf(ctx, s.Files, page, report.DocumentQuery{At: at})
	return then.Version, err
}

// difference adds the requested part of a comparison.
func (a *answer) difference(d report.Difference, in diffAsked) error {
	if !d.Differs {
		a.fact("difference", "%s", sameWords(d))
		a.next("")
		return nil
	}
	text := plain(d.Diff)
	length := utf8.RuneCountInString(text)
	if in.Offset > length {
		return mistakef("offset %d: the comparison has %d characters", in.Offset, length)
	}
	a.fact("difference", "as a unified diff, a paragraph a line: lines with - went, lines with + came")
	part, next := window(text, in.Offset, a.room)
	a.quote(part)
	a.room += kept
	a.fact("part", "characters %d to %d of %d", in.Offset, in.Offset+utf8.RuneCountInString(part), length)
	if next == 0 {
		a.next("")
		return nil
	}
	a.next(strconv.Itoa(next))
	a.fact("to_go_on", "ask for the same again, with offset %d, from %d and to %d", next, d.From, d.To)
	return nil
}

func sameWords(d report.Difference) string {
	switch {
	case d.From == d.To:
		return "none: it is the same version"
	case d.Same():
		return "none: they are the same, byte for byte"
	case d.View == report.ViewText:
		return "none where changes are looked for; extent all compares everything that a reader sees"
	}
	return "none in the text; their markup differs"
}
