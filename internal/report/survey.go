package report

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/schedule"
	"recrawl/internal/store"
	"recrawl/internal/survey"
)

// SurveyQuery asks for a crawl in figures.
type SurveyQuery struct {
	Crawl string
	survey.Options
	// HTML is where the same is written as a page that stands alone, nil for nowhere.
	HTML io.Writer
}

// surveyLine is a survey as JSON. Shares are from 0 to 1.
type surveyLine struct {
	Crawl       string           `json:"crawl"`
	State       crawl.CrawlState `json:"state"`
	CreatedAt   stamp            `json:"created_at"`
	Now         stamp            `json:"now"`
	Known       int              `json:"known"`
	Pages       map[string]int   `json:"pages"`
	Visits      int              `json:"visits"`
	Outcomes    map[string]int   `json:"outcomes"`
	Visited     int              `json:"visited"`
	Downloaded  int              `json:"downloaded"`
	Bytes       int64            `json:"bytes"`
	PagesPerDay float64          `json:"pages_per_day"`
	VisitsDay   float64          `json:"visits_per_day"`
	VisitsHour  int              `json:"visits_last_hour"`
	Importance  importanceLine   `json:"importance"`
	Diversity   diversityLine    `json:"diversity"`
	Duplicates  shareLine        `json:"duplicates"`
	Broken      brokenLine       `json:"broken"`
	Levels      []levelLine      `json:"levels"`
	Types       []typeLine       `json:"content_types"`
	Queues      []queueLine      `json:"refresh_queues"`
	Activities  map[string]int   `json:"update_activity"`
	Rejected    map[string]int   `json:"rejected"`
	Traps       map[string]int   `json:"traps"` // held pages by reason
	Dominating  []prefixLine     `json:"dominating"`
	TopPages    []topPageLine    `json:"top_pages"`
	TopHosts    []topHostLine    `json:"top_hosts"`
	Ranked      stamp            `json:"ranked_at"`
	Planned     float64          `json:"planned_per_day"`
	Budget      float64          `json:"budget_per_day"`
}

type importanceLine struct {
	Backlinks  int     `json:"backlinks_above"` // G
	Important  int     `json:"important"`       // H
	Downloaded int     `json:"downloaded"`      // T
	Share      float64 `json:"share"`
}

type diversityLine struct {
	Hosts      int     `json:"hosts"`
	Domains    int     `json:"domains"`
	KnownHosts int     `json:"known_hosts"`
	Largest    float64 `json:"largest_host_share"`
	Effective  float64 `json:"effective_hosts"`
}

type shareLine struct {
	Pages int     `json:"pages"`
	Share float64 `json:"share"`
}

type brokenLine struct {
	shareLine
	Links     int     `json:"links"`
	AllLinks  int     `json:"all_links"`
	LinkShare float64 `json:"link_share"`
}

type levelLine struct {
	Level         int     `json:"level"`
	Pages         int     `json:"pages"`
	Downloaded    int     `json:"downloaded"`
	MeanBacklinks float64 `json:"mean_backlinks"`
}

type typeLine struct {
	Type  string `json:"type"`
	Pages int    `json:"pages"`
	Bytes int64  `json:"bytes"`
}

type queueLine struct {
	Queue int    `json:"queue"`
	Below orNull `json:"below"` // refresh time; null is without end
	Pages int    `json:"pages"`
}

type topPageLine struct {
	URL       string          `json:"url"`
	State     crawl.PageState `json:"state"`
	Backlinks int             `json:"backlinks"`
	Weight    float64         `json:"weight"`
}

type topHostLine struct {
	Host       string  `json:"host"`
	Pages      int     `json:"pages"`
	Downloaded int     `json:"downloaded"`
	Backlinks  int     `json:"backlinks"`
	Weight     float64 `json:"weight"`
}

