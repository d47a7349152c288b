package report

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"recrawl/internal/crawl"
	"recrawl/internal/polite"
	"recrawl/internal/schedule"
	"recrawl/internal/store"
)

// asked is a host with known requests.
type asked struct {
	crawls   []store.CrawlAt
	epochs   []store.RobotsEpoch
	requests []store.HostRequest
	looks    int
	each     int // pages that a step goes through
	widest   int // pages that a step was asked for
	terms    string
}

func (a *asked) CrawlsAt(_ context.Context, host string) ([]store.CrawlAt, error) {
	if host != "example.com" {
		return nil, store.ErrNotFound
	}
	return a.crawls, nil
}

func (a *asked) Terms(_ context.Context, origin string) (store.TermsRecord, error) {
	return store.TermsRecord{Origin: origin, Text: a.terms}, nil
}

func (a *asked) RobotsHistory(context.Context, string) ([]store.RobotsEpoch, error) {
	return a.epochs, nil
}

// HostRequests gives one request at a time.
func (a *asked) HostRequests(_ context.Context, p store.HostRequestParams) (store.HostRequestsPage, error) {
	a.looks, a.widest = a.looks+1, max(a.widest, p.Pages)
	i := int(p.After.PageID)
	page := store.HostRequestsPage{Requests: a.requests[i:min(i+1, len(a.requests))], Pages: a.each}
	if i+1 < len(a.requests) {
		page.Next = &store.PageCursor{PageID: int64(i + 1)}
	}
	return page, nil
}

// site is example.com, whose robots.txt changed while it was asked, and which refused twice.
func site() *asked {
	spec := crawl.DefaultSpec()
	spec.Name, spec.Identity.Contact = "news", "https://example.org/crawl"
	other := crawl.DefaultSpec()
	other.Name, other.Politeness.AutoDelay, other.Retention.MaxVisits = "auto", true, 5
	const origin = "https://example.com"
	at := func(minutes, seconds int) time.Time {
		return now.Add(-2*time.Hour + time.Duration(minutes)*time.Minute + time.Duration(seconds)*time.Second)
	}
	request := func(path string, at time.Time, outcome crawl.Outcome, status int, reasons ...crawl.Reason) store.HostRequest {
		return store.HostRequest{CrawlID: 1, URL: origin + path, At: at, Duration: 500 * time.Millisecond, Outcome: outcome, Status: status, Reasons: reasons}
	}
	quiet := crawl.Reason{Code: schedule.CodeRetryAfter, Num: map[string]float64{"s": 120}}
	return &asked{
		crawls: []store.CrawlAt{
			{CrawlRecord: store.CrawlRecord{ID: 2, Spec: other, State: crawl.CrawlStopped}, HostID: 7, Pages: 3},
			{CrawlRecord: store.CrawlRecord{ID: 1, Spec: spec, State: crawl.CrawlRunning}, HostID: 7, Pages: 1200},
		},
		epochs: []store.RobotsEpoch{
			{Origin: origin, Since: at(-9000, 0), Until: at(-8000, 0), State: store.RobotsAllowAll, Status: 404},
			{Origin: origin, Since: at(-8000, 0), Until: at(30, 0), State: store.RobotsParsed, Status: 200, Text: "User-agent: *\r\nDisallow: /private\r\nCrawl-delay: 5", CrawlDelay: 5 * time.Second},
			{Origin: origin, Since: at(30, 0), Until: at(40, 0), State: store.RobotsUnreachable, Status: 503, Problem: "HTTP 503"},
			{Origin: origin, Since: at(40, 0), State: store.RobotsParsed, Status: 200, Text: "User-agent: recrawl\nDisallow: /a\n\x1b[31m# <b>\u202e`|"},
		},
		// In the order of the pages, not of time.
		requests: []store.HostRequest{
			request("/a", at(0, 0), crawl.OutcomeNew, 200), request("/a", at(45, 0), crawl.OutcomeUnchanged, 304),
			request("/b|_x", at(0, 30), crawl.OutcomeThrottled, 429, quiet), request("/b|_x", at(3, 0), crawl.OutcomeUnchanged, 304),
			request("/c", at(0, 12), crawl.OutcomeFailed, 0), request("/d", at(50, 0), crawl.OutcomeThrottled, 503),
			{CrawlID: 1, URL: "http://example.com/e", At: at(20, 0), Outcome: crawl.OutcomeGone, Status: 404},
		},
	}
}

