package report

import (
	"recrawl/internal/crawl"
	"recrawl/internal/report/survey"
)

// surveyLine is a survey as JSON. Shares are from 0 to 1.
type surveyLine struct {
	Crawl       string           `json:"crawl"`
	State       crawl.CrawlState `json:"state"`
	CreatedAt   stamp            `json:"created_at"`
	Now         stamp            `json:"now"`
	EndedAt     stamp            `json:"ended_at"`       // null while the crawl is not stopped
	Lasted      float64          `json:"lasted_seconds"` // to the end or to now, without earlier stops
	Settings    settingsLine     `json:"settings"`
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
	Freshness   freshnessLine    `json:"freshness"`
	Foreseen    []foreseenLine   `json:"foreseen"`
	Rates       []ratesLine      `json:"change_rates"`
	Intervals   intervalsLine    `json:"change_intervals"`
	Levels      []levelLine      `json:"levels"`
	Types       []typeLine       `json:"content_types"`
	Queues      []queueLine      `json:"refresh_queues"`
	Activities  map[string]int   `json:"update_activity"`
	Rejected    map[string]int   `json:"rejected"`
	Traps       map[string]int   `json:"traps"` // held pages by reason
	Dominating  []PrefixLine     `json:"dominating"`
	TopPages    []topPageLine    `json:"top_pages"`
	TopReferred []topPageLine    `json:"top_pages_by_backlinks"`
	TopHosts    []topHostLine    `json:"top_hosts"`
	Ranked      stamp            `json:"ranked_at"`
	Planned     float64          `json:"planned_per_day"`
	Budget      float64          `json:"budget_per_day"`

	changed []survey.Page // the last ones, which the page shows
}

// settingsLine holds the settings on which a crawl's figures depend: of JoMaGic's three
// parameters, threads are the requests at a time, the queue is the window, and the
// scheduling time is that between two rankings.
type settingsLine struct {
	Policy     string         `json:"policy"`
	Budget     orNull         `json:"budget"`
	Delay      crawl.Duration `json:"delay"`
	PerAddress int            `json:"per_address"` // requests at a time to an address, 0 without limit
	Window     int            `json:"window"`
	MaxPages   int            `json:"max_pages"`
	RankEvery  crawl.Duration `json:"rank_every"`
}

func newSettingsLine(s crawl.Spec) settingsLine {
	return settingsLine{
		Policy: policyName(s.Revisit), Budget: orNull(s.Revisit.Budget), Delay: s.Politeness.Delay, PerAddress: s.Politeness.PerAddress,
		Window: s.Limits.Window, MaxPages: s.Limits.MaxPages, RankEvery: s.Rank.Every,
	}
}

// policyName names the policy, with the selective rule if it is on.
func policyName(s crawl.RevisitSpec) string {
	if s.Selective {
		return s.Policy + ", selective"
	}
	return s.Policy
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
	Below orNull `json:"below"` // refresh time; null means without end
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
	Pages      int     `json:"pages"` // without held ones
	Held       int     `json:"held"`
	Downloaded int     `json:"downloaded"`
	Backlinks  int     `json:"backlinks"`
	Weight     float64 `json:"weight"`
}
