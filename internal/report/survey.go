package report

import (
	"context"
	"io"
	"strings"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/report/survey"
	"recrawl/internal/schedule"
	"recrawl/internal/store"
)

// SurveyQuery asks for a crawl in figures.
type SurveyQuery struct {
	Crawl string
	survey.Options
	// HTML receives the same as a self-contained page; may be nil.
	HTML io.Writer
}

// Survey writes the figures of a crawl by which crawlers are judged. It reads all pages of
// the crawl.
func (r Reporter) Survey(ctx context.Context, q SurveyQuery) error {
	line, now, err := r.surveyOf(ctx, q.Crawl, q.Options)
	if err != nil {
		return err
	}
	if q.HTML != nil {
		people, err := r.surveyPeople(ctx, line)
		if err != nil {
			return err
		}
		if err := writeSurveyPage(q.HTML, line, people); err != nil {
			return err
		}
	}
	if r.Format == JSON {
		return writeJSON(r.Out, line)
	}
	return line.write(r.Out, now)
}

func (r Reporter) surveyOf(ctx context.Context, name string, o survey.Options) (surveyLine, time.Time, error) {
	record, now, err := r.open(ctx, name)
	if err != nil {
		return surveyLine{}, time.Time{}, err
	}
	rules, err := schedule.NewRules(record.Spec.Revisit)
	if err != nil {
		return surveyLine{}, time.Time{}, err
	}
	status, err := r.Store.Status(ctx, record.ID)
	if err != nil {
		return surveyLine{}, time.Time{}, err
	}
	priors, err := r.priors(ctx, record.ID, rules, now)
	if err != nil {
		return surveyLine{}, time.Time{}, err
	}
	visits := newSample(status.Pages)
	result, err := r.survey(ctx, record.ID, planned{rules, priors}, visits, now, o)
	if err != nil {
		return surveyLine{}, time.Time{}, err
	}
	line, err := r.surveyLine(ctx, record, status, result, now)
	line.changed = result.LastChanged
	line.addModel(result, visits, record.Spec.Revisit.DefaultInterval.Std(), status.Foresight)
	return line, now, err
}

// planned holds the rules by which the pages of a crawl are planned, and their priors.
type planned struct {
	rules  schedule.Rules
	priors schedule.Priors
}

func (r Reporter) survey(ctx context.Context, crawlID int64, by planned, visits *visitSample, now time.Time, o survey.Options) (survey.Result, error) {
	s := survey.New(o)
	filter := store.PageFilter{CrawlID: crawlID, Limit: batch}
	for done := 0; ; {
		pages, err := r.Store.ListPages(ctx, filter)
		if err != nil {
			return survey.Result{}, err
		}
		left, err := r.leftAs(ctx, pages)
		if err != nil {
			return survey.Result{}, err
		}
		if err := r.readSample(ctx, visits, pages, by.rules); err != nil {
			return survey.Result{}, err
		}
		for _, p := range pages {
			if p.Kind == crawl.KindRequisite {
				continue
			}
			page := surveyed(p, by.rules, by.priors, now)
			if state, is := left[p.PageID]; is {
				page.Left = state
			}
			s.Add(page)
		}
		if len(pages) == 0 {
			return s.Result(), nil
		}
		filter.After = pages[len(pages)-1].PageID
		done += len(pages)
		r.sayRead(done, visits.pages)
	}
}

// leftAs returns the states in which the last visits left pages that are no longer visited.
func (r Reporter) leftAs(ctx context.Context, pages []store.PageRecord) (map[int64]crawl.PageState, error) {
	var rest []int64
	for _, p := range pages {
		if p.Visits > 0 && !p.State.Lives() {
			rest = append(rest, p.PageID)
		}
	}
	if len(rest) == 0 {
		return nil, nil
	}
	looks, err := r.Visits.RecentVisits(ctx, rest, 1)
	if err != nil {
		return nil, err
	}
	left := make(map[int64]crawl.PageState, len(looks))
	for _, v := range looks {
		left[v.PageID] = v.State
	}
	return left, nil
}

