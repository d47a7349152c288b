package report

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"recrawl/internal/store"
)

// RejectedQuery asks for the links that a crawl did not take.
type RejectedQuery struct {
	Crawl  string
	Reason string // "" means all
	Limit  int    // of the URLs; 0 means all that are kept
	// After is the last that was listed, as Next of a RejectedAnswer has it.
	After store.RejectedPlace
}

// RejectedLine is a link that a crawl did not take.
type RejectedLine struct {
	Reason string `json:"reason"`
	URL    string `json:"url"`
	Detail string `json:"detail,omitempty"`
	From   orNull `json:"from"`
	At     stamp  `json:"at"`
}

// Rejected writes how many links were rejected for each reason, which in JSON is
// in the status, and examples of them.
func (r Reporter) Rejected(ctx context.Context, q RejectedQuery) error {
	record, now, err := r.open(ctx, q.Crawl)
	if err != nil {
		return err
	}
	counts, links, err := r.rejected(ctx, record.ID, q)
	if err != nil {
		return err
	}
	if r.Format == JSON {
		for _, l := range links {
			if err := writeJSON(r.Out, rejectedLineOf(l)); err != nil {
				return err
			}
		}
		return nil
	}
	if len(counts) == 0 {
		_, err := fmt.Fprintln(r.Out, "no link has been rejected")
		return err
	}
	t := newTable(r.Out, "LINKS", "REASON")
	for _, c := range counts {
		if q.Reason == "" || q.Reason == c.Reason {
			t.row(strconv.Itoa(c.Links), c.Reason)
		}
	}
	if err := t.flush(); err != nil || len(links) == 0 {
		return err
	}
	fmt.Fprintln(r.Out)
	t = newTable(r.Out, "REASON", "WHEN", "URL", "FOUND ON", "DETAIL")
	for _, l := range links {
		t.row(l.Reason, when(l.At, now), l.URL, some(l.From), some(l.Detail))
	}
	return t.flush()
}

// rejected reads the data for Rejected.
func (r Reporter) rejected(ctx context.Context, crawlID int64, q RejectedQuery) ([]store.RejectionCount, []store.RejectedLink, error) {
	counts, err := r.Store.Rejections(ctx, crawlID)
	if err != nil {
		return nil, nil, err
	}
	limit := q.Limit
	if limit == 0 {
		limit = max(1, len(counts)) * store.RejectedKept
	}
	links, err := r.Store.ListRejected(ctx, store.RejectedFilter{CrawlID: crawlID, Reason: q.Reason, After: q.After, Limit: limit})
	return counts, links, err
}

func rejectedLineOf(l store.RejectedLink) RejectedLine {
	return RejectedLine{Reason: l.Reason, URL: l.URL, Detail: l.Detail, From: orNull(l.From), At: stamp(l.At)}
}

// NotTakenLine is a URL that is no page of a crawl: how a link to it was rejected, if
// known, and the verdict of the present rules.
type NotTakenLine struct {
	URL    string      `json:"url"`
	Crawl  string      `json:"crawl"`
	State  string      `json:"state"` // rejected, or unknown if no link to it is among the examples
	Reason orNull      `json:"reason"`
	Detail orNull      `json:"detail"`
	From   orNull      `json:"from"`
	At     stamp       `json:"at"`
	Today  notTakenNow `json:"today"`
}

// notTakenNow is the verdict of the present rules.
type notTakenNow struct {
	Accepted bool   `json:"accepted"`
	Reason   orNull `json:"reason"`
	Detail   orNull `json:"detail"`
	Trap     orNull `json:"trap"`    // that holds new pages of the URL
	Problem  orNull `json:"problem"` // why there is no verdict
}

// ScopeJudge judges a URL by the present scope of a crawl; see ScopeCheck.Problem.
type ScopeJudge func(c store.CrawlRecord, url string) (ScopeCheck, error)

// maxRejected bounds the examples of a crawl that are searched for one URL: those of a
// hundred reasons.
const maxRejected = 100 * store.RejectedKept

