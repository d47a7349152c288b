package cli

import (
	"fmt"
	"strings"
	"time"

	"recrawl/internal/config"
)

// Repaired reports what a repair checked and did. Its fields are those of care.Repaired, which
// this package must not know: package app converts one into the other.
type Repaired struct {
	Crawl     string // the trouble of the crawl's own workflow, "" if there was none
	Pages     int    // looked at
	Of        int    // how many there are
	Missing   int    // of them had no workflow
	Stuck     int    // of them had one that was stuck
	Why       string // the last of these
	Discovers int    // stuck ones, ended
}

// String words the repair in one line.
func (r Repaired) String() string {
	var b strings.Builder
	if r.Crawl != "" {
		fmt.Fprintf(&b, "the crawl's workflow %s and was started anew; ", r.Crawl)
	}
	fmt.Fprintf(&b, "looked at %s: %d had no workflow, %d were stuck", count(r.Pages, "page"), r.Missing, r.Stuck)
	if r.Why != "" {
		fmt.Fprintf(&b, " (%s)", r.Why)
	}
	fmt.Fprintf(&b, ", %d started anew", r.Missing+r.Stuck)
	if r.Discovers > 0 {
		fmt.Fprintf(&b, "; ended %s that were stuck, which maintenance starts anew", count(r.Discovers, "Discover"))
	}
	return b.String()
}

type repairCmd struct {
	Name string `arg:"" help:"The crawl."`
}

// Help implements kong.HelpProvider.
func (repairCmd) Help() string {
	return `Maintenance does the same by itself, for pages that are overdue by an hour (RECRAWL_OVERDUE). A
workflow is stuck when its worker fails again and again, as after a bad deploy. It is ended and started
anew from the page's row, and keeps the interval and the snooze that were asked for. Where the workflow
is gone, as after a deletion, these are gone with it. No recorded visit is lost.

    starter repair news`
}

// Run repairs a crawl.
func (c repairCmd) Run(s *session) error {
	if err := checkName(c.Name, nil); err != nil {
		return err
	}
	if s.places.Store == "" {
		return usage(config.ErrNoStore)
	}
	progress, left := newProgress(s), remaining{}
	done, err := s.env.Backend.Repair(s.ctx, s.target(), c.Name, func(r Repaired) {
		progress.show(r.String() + left.words(share(r.Pages, r.Of), time.Now()))
	})
	progress.clear()
	if err != nil {
		return orNoCrawl(c.Name, err)
	}
	return s.say("%s", done)
}