// surveyed returns a page as surveys see it. The priors decide how far its copy is behind.
func surveyed(p store.PageRecord, rules schedule.Rules, priors schedule.Priors, now time.Time) survey.Page {
	belief, with := schedule.DecodeBelief(p.Belief), parametersOf(rules, p)
	page := survey.Page{
		URL: p.URL, Host: p.Host, Level: p.Level, State: p.State, Left: p.State, Visits: p.Visits, LastAt: p.LastAt,
		Downloaded: p.Last.ID != 0, Type: essence(p.Last.ContentType), Bytes: p.Last.Bytes, Backlinks: p.Backlinks, Weight: p.Weight,
	}
	if p.Changes > 0 && p.Last.ID != 0 {
		page.ChangedAt, page.Title = p.Last.At, p.Last.Title
	}
	if p.Visits > 0 {
		page.Interval = max(0, p.NextAt.Sub(p.LastAt))
	}
	if belief.Pairs > 0 {
		page.Compared, page.Rate = true, belief.Rate(with)
	}
	if looked := belief.ComparedAt(); page.Downloaded && copied(p.State) && !looked.IsZero() {
		next := p.NextAt
		if now.After(next) {
			next = now // it is overdue
		}
		page.Lags, page.Lag = true, schedule.LagOf(belief, priors.Under(with), now.Sub(looked), next.Sub(looked))
	}
	return page
}

// copied reports whether pages in a state still answer with the copied content.
func copied(s crawl.PageState) bool {
	return s == crawl.Active || s == crawl.Failing || s == crawl.Duplicate
}

// essence returns a media type without its parameters.
func essence(contentType string) string {
	name, _, _ := strings.Cut(contentType, ";")
	return strings.ToLower(strings.TrimSpace(name))
}

func (r Reporter) surveyLine(ctx context.Context, c store.CrawlRecord, status store.StatusRecord, s survey.Result, now time.Time) (surveyLine, error) {
	steering, err := r.Store.Steering(ctx, c.ID, false)
	if err != nil {
		return surveyLine{}, err
	}
	rejections, err := r.Store.Rejections(ctx, c.ID)
	if err != nil {
		return surveyLine{}, err
	}
	ranking, _, err := r.Store.Ranking(ctx, c.ID)
	if err != nil {
		return surveyLine{}, err
	}
	line := newSurveyLine(s)
	if err := r.addGuard(ctx, &line, c.ID); err != nil {
		return surveyLine{}, err
	}
	line.Crawl, line.State, line.CreatedAt, line.Now = c.Spec.Name, c.State, stamp(c.CreatedAt), stamp(now)
	line.Visits, line.VisitsHour, line.Settings = status.Visits, status.LastHour, newSettingsLine(c.Spec)
	for _, o := range crawl.Outcomes() {
		line.Outcomes[o.String()] = status.Outcomes[o]
	}
	ended, lasted := lifetime(c, s.LastVisit, now)
	line.EndedAt, line.Lasted = stamp(ended), lasted.Seconds()
	if days := lasted.Hours() / 24; days > 0 {
		line.PagesPerDay, line.VisitsDay = float64(s.Downloaded)/days, float64(status.Visits)/days
	}
	for _, rejection := range rejections {
		line.Rejected[rejection.Reason] = rejection.Links
	}
	line.Ranked, line.Planned, line.Budget = stamp(ranking.At), steering.Planned, steering.Budget
	return line, nil
}

