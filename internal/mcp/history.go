package mcp

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"recrawl/internal/report"
	"recrawl/internal/store"
)

type historyAsked struct {
	pageAsked
	Offset int `json:"offset,omitempty" jsonschema:"Only versions with a lower number: next_offset of the answer before."`
	Limit  int `json:"limit,omitempty" jsonschema:"How many versions at most: up to 100, 20 by default."`
}

func (s *Server) pageHistory(ctx context.Context, in historyAsked) (*answer, error) {
	limit, err := rows(in.Limit, 20, 100)
	if err == nil {
		err = notNegative("offset", in.Offset)
	}
	if err != nil {
		return nil, err
	}
	page, err := s.page(ctx, in.pageAsked)
	if err != nil {
		return nil, err
	}
	versions, err := s.Reports.VersionsOf(ctx, page, in.Offset, limit+1)
	if err != nil {
		return nil, err
	}
	a := newAnswer()
	if err := s.historyFacts(ctx, a, page); err != nil {
		return nil, err
	}
	now, err := s.Reports.Now(ctx)
	if err != nil {
		return nil, err
	}
	a.quote("url: " + oneLine(page.URL, urlMost) + "\n")
	shown := 0
	for _, v := range versions[:min(limit, len(versions))] {
		if !a.item(v.Version, versionFacts(v, now), "title: "+oneLine(v.Title, titleMost)) {
			break
		}
		shown++
	}
	a.room += kept
	a.fact("versions", "%d in this answer, by their numbers", shown)
	if shown < len(versions) && shown > 0 {
		a.next(strconv.Itoa(versions[shown-1].Version))
	} else {
		a.next("")
	}
	return a, nil
}

// versionFacts returns our facts about a version.
func versionFacts(v report.VersionLine, now time.Time) string {
	text := fmt.Sprintf("found %s by visit %d, %s", isoTime(v.Record.At, now), v.Visit, report.Size(v.Bytes))
	if v.BackVisit > 0 {
		text += fmt.Sprintf(", again since visit %d", v.BackVisit)
	}
	if v.Record.Digest == "" {
		text += ", its bytes were not kept, as the site asks"
	}
	return text
}

// historyFacts says how a page changes and when it is visited.
func (s *Server) historyFacts(ctx context.Context, a *answer, page store.PageRecord) error {
	if _, err := s.pageFacts(ctx, a, page); err != nil {
		return err
	}
	e, err := s.Reports.Explained(ctx, page, report.Live{})
	if err != nil {
		return err
	}
	a.fact("visits", "%d, the last %s; %d of them found a change", page.Visits, isoTime(page.LastAt, e.Now()), page.Changes)
	a.fact("reserved", "%s", reservedWords(e.Reserved()))
	// These sentences may repeat a site's answer, such as where it leads.
	a.quote("about: " + oneLine(e.Found()+" "+e.Plan(), 1500) + "\n")
	return nil
}
