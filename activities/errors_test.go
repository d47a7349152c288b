package activities_test

import (
	"errors"
	"testing"

	"go.temporal.io/sdk/temporal"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
)

// attempts are all activities that look something up, called for a page.
func attempts(t *testing.T, w *world, page crawl.PageRef) map[string]func() error {
	permit := crawl.Permit{ID: 1, HostID: 1, URL: page.URL}
	return map[string]func() error{
		"SetCrawlState": func() error {
			_, err := try(w, contract.SetCrawlState, contract.SetCrawlStateIn{Name: page.Crawl, State: crawl.CrawlPaused})
			return err
		},
		"Acquire": func() error {
			_, err := try(w, contract.Acquire, contract.AcquireIn{Page: page, Visit: 1})
			return err
		},
		"RefreshRobots": func() error {
			_, err := try(w, contract.RefreshRobots, contract.RefreshRobotsIn{Page: page, Visit: 1, Permit: permit})
			return err
		},
		"Fetch": func() error {
			_, err := try(w, contract.Fetch, contract.FetchIn{Page: page, Visit: 1, Permit: permit})
			return err
		},
		"DetectChange": func() error {
			_, err := try(w, contract.DetectChange, contract.DetectIn{Page: page, Visit: 1})
			return err
		},
		"PlanRevisit": func() error {
			_, err := try(w, contract.PlanRevisit, contract.PlanIn{Page: page, Visit: 1})
			return err
		},
		"LeaveLine": func() error {
			_, err := try(w, contract.LeaveLine, contract.LeaveIn{Page: page, State: crawl.Stopped})
			return err
		},
		"Admit": func() error {
			_, err := try(w, contract.Admit, contract.AdmitIn{CrawlID: page.CrawlID, Limit: 1})
			return err
		},
		"Maintain": func() error {
			_, err := try(w, contract.Maintain, contract.MaintainIn{CrawlID: page.CrawlID, Name: page.Crawl})
			return err
		},
	}
}

// A missing row will not be there after a retry: its workflow ends.
func TestNotFound(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	nobody := crawl.PageRef{CrawlID: 7, Crawl: "nobody", PageID: 7, URL: "http://localhost/", Host: "localhost"}
	for name, attempt := range attempts(t, w, nobody) {
		t.Run(name, func(t *testing.T) {
			err := attempt()
			wantError(t, err, contract.ErrTypeNotFound, false, "not found")
		})
	}
}

// A store that does not answer is asked again, and raises no separate alarm.
func TestStoreUnavailable(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	page := w.living([]string{"http://localhost/"})[0]
	if err := w.store.Close(); err != nil {
		t.Fatal(err)
	}
	all := attempts(t, w, page)
	all["OpenCrawl"] = func() error {
		_, err := try(w, contract.OpenCrawl, contract.OpenCrawlIn{Spec: encode(t, specOf([]string{page.URL})), WorkflowID: "crawl/news"})
		return err
	}
	all["RegisterLinks"] = func() error {
		_, err := try(w, contract.RegisterLinks, contract.RegisterIn{Page: page, Visit: 1})
		return err
	}
	all["ClosePages"] = func() error {
		_, err := try(w, contract.ClosePages, contract.ClosePagesIn{CrawlID: page.CrawlID})
		return err
	}
	all["WakeParked"] = func() error {
		_, err := try(w, contract.WakeParked, contract.WakeParkedIn{CrawlID: page.CrawlID})
		return err
	}
	for name, attempt := range all {
		t.Run(name, func(t *testing.T) {
			err := attempt()
			wantError(t, err, contract.ErrTypeStoreUnavailable, true, "store unavailable")
			if app := new(temporal.ApplicationError); errors.As(err, &app) && app.Category() != temporal.ApplicationErrorCategoryBenign {
				t.Errorf("category %v", app.Category())
			}
		})
	}
}