// Survey writes a crawl in the figures that crawlers are judged by. It reads all
// pages of the crawl.
func (r Reporter) Survey(ctx context.Context, q SurveyQuery) error {
	record, now, err := r.open(ctx, q.Crawl)
	if err != nil {
		return err
	}
	rules, err := schedule.NewRules(record.Spec.Revisit)
	if err != nil {
		return err
	}
	result, err := r.survey(ctx, record.ID, rules, q.Options)
	if err != nil {
		return err
	}
	line, err := r.surveyLine(ctx, record, result, now)
	if err != nil {
		return err
	}
	if q.HTML != nil {
		if err := writeSurveyPage(q.HTML, line); err != nil {
			return err
		}
	}
	if r.Format == JSON {
		return writeJSON(r.Out, line)
	}
	return line.write(r.Out, now)
}

func (r Reporter) survey(ctx context.Context, crawlID int64, rules schedule.Rules, o survey.Options) (survey.Result, error) {
	s := survey.New(o)
	filter := store.PageFilter{CrawlID: crawlID, Limit: batch}
	for {
		pages, err := r.Store.ListPages(ctx, filter)
		if err != nil {
			return survey.Result{}, err
		}
		for _, p := range pages {
			s.Add(surveyed(p, rules))
		}
		if len(pages) == 0 {
			return s.Result(), nil
		}
		filter.After = pages[len(pages)-1].PageID
	}
}

// surveyed is a page as surveys see it.
func surveyed(p store.PageRecord, rules schedule.Rules) survey.Page {
	group := rules.At(rules.Group(p.URL))
	belief := schedule.DecodeBelief(p.Belief)
	page := survey.Page{
		URL: p.URL, Host: p.Host, Level: p.Level, State: p.State, Visits: p.Visits,
		Downloaded: p.Last.ID != 0, Type: essence(p.Last.ContentType), Bytes: p.Last.Bytes, Backlinks: p.Backlinks, Weight: p.Weight,
	}
	if p.Visits > 0 {
		page.Interval = max(0, p.NextAt.Sub(p.LastAt))
	}
	if belief.Pairs > 0 {
		page.Compared, page.Rate = true, belief.Rate(group.Steer(p.Steering, p.HostSteering, p.Weight))
	}
	return page
}

// essence is a media type without its parameters.
func essence(contentType string) string {
	name, _, _ := strings.Cut(contentType, ";")
	return strings.ToLower(strings.TrimSpace(name))
}

func (r Reporter) surveyLine(ctx context.Context, c store.CrawlRecord, s survey.Result, now time.Time) (surveyLine, error) {
	status, err := r.Store.Status(ctx, c.ID)
	if err != nil {
		return surveyLine{}, err
	}
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
	line.Visits, line.VisitsHour = status.Visits, status.LastHour
	for _, o := range crawl.Outcomes() {
		line.Outcomes[o.String()] = status.Outcomes[o]
	}
	if days := now.Sub(c.CreatedAt).Hours() / 24; days > 0 {
		line.PagesPerDay, line.VisitsDay = float64(s.Downloaded)/days, float64(status.Visits)/days
	}
	for _, rejection := range rejections {
		line.Rejected[rejection.Reason] = rejection.Links
	}
	line.Ranked, line.Planned, line.Budget = stamp(ranking.At), steering.Planned, steering.Budget
	return line, nil
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
		line.Dominating = append(line.Dominating, prefixLine{p.Host + p.Prefix, p.Pages})
	}
	return err
}

// dominatingPrefixes is how many of the hosts and prefixes with most pages a report
// names.
const dominatingPrefixes = 10

