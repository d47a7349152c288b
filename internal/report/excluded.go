package report

import (
	"context"
	"errors"

	"recrawl/internal/crawl"
	"recrawl/internal/robots"
	"recrawl/internal/robots/reserve"
	"recrawl/internal/store"
	"recrawl/internal/urlkey"
)

// excluder finds what robots.txt files forbid a crawl, reading each file once.
type excluder struct {
	store Store
	said  Requests // nil if exclusions by a tdmrep.json need not be reported
	agent string
	// purpose is the crawl's, by which it judges pages.
	purpose []crawl.Use
	files   map[string]robotsAnswer // by origin
}

type robotsAnswer struct {
	judge RobotsJudge
	all   bool // it forbids everything
}

func (r Reporter) excluder(spec crawl.Spec) *excluder {
	return &excluder{store: r.Store, said: r.Requests, agent: spec.Identity.Agent, purpose: spec.Purpose, files: map[string]robotsAnswer{}}
}

// file returns what the robots.txt of an origin says.
func (e *excluder) file(ctx context.Context, origin string) (robotsAnswer, error) {
	if known, ok := e.files[origin]; ok {
		return known, nil
	}
	record, err := e.store.Robots(ctx, origin)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return robotsAnswer{}, err
	}
	a := robotsAnswer{judge: NewRobotsJudge(record, e.purpose...)}
	a.all = record.State == store.RobotsParsed && robots.ParseText(record.Text).ForbidsAll(e.agent)
	e.files[origin] = a
	return a, nil
}

// forbidsAll reports whether a robots.txt that forbids everything to some crawl does so to
// this one.
func (e *excluder) forbidsAll(ctx context.Context, r store.RobotsRecord) (bool, error) {
	if !r.ForbidsAll {
		return false, nil
	}
	a, err := e.file(ctx, r.Origin)
	return a.all, err
}

// noURL is why nothing is asked for a URL that an earlier release took.
const noURL = "it is no URL by the rules of this release"

// why returns the reason why a page that has not been visited since is excluded.
func (e *excluder) why(ctx context.Context, p store.PageRecord) (string, error) {
	u, err := urlkey.Canonical(p.URL)
	if err != nil { // an earlier release took it
		return noURL, nil
	}
	a, err := e.file(ctx, u.Origin())
	if err != nil {
		return "", err
	}
	if verdict := a.judge(e.agent, u); !verdict.Allowed {
		return verdict.Reason, nil
	}
	if len(e.purpose) > 0 && e.said != nil {
		record, err := e.said.Terms(ctx, u.Origin())
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return "", err
		}
		if r, refused := reserve.Against(robots.ParseTerms([]byte(record.Text)).Reserved(u), e.purpose); refused {
			return reserve.Refusal(r), nil
		}
	}
	return "the scope forbids it, or robots.txt did", nil
}