func evidenceReporter(a *asked, out *bytes.Buffer, format Format) Reporter {
	hosts := []store.HostRecord{{
		ID: 7, Host: "example.com", Delay: 10 * time.Second, GapReason: polite.Host{}.Gap(polite.Demand{Delay: 10 * time.Second}, polite.Demand{}, 0).Reason,
		BackoffUntil: now.Add(-time.Hour), BackoffReason: crawl.Reason{Code: polite.HostRetryAfter, Num: map[string]float64{"hold": 120}},
	}}
	return Reporter{Store: &fake{hosts: hosts}, Requests: a, Out: out, Format: format}
}

func TestEvidence(t *testing.T) {
	t.Parallel()
	for name, format := range map[string]Format{"evidence.txt": Text, "evidence.md": Markdown, "evidence.jsonl": JSON} {
		var out bytes.Buffer
		if err := evidenceReporter(site(), &out, format).Evidence(t.Context(), EvidenceQuery{Host: "example.com", Since: now.Add(-24 * time.Hour)}); err != nil {
			t.Fatal(err)
		}
		golden(t, name, out.Bytes())
		if strings.ContainsAny(out.String(), "\x1b\u202e") && format != JSON {
			t.Errorf("%s has what a terminal obeys", name)
		}
	}
}

// The evidence of a large host is not counted where that would take long, and says so.
func TestEvidenceNotCounted(t *testing.T) {
	t.Parallel()
	a := site()
	e, err := evidenceReporter(a, nil, Text).EvidenceOf(t.Context(), EvidenceQuery{Host: "example.com", Since: now.Add(-time.Hour), MaxPages: 1202})
	if err != nil || e.Requests != nil || a.looks != 0 || e.Pages != 1203 {
		t.Fatalf("%+v, %v after %d looks", e.Requests, err, a.looks)
	}
	if text := strings.Join(e.Missing, "\n"); !strings.Contains(text, "`starter evidence example.com`") {
		t.Errorf("it does not say what to do: %s", text)
	}
	// Nor are many requests, and then robots.txt has judged none.
	e, err = evidenceReporter(a, nil, Text).EvidenceOf(t.Context(), EvidenceQuery{Host: "example.com", Since: now.Add(-24 * time.Hour), MaxRequests: 6})
	if err != nil || e.Requests != nil || e.RobotsUnknown != 0 || e.Robots[0].Allowed != 0 {
		t.Errorf("%+v, %v", e, err)
	}
	a.widest = 0
	e, err = evidenceReporter(a, nil, Text).EvidenceOf(t.Context(), EvidenceQuery{Host: "example.com", Since: now.Add(-24 * time.Hour), MaxRequests: 7, MaxPages: 1203})
	if err != nil || e.Requests == nil || e.Requests.Total != 7 {
		t.Errorf("%+v, %v", e, err)
	}
	if a.widest != 1204 {
		t.Errorf("a look goes through up to %d pages where 1203 are counted, and one tells that there are more", a.widest)
	}
	// A host may have more pages than are counted yet.
	a.each, a.looks = 700, 0
	many, err := evidenceReporter(a, nil, Text).EvidenceOf(t.Context(), EvidenceQuery{Host: "example.com", Since: now.Add(-24 * time.Hour), MaxRequests: 7, MaxPages: 1203})
	if err != nil || many.Requests != nil || a.looks != 2 {
		t.Errorf("%+v, %v after %d looks", many.Requests, err, a.looks)
	}
	e.Requests = nil
	var out bytes.Buffer
	if e.write(&page{out: &out}); !strings.Contains(out.String(), "They were not counted") {
		t.Error(out.String())
	}
	if _, err := evidenceReporter(a, nil, Text).EvidenceOf(t.Context(), EvidenceQuery{Host: "other.example"}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("another host: %v", err)
	}
}

