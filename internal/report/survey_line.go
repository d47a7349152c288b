package report

import (
	"recrawl/internal/crawl"
)

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
	Pages      int     `json:"pages"` // without those that are held
	Held       int     `json:"held"`
	Downloaded int     `json:"downloaded"`
	Backlinks  int     `json:"backlinks"`
	Weight     float64 `json:"weight"`
}