// lifetime returns when a crawl ended, zero if it has not, and how long it lasted without
// the times when it was stopped. A program of an earlier release keeps no time of a stop,
// and visits that were under way end after it, so only the last visit is certain.
func lifetime(c store.CrawlRecord, lastVisit, now time.Time) (ended time.Time, lasted time.Duration) {
	end := now
	if c.State == crawl.CrawlStopped {
		if ended = c.StoppedAt; lastVisit.After(ended) {
			ended = lastVisit
		}
		if ended.IsZero() {
			ended = c.CreatedAt // it was stopped before any visit
		}
		end = ended
	}
	return ended, max(0, end.Sub(c.CreatedAt)-c.Rested)
}

// addGuard adds what the trap guard knows.
func (r Reporter) addGuard(ctx context.Context, line *surveyLine, crawlID int64) error {
	filter := store.TrapFilter{CrawlID: crawlID, Limit: batch}
	for {
		traps, err := r.Store.Traps(ctx, filter)
		if err != nil {
			return err
		}
		for _, k := range traps {
			line.Traps[k.Reason] += k.Held
		}
		if len(traps) == 0 {
			break
		}
		filter.After = traps[len(traps)-1].ID
	}
	prefixes, err := r.Store.Dominating(ctx, crawlID, dominatingPrefixes)
	for _, p := range prefixes {
		line.Dominating = append(line.Dominating, PrefixLine{p.Host + p.Prefix, p.Pages})
	}
	return err
}

// dominatingPrefixes is the number of hosts and prefixes with the most pages that a report
// names.
const dominatingPrefixes = 10

// newSurveyLine makes the line from a survey alone.
func newSurveyLine(s survey.Result) surveyLine {
	line := surveyLine{
		Known: s.Known, Visited: s.Visited, Downloaded: s.Downloaded, Bytes: s.Bytes,
		Pages: map[string]int{}, Outcomes: map[string]int{}, Rejected: map[string]int{}, Traps: map[string]int{}, Dominating: []PrefixLine{}, Activities: map[string]int{"unknown": s.Unknown},
		Importance: importanceLine{s.Backlinks, s.Important, s.Downloaded, s.Importance()},
		Diversity:  diversityLine{s.Hosts, s.Domains, s.KnownHosts, s.Largest, s.Effective},
		Duplicates: shareLine{s.Duplicates, share(s.Duplicates, s.Downloaded)},
		Broken:     brokenLine{shareLine{s.Broken, share(s.Broken, s.Visited)}, s.BrokenLinks, s.Links, s.BrokenShare()},
		Levels:     []levelLine{}, Types: []typeLine{}, TopPages: []topPageLine{}, TopReferred: []topPageLine{}, TopHosts: []topHostLine{},
	}
	for _, state := range crawl.PageStates() {
		if state == crawl.Kept {
			continue // of requisites, which are no pages of the collection
		}
		line.Pages[state.String()] = s.Pages[state]
	}
	for _, l := range s.Levels {
		line.Levels = append(line.Levels, levelLine{l.Level, l.Pages, l.Downloaded, l.Mean()})
	}
	for _, t := range s.Types {
		line.Types = append(line.Types, typeLine{t.Name, t.Pages, t.Bytes})
	}
	for i, n := range s.Queues {
		below := ""
		if i+1 < len(s.Queues) {
			below = crawl.FormatDuration(schedule.RefreshEnd(i+1, s.Unit))
		}
		line.Queues = append(line.Queues, queueLine{i + 1, orNull(below), n})
	}
	for i, n := range s.Activities {
		line.Activities[schedule.Activity(i).String()] = n
	}
	for _, p := range s.TopPages {
		line.TopPages = append(line.TopPages, topPageLine{p.URL, p.State, p.Backlinks, p.Weight})
	}
	for _, p := range s.TopReferred {
		line.TopReferred = append(line.TopReferred, topPageLine{p.URL, p.State, p.Backlinks, p.Weight})
	}
	for _, h := range s.TopHosts {
		line.TopHosts = append(line.TopHosts, topHostLine{h.Name, h.Pages, h.Held, h.Downloaded, h.Backlinks, h.Weight})
	}
	return line
}

func share(a, b int) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}