// A request is judged by what robots.txt said when it began, to the moment.
func TestEvidenceRobotsInForce(t *testing.T) {
	t.Parallel()
	since := now.Add(-time.Hour)
	epoch := func(text string, from, until time.Time) store.RobotsEpoch {
		return store.RobotsEpoch{Origin: "https://example.com", State: store.RobotsParsed, Status: 200, Text: text, Since: from, Until: until}
	}
	const forbids = "User-agent: *\nDisallow: /"
	log := newRobotsLog([]store.RobotsEpoch{
		epoch("", since.Add(time.Minute), since.Add(2*time.Minute)), epoch(forbids, since.Add(2*time.Minute), time.Time{}),
	}, since)
	for _, after := range []time.Duration{0, time.Minute, 2*time.Minute - 1, 2 * time.Minute, time.Hour} {
		log.judge("recrawl", store.HostRequest{URL: "https://example.com/", At: since.Add(after)})
	}
	log.judge("recrawl", store.HostRequest{URL: "http://example.com/", At: now})
	said := log.said()
	if log.unknown != 2 || said[0].Allowed != 2 || said[0].Forbidden != 0 || said[1].Allowed != 0 || said[1].Forbidden != 2 {
		t.Errorf("%d unknown, %+v", log.unknown, said)
	}
}

// The gaps are those between neighbours in time, whatever the order in which they are read.
func TestEvidenceGaps(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		gaps := rapid.SliceOfN(rapid.Int64Range(0, int64(time.Hour)), 1, 50).Draw(t, "gaps")
		at := now
		all := []store.HostRequest{{At: at, Duration: time.Second}}
		for _, gap := range gaps {
			at = at.Add(time.Second + time.Duration(gap))
			all = append(all, store.HostRequest{At: at, Duration: time.Second, Outcome: crawl.OutcomeThrottled, Status: 429})
		}
		var log requestLog
		for _, r := range rapid.Permutation(all).Draw(t, "order") {
			log.add(r)
		}
		f := log.figures()
		slices.Sort(gaps)
		if got := *f.SmallestGap; int64(got) != gaps[0] {
			t.Errorf("the smallest gap is %v, want %v", got, time.Duration(gaps[0]))
		}
		if got := *f.MedianGap; int64(got) != gaps[(len(gaps)-1)/2] {
			t.Errorf("the median gap is %v, want %v", got, time.Duration(gaps[(len(gaps)-1)/2]))
		}
		counted := 0
		for _, h := range f.Hours {
			counted += h.Requests
		}
		if counted != len(all) || f.Refused != len(gaps) || f.Refusals[0].Quiet != nil || !time.Time(f.Refusals[0].At).Equal(at) {
			t.Errorf("%d of %d in hours, %d refusals, the last %+v", counted, len(all), f.Refused, f.Refusals[0])
		}
	})
}

// Lists are never null in JSON.
func TestEvidenceOfNothing(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	empty := &asked{crawls: []store.CrawlAt{}}
	if err := evidenceReporter(empty, &out, JSON).Evidence(t.Context(), EvidenceQuery{Host: "example.com", Since: now}); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Crawls, Robots, Missing []any
		Requests                struct{ Hours, Answers, Refusals []any }
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	for name, list := range map[string][]any{
		"crawls": got.Crawls, "robots": got.Robots, "missing": got.Missing,
		"hours": got.Requests.Hours, "answers": got.Requests.Answers, "refusals": got.Requests.Refusals,
	} {
		if list == nil {
			t.Errorf("%s is null: %s", name, out.String())
		}
	}
}

// Requests for tdmrep.json are named among what is missing, if any crawl makes them.
func TestEvidenceNamesRequestsForTerms(t *testing.T) {
	t.Parallel()
	a := site()
	for _, want := range []bool{false, true} {
		if want {
			a.crawls[0].Spec.Purpose = []crawl.Use{crawl.UseAITrain}
		}
		e, err := evidenceReporter(a, nil, JSON).EvidenceOf(t.Context(), EvidenceQuery{Host: "example.com", Since: now.Add(-24 * time.Hour)})
		if err != nil {
			t.Fatal(err)
		}
		if text := strings.Join(e.Missing, "\n"); strings.Contains(text, "/.well-known/tdmrep.json") != want {
			t.Errorf("with a purpose %v: %s", want, text)
		}
	}
}
