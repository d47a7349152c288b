package report

import (
	"strings"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/robots"
	"recrawl/internal/store"
	"recrawl/internal/urlkey"
)

// EvidenceRobots holds what an origin's robots.txt said for a time, and its verdicts on the
// requests of that time.
type EvidenceRobots struct {
	Origin string `json:"origin"`
	Since  stamp  `json:"since"` // when it was found so, null if that is not known
	Until  stamp  `json:"until"` // when it was found otherwise, null while it holds
	State  string `json:"state"`
	Status int    `json:"status"`
	// Problem says why it could not be fetched.
	Problem    orNull         `json:"problem"`
	CrawlDelay crawl.Duration `json:"crawl_delay"`
	// Text is the file, its end cut off if Cut is set.
	Text string `json:"text"`
	Cut  bool   `json:"cut"`
	// Allowed and Forbidden count the requests of that time that it allows and forbids; some of
	// those that it forbids are listed.
	Allowed   int                 `json:"allowed"`
	Forbidden int                 `json:"forbidden"`
	Against   []EvidenceForbidden `json:"against"`
}

// EvidenceForbidden is a request that robots.txt forbids.
type EvidenceForbidden struct {
	At     stamp  `json:"at"`
	URL    string `json:"url"`
	Agent  string `json:"agent"`
	Reason string `json:"reason"`
}

const (
	maxEvidenceText = 16 << 10 // of a robots.txt
	maxForbidden    = 20       // that are listed of one robots.txt
)

// robotsLog judges requests by what robots.txt said when they were made.
type robotsLog struct {
	epochs []*robotsSaid
	// byOrigin holds the epochs of each origin, the oldest first.
	byOrigin map[string][]*robotsSaid
	// unknown counts the requests from times for which the robots.txt is not known.
	unknown int
}

// robotsSaid is one of the epochs. Its file is parsed when a request is judged by it.
type robotsSaid struct {
	store.RobotsEpoch
	check RobotsJudge
	line  EvidenceRobots
}

// newRobotsLog takes the epochs that reach into the time from since on.
func newRobotsLog(epochs []store.RobotsEpoch, since time.Time) *robotsLog {
	l := &robotsLog{byOrigin: map[string][]*robotsSaid{}}
	for _, e := range epochs {
		if !e.Until.IsZero() && e.Until.Before(since) {
			continue
		}
		said := &robotsSaid{RobotsEpoch: e, line: EvidenceRobots{
			Origin: e.Origin, Since: stamp(e.Since), Until: stamp(e.Until), State: robotsStates[e.State], Status: e.Status,
			Problem: orNull(e.Problem), CrawlDelay: crawl.Duration(e.CrawlDelay), Text: e.Text, Against: []EvidenceForbidden{},
		}}
		if len(e.Text) > maxEvidenceText {
			said.line.Text, said.line.Cut = strings.ToValidUTF8(e.Text[:maxEvidenceText], ""), true
		}
		l.epochs = append(l.epochs, said)
		l.byOrigin[e.Origin] = append(l.byOrigin[e.Origin], said)
	}
	return l
}

// judge judges a request by the robots.txt that was in force when it was made.
func (l *robotsLog) judge(agent string, r store.HostRequest) {
	u, err := urlkey.Canonical(r.URL)
	if err != nil {
		l.unknown++
		return
	}
	e := l.at(u.Origin(), r.At)
	if e == nil {
		l.unknown++
		return
	}
	verdict := e.verdict(agent, u)
	if verdict.Allowed {
		e.line.Allowed++
		return
	}
	e.line.Forbidden++
	if len(e.line.Against) < maxForbidden {
		e.line.Against = append(e.line.Against, EvidenceForbidden{At: stamp(r.At), URL: r.URL, Agent: agent, Reason: verdict.Reason})
	}
}

// at returns what an origin's robots.txt said at a time, nil if that is not known.
func (l *robotsLog) at(origin string, at time.Time) *robotsSaid {
	for _, e := range l.byOrigin[origin] {
		if !e.Since.After(at) && (e.Until.IsZero() || e.Until.After(at)) && e.State != store.RobotsRedirected {
			return e
		}
	}
	return nil
}

func (e *robotsSaid) verdict(agent string, u urlkey.URL) robots.Verdict {
	if e.check == nil {
		e.check = NewRobotsJudge(store.RobotsRecord{State: e.State, Status: e.Status, Text: e.Text, Problem: e.Problem})
	}
	return e.check(agent, u)
}

// said lists the contents of robots.txt, with their meaning for the requests.
func (l *robotsLog) said() []EvidenceRobots {
	all := []EvidenceRobots{}
	for _, e := range l.epochs {
		all = append(all, e.line)
	}
	return all
}