// newSurveyLine is what a survey says by itself.
func newSurveyLine(s survey.Result) surveyLine {
	line := surveyLine{
		Known: s.Known, Visited: s.Visited, Downloaded: s.Downloaded, Bytes: s.Bytes,
		Pages: map[string]int{}, Outcomes: map[string]int{}, Rejected: map[string]int{}, Traps: map[string]int{}, Dominating: []prefixLine{}, Activities: map[string]int{"unknown": s.Unknown},
		Importance: importanceLine{s.Backlinks, s.Important, s.Downloaded, s.Importance()},
		Diversity:  diversityLine{s.Hosts, s.Domains, s.KnownHosts, s.Largest, s.Effective},
		Duplicates: shareLine{s.Duplicates, share(s.Duplicates, s.Downloaded)},
		Broken:     brokenLine{shareLine{s.Broken, share(s.Broken, s.Visited)}, s.BrokenLinks, s.Links, s.BrokenShare()},
		Levels:     []levelLine{}, Types: []typeLine{}, TopPages: []topPageLine{}, TopHosts: []topHostLine{},
	}
	for _, state := range crawl.PageStates() {
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
	for _, h := range s.TopHosts {
		line.TopHosts = append(line.TopHosts, topHostLine{h.Name, h.Pages, h.Downloaded, h.Backlinks, h.Weight})
	}
	return line
}

func share(a, b int) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

// percentage is a share in words.
func percentage(share float64) string { return strconv.FormatFloat(100*share, 'f', 1, 64) + " %" }

func (line surveyLine) write(out io.Writer, now time.Time) error {
	t := newTable(out, "crawl", line.Crawl+" ("+line.State.String()+"), begun "+when(time.Time(line.CreatedAt), now))
	for _, row := range line.rows(now) {
		t.row(row...)
	}
	if err := t.flush(); err != nil {
		return err
	}
	for _, table := range line.tables() {
		if len(table.Rows) == 0 {
			continue
		}
		fmt.Fprintf(out, "\n%s\n", table.Title)
		t := newTable(out, table.Header...)
		for _, row := range table.Rows {
			t.row(row...)
		}
		if err := t.flush(); err != nil {
			return err
		}
	}
	return nil
}

// rows are the figures of a survey in words.
func (line surveyLine) rows(now time.Time) [][]string {
	broken := line.Broken
	rows := [][]string{
		{"pages", fmt.Sprintf("%d known, %d visited, %d downloaded, %s", line.Known, line.Visited, line.Downloaded, size(line.Bytes))},
		{"pace", line.pace(now)},
		{"importance", fmt.Sprintf("H/T %.3f: %d of %d downloaded pages have more than %s",
			line.Importance.Share, line.Importance.Important, line.Importance.Downloaded, plural(line.Importance.Backlinks, "back-link"))},
		{"diversity", fmt.Sprintf("%s of %s; the largest host has %s, as diverse as %.1f equal ones",
			plural(line.Diversity.Hosts, "host"), plural(line.Diversity.Domains, "domain"), percentage(line.Diversity.Largest), line.Diversity.Effective)},
		{"duplicates", fmt.Sprintf("%s, %s of those downloaded", plural(line.Duplicates.Pages, "page"), percentage(line.Duplicates.Share))},
		{"broken", fmt.Sprintf("%s, %s of those visited; %d of %s, %s",
			plural(broken.Pages, "page"), percentage(broken.Share), broken.Links, plural(broken.AllLinks, "link"), percentage(broken.LinkShare))},
		{"ranked", when(time.Time(line.Ranked), now)},
	}
	if line.Budget > 0 {
		rows = append(rows, []string{"planned", fmt.Sprintf("%.0f visits a day of %.0f", line.Planned, line.Budget)})
	}
	return rows
}

// pace is said by the day once there has been one.
func (line surveyLine) pace(now time.Time) string {
	hour := plural(line.VisitsHour, "visit") + " in the last hour"
	if age := now.Sub(time.Time(line.CreatedAt)); age < 24*time.Hour {
		return fmt.Sprintf("%s and %s in %s; %s", plural(line.Downloaded, "page"), plural(line.Visits, "visit"), schedule.Rough(age), hour)
	}
	return fmt.Sprintf("%.1f pages and %.1f visits a day; %s", line.PagesPerDay, line.VisitsDay, hour)
}

// surveyTable is a list of a survey. Bars are the lengths of its rows' bars, 0 to 1,
// if it has any.
type surveyTable struct {
	Title  string
	Header []string
	Rows   [][]string
	Bars   []float64
}

func (line surveyLine) tables() []surveyTable {
	tables := []surveyTable{
		counted("Pages by state", "STATE", crawl.PageStates(), line.Pages),
		counted("Visits by outcome", "OUTCOME", crawl.Outcomes(), line.Outcomes),
		line.levelTable(), line.queueTable(),
		counted("Update activity (changes about every)", "CATEGORY", schedule.Activities(), line.Activities),
		line.typeTable(), line.pageTable(), line.hostTable(), line.prefixTable(),
		mostFirst("Links that were not taken", "LINKS", line.Rejected), mostFirst("Held as traps", "PAGES", line.Traps),
	}
	return tables
}

// counted is a table of counts in the order of their keys, without zeros.
func counted[K fmt.Stringer](title, header string, order []K, counts map[string]int) surveyTable {
	t := surveyTable{Title: title, Header: []string{header, "COUNT"}}
	for _, k := range order {
		if n := counts[k.String()]; n > 0 {
			t.add(float64(n), strings.ReplaceAll(k.String(), "_", " "), strconv.Itoa(n))
		}
	}
	return t.scaled()
}

func (t *surveyTable) add(bar float64, cells ...string) {
	t.Rows = append(t.Rows, cells)
	t.Bars = append(t.Bars, bar)
}

// scaled makes the longest bar 1.
func (t surveyTable) scaled() surveyTable {
	longest := 0.0
	for _, bar := range t.Bars {
		longest = max(longest, bar)
	}
	for i := range t.Bars {
		if longest > 0 {
			t.Bars[i] /= longest
		}
	}
	return t
}

func (line surveyLine) levelTable() surveyTable {
	t := surveyTable{Title: "Back-links by level", Header: []string{"LEVEL", "PAGES", "DOWNLOADED", "MEAN BACK-LINKS"}}
	for _, l := range line.Levels {
		t.add(l.MeanBacklinks, strconv.Itoa(l.Level), strconv.Itoa(l.Pages), strconv.Itoa(l.Downloaded), fmt.Sprintf("%.2f", l.MeanBacklinks))
	}
	return t.scaled()
}

func (line surveyLine) queueTable() surveyTable {
	t := surveyTable{Title: "Refresh queues (time between visits)", Header: []string{"QUEUE", "BELOW", "PAGES"}}
	for _, q := range line.Queues {
		if q.Pages > 0 {
			below := string(q.Below)
			if below == "" {
				below = "without end"
			}
			t.add(float64(q.Pages), fmt.Sprintf("UrlQ(%d)", q.Queue), below, strconv.Itoa(q.Pages))
		}
	}
	return t.scaled()
}

func (line surveyLine) typeTable() surveyTable {
	t := surveyTable{Title: "Content types", Header: []string{"TYPE", "PAGES", "SIZE"}}
	for _, c := range line.Types {
		t.add(float64(c.Pages), some(c.Type), strconv.Itoa(c.Pages), size(c.Bytes))
	}
	return t.scaled()
}

func (line surveyLine) pageTable() surveyTable {
	t := surveyTable{Title: "Most important pages", Header: []string{"WEIGHT", "BACK-LINKS", "STATE", "URL"}}
	for _, p := range line.TopPages {
		t.add(importance(p.Weight, p.Backlinks), figure(p.Weight), strconv.Itoa(p.Backlinks), p.State.String(), p.URL)
	}
	return t.scaled()
}

// importance is what pages and hosts are ordered by: back-links until they are
// ranked.
func importance(weight float64, backlinks int) float64 {
	if weight > 0 {
		return weight
	}
	return float64(backlinks)
}

func (line surveyLine) hostTable() surveyTable {
	t := surveyTable{Title: "Most important hosts", Header: []string{"WEIGHT", "BACK-LINKS", "PAGES", "DOWNLOADED", "HOST"}}
	for _, h := range line.TopHosts {
		t.add(importance(h.Weight, h.Backlinks), figure(h.Weight), strconv.Itoa(h.Backlinks), strconv.Itoa(h.Pages), strconv.Itoa(h.Downloaded), h.Host)
	}
	return t.scaled()
}

func (line surveyLine) prefixTable() surveyTable {
	t := surveyTable{Title: "Hosts and prefixes with most pages", Header: []string{"PAGES", "PREFIX"}}
	for _, p := range line.Dominating {
		t.add(float64(p.Pages), strconv.Itoa(p.Pages), p.Prefix)
	}
	return t.scaled()
}

// mostFirst is a table of counts by reason.
func mostFirst(title, header string, counts map[string]int) surveyTable {
	t := surveyTable{Title: title, Header: []string{"REASON", header}}
	reasons := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	for _, reason := range reasons {
		t.add(float64(counts[reason]), reason, strconv.Itoa(counts[reason]))
	}
	return t.scaled()
}