// ExplainRejected writes why a URL that is no page was not taken, by the kept examples of
// rejected links and by the present rules. It reports whether there was anything to write:
// for a crawl without an example that would take the URL there is nothing. "" means all
// crawls.
func (r Reporter) ExplainRejected(ctx context.Context, url, crawlName string, judge ScopeJudge) (bool, error) {
	crawls, err := r.Store.ListCrawls(ctx)
	if err != nil {
		return false, err
	}
	now, err := r.Store.Now(ctx)
	if err != nil {
		return false, err
	}
	found := false
	for _, c := range crawls {
		if crawlName != "" && c.Spec.Name != crawlName {
			continue
		}
		told, err := r.notTaken(ctx, c, url, judge, now)
		found = found || told
		if err != nil {
			return found, err
		}
	}
	return found, nil
}

// notTaken writes why a crawl has no page for a URL, if that is known.
func (r Reporter) notTaken(ctx context.Context, c store.CrawlRecord, url string, judge ScopeJudge, now time.Time) (bool, error) {
	links, check, err := r.whyNotTaken(ctx, c, url, judge)
	if err != nil {
		return false, err
	}
	if len(links) == 0 && check.Accepted && check.Trap == "" {
		return false, nil
	}
	if r.Format == JSON {
		return true, r.notTakenLines(c, url, links, check)
	}
	for _, l := range links {
		if _, err := fmt.Fprintln(r.Out, strings.Map(printable, recordedWords(c.Spec.Name, l, now))); err != nil {
			return true, err
		}
	}
	if len(links) == 0 {
		text := fmt.Sprintf("%s is no page of crawl %s, and no link to it is among the examples of rejected ones", url, c.Spec.Name)
		if _, err := fmt.Fprintln(r.Out, strings.Map(printable, text)); err != nil {
			return true, err
		}
	}
	_, err = fmt.Fprintln(r.Out, strings.Map(printable, "by the rules of today "+todayWords(check)))
	return true, err
}

// whyNotTaken returns the examples of rejected links to a URL, and the verdict of the
// present rules.
func (r Reporter) whyNotTaken(ctx context.Context, c store.CrawlRecord, url string, judge ScopeJudge) ([]store.RejectedLink, ScopeCheck, error) {
	links, err := r.Store.ListRejected(ctx, store.RejectedFilter{CrawlID: c.ID, Limit: maxRejected})
	if err != nil {
		return nil, ScopeCheck{}, err
	}
	check, err := judge(c, url)
	if err != nil {
		return nil, ScopeCheck{}, err
	}
	return slices.DeleteFunc(links, func(l store.RejectedLink) bool { return l.URL != url && l.URL != check.URL }), check, nil
}

func (r Reporter) notTakenLines(c store.CrawlRecord, url string, links []store.RejectedLink, check ScopeCheck) error {
	today := notTakenNow{
		Accepted: check.Accepted, Reason: orNull(check.Reason), Detail: orNull(check.Detail), Trap: orNull(check.Trap), Problem: orNull(check.Problem),
	}
	if len(links) == 0 {
		return writeJSON(r.Out, NotTakenLine{URL: url, Crawl: c.Spec.Name, State: "unknown", Today: today})
	}
	for _, l := range links {
		err := writeJSON(r.Out, NotTakenLine{
			URL: l.URL, Crawl: c.Spec.Name, State: "rejected", Reason: orNull(l.Reason), Detail: orNull(l.Detail),
			From: orNull(l.From), At: stamp(l.At), Today: today,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// recordedWords says how a link was rejected.
func recordedWords(crawlName string, l store.RejectedLink, now time.Time) string {
	text := fmt.Sprintf("%s is no page of crawl %s: rejected %s (%s)", l.URL, crawlName, when(l.At, now), l.Reason)
	if l.Detail != "" {
		text += ": " + l.Detail
	}
	if l.From != "" {
		text += ", found on " + l.From
	}
	return text
}

// todayWords puts the present rules' verdict on a URL into words.
func todayWords(check ScopeCheck) string {
	if check.Problem != "" {
		return "nothing can be said: " + check.Problem
	}
	text := fmt.Sprintf("it %s the crawl, %s from a seed (%s)", check.verdict(), plural(check.Level, "link"), check.Reason)
	if check.Detail != "" {
		text += ": " + check.Detail
	}
	if check.Trap != "" {
		text += "; new pages there are held by trap " + check.Trap
	}
	return text
}
