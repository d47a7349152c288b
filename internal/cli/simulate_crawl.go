package cli

import (
	"slices"

	"recrawl/internal/sim"
	"recrawl/internal/store"
)

// crawl is the study of a crawl's own recorded history.
func (c simulateCmd) crawl(s *session, study sim.Study) (sim.Study, error) {
	var recording *sim.Recording
	err := s.withStore(func(opened Opened) error {
		record, err := opened.Crawl(s.ctx, c.Crawl)
		if err != nil {
			return orNoCrawl(c.Crawl, err)
		}
		if err := c.bound(&study, record.Spec.Revisit); err != nil {
			return err
		}
		study.Setup.Every = record.Spec.MaintainEvery.Std().Hours() / 24
		recording, err = readRecording(s, opened, record)
		return err
	})
	if err != nil {
		return study, err
	}
	study.Warmup = or(c.WarmupDays, -1, 0)
	if c.Days > 0 {
		recording.Keep(study.Warmup + c.Days)
	}
	first, err := recording.World(1)
	if err != nil {
		return study, err
	}
	if first.Days <= study.Warmup {
		return study, usagef("--crawl %s: has %.3g days of history, not more than the warm-up of %g: see --warmup-days", c.Crawl, first.Days, study.Warmup)
	}
	study.Title = "Crawl " + c.Crawl + " as it was recorded"
	study.Notes = append(study.Notes, sim.RecordingNotes...)
	study.World = recording.World
	if c.Budget == "" {
		study.Budget = recording.Budget()
	}
	// Maintenance of a long history is not simulated pass by pass.
	study.Setup.Every = max(study.Setup.Every, first.Days/2000)
	if len(c.Policy) == 0 || slices.Contains(c.Policy, sim.AsCrawled) {
		study.Policies = append([]sim.Policy{recording.Policy()}, study.Policies...)
	}
	return study, nil
}

// readBatch is how many pages or visits are read at a time.
const readBatch = 500

// readRecording reads all visits of a crawl's pages.
func readRecording(s *session, opened Opened, record store.CrawlRecord) (*sim.Recording, error) {
	now, err := opened.Now(s.ctx)
	if err != nil {
		return nil, err
	}
	recording := &sim.Recording{Name: record.Spec.Name, Until: now}
	filter := store.PageFilter{CrawlID: record.ID, Limit: readBatch}
	line := newProgress(s)
	defer line.clear()
	said := line.pages()
	for {
		pages, err := opened.ListPages(s.ctx, filter)
		if err != nil || len(pages) == 0 {
			return recording, err
		}
		for _, p := range pages {
			visits, err := readVisits(s, opened, p.PageID)
			if err != nil {
				return nil, err
			}
			recording.Pages = append(recording.Pages, sim.RecordedPage{Name: p.URL, Host: p.Host, Visits: visits})
			said(len(recording.Pages), 0)
		}
		filter.After = pages[len(pages)-1].PageID
	}
}

// readVisits reads all visits of a page, first to last.
func readVisits(s *session, opened Opened, page int64) ([]sim.RecordedVisit, error) {
	var visits []sim.RecordedVisit
	before := 0
	for {
		batch, err := opened.ListVisits(s.ctx, page, before, readBatch)
		if err != nil {
			return nil, err
		}
		for _, v := range batch {
			visits = append(visits, sim.RecordedVisit{At: v.At, Outcome: v.Outcome})
		}
		if len(batch) < readBatch {
			slices.Reverse(visits)
			return visits, nil
		}
		before = batch[len(batch)-1].Visit
	}
}
