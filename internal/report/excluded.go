package report

import (
	"context"
	"errors"

	"recrawl/internal/crawl"
	"recrawl/internal/robots"
	"recrawl/internal/scope"
	"recrawl/internal/store"
	"recrawl/internal/urlkey"
)

// excluder says why nothing is fetched from pages of a crawl: by its scope, and by the
// robots.txt files of their sites, each of which it reads once.
type excluder struct {
	store Store
	agent string
	scope scope.Scope
	files map[string]robotsAnswer // by origin
}

type robotsAnswer struct {
	judge RobotsJudge
	all   bool // it forbids everything
}

func (r Reporter) excluder(spec crawl.Spec) (*excluder, error) {
	sc, err := scope.New(spec, nil)
	return &excluder{store: r.Store, agent: spec.Identity.Agent, scope: sc, files: map[string]robotsAnswer{}}, err
}

// file is what the robots.txt of an origin says.
func (e *excluder) file(ctx context.Context, origin string) (robotsAnswer, error) {
	if known, ok := e.files[origin]; ok {
		return known, nil
	}
	record, err := e.store.Robots(ctx, origin)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return robotsAnswer{}, err
	}
	a := robotsAnswer{judge: NewRobotsJudge(record)}
	a.all = record.State == store.RobotsParsed && robots.Parse([]byte(record.Text)).ForbidsAll(e.agent)
	e.files[origin] = a
	return a, nil
}

// forbidsAll reports whether a robots.txt that forbids everything to some crawl does
// to this one.
func (e *excluder) forbidsAll(ctx context.Context, r store.RobotsRecord) (bool, error) {
	if !r.ForbidsAll {
		return false, nil
	}
	a, err := e.file(ctx, r.Origin)
	return a.all, err
}

// why is the reason for which a page is excluded now, "" if there is none any more.
func (e *excluder) why(ctx context.Context, p store.PageRecord) (string, error) {
	u, err := urlkey.Canonical(p.URL)
	if err != nil {
		return "", err
	}
	if !p.Kind.IsSource() {
		v, err := e.recheck(ctx, u, p)
		if err != nil {
			return "", err
		}
		if !v.Accept && !v.Undecided {
			return "out of scope: " + v.Reason, nil
		}
	}
	a, err := e.file(ctx, u.Origin())
	if err != nil {
		return "", err
	}
	if verdict := a.judge(e.agent, u); !verdict.Allowed {
		return verdict.Reason, nil
	}
	return "", nil
}

// recheck judges a page anew; imported seeds are asked for only where they may matter.
func (e *excluder) recheck(ctx context.Context, u urlkey.URL, p store.PageRecord) (scope.Verdict, error) {
	v := e.scope.Recheck(u, p.Level, p.Hops)
	if v.Accept || v.Undecided {
		return v, nil
	}
	keys, err := e.store.SeedKeys(ctx, p.CrawlID, scope.AskedKeys(u))
	return e.scope.Knowing(keys).Recheck(u, p.Level, p.Hops), err
}
