package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"recrawl/internal/crawl"
	"recrawl/internal/report"
	"recrawl/internal/scope"
	"recrawl/internal/scope/program"
	"recrawl/internal/store"
	"recrawl/internal/trap"
	"recrawl/internal/urlkey"
)

type checkScopeCmd struct {
	URL      string `arg:"" help:"The URL."`
	Crawl    string `placeholder:"NAME" help:"Judge by the scope of this crawl."`
	Spec     string `placeholder:"FILE" help:"Judge by this spec instead, YAML or JSON; - is standard input."`
	Level    int    `placeholder:"N" help:"Its distance from a seed, in links; by default what is known of it, or 1."`
	Hops     int    `placeholder:"N" help:"Links since the seeds' hosts were left; by default what is known of it, or 1 off them."`
	NoFollow bool   `name:"nofollow" help:"The link, or the page on which it stands, says nofollow."`
	Language string `placeholder:"TAG" help:"Language of the page on which the link stands, such as de; by default unknown."`
}

// Help implements kong.HelpProvider.
func (checkScopeCmd) Help() string {
	return `Prints every limit, rule and filter that is looked at, in order, and which of them decides. Filter programs
are those of RECRAWL_FILTERS, as for the worker.

    starter check scope https://example.com/a.pdf --crawl news
    starter check scope https://example.com/a.pdf --spec news.yaml`
}

// Run shows the scope's verdict and how it came about.
func (c checkScopeCmd) Run(s *session) error {
	u, err := urlkey.Canonical(c.URL)
	if err != nil {
		return usagef("%s: %w", c.URL, err)
	}
	switch {
	case (c.Crawl == "") == (c.Spec == ""):
		return usagef("name either a crawl with --crawl or a spec file with --spec")
	case c.Spec != "":
		spec, err := readSpec(c.Spec, s.env.Stdin)
		if err != nil {
			return err
		}
		u, _ = urlkey.NewRules(spec.URLs).Apply(u)
		answer, err := c.check(s, spec, u, known{})
		if err != nil {
			return err
		}
		return answer.Write(s.env.Stdout, s.global.Output)
	}
	return s.withStore(func(opened Opened) error {
		record, err := opened.Crawl(s.ctx, c.Crawl)
		if err != nil {
			return orNoCrawl(c.Crawl, err)
		}
		answer, err := c.stored(s, opened, record, u)
		if err != nil {
			return err
		}
		return answer.Write(s.env.Stdout, s.global.Output)
	})
}

// stored judges a URL by the scope of a crawl and by the store's data about it.
func (c checkScopeCmd) stored(s *session, opened Opened, record store.CrawlRecord, u urlkey.URL) (report.ScopeCheck, error) {
	u, _ = urlkey.NewRules(record.Spec.URLs).Apply(u)
	pages, err := opened.FindPages(s.ctx, u.String(), record.Spec.Name)
	if err != nil {
		return report.ScopeCheck{}, err
	}
	held, err := heldBy(s.ctx, opened.Store, record.ID, u)
	if err != nil {
		return report.ScopeCheck{}, err
	}
	seeds, err := importedSeeds(s.ctx, opened.Seeds, record, u)
	if err != nil {
		return report.ScopeCheck{}, err
	}
	return c.check(s, record.Spec, u, known{page: append(pages, store.PageRecord{})[0], trap: held, seeds: seeds})
}

// heldBy is the name of a trap that holds new pages of a URL, or "".
func heldBy(ctx context.Context, s report.Store, crawlID int64, u urlkey.URL) (string, error) {
	const most = 1000
	traps, err := s.Traps(ctx, store.TrapFilter{CrawlID: crawlID, Sites: []string{urlkey.RegistrableDomain(u.Host())}, Limit: most})
	if err != nil {
		return "", err
	}
	for _, t := range traps {
		var pattern trap.Pattern
		if err := json.Unmarshal(t.Pattern, &pattern); err != nil {
			return "", fmt.Errorf("decode the pattern of trap %d: %w", t.ID, err)
		}
		if t.State.Holds() && pattern.Covers(u) {
			return t.Name, nil
		}
	}
	return "", nil
}

// known is a store's data about a URL.
type known struct {
	page  store.PageRecord       // zero for none
	trap  string                 // name of the one that holds new pages of it
	seeds map[crawl.SeedKey]bool // the meaning of imported seeds for it
}

func importedSeeds(ctx context.Context, s SeedKeys, record store.CrawlRecord, u urlkey.URL) (map[crawl.SeedKey]bool, error) {
	if !record.Imported {
		return nil, nil
	}
	return s.SeedKeys(ctx, record.ID, scope.AskedKeys(u))
}

// check judges a URL of which a page may be known.
func (c checkScopeCmd) check(s *session, spec crawl.Spec, u urlkey.URL, k known) (report.ScopeCheck, error) {
	programs, err := program.Start(s.cfg.Filters, program.Options{})
	if err != nil {
		return report.ScopeCheck{}, usage(err)
	}
	defer programs.Close()
	limits, err := scope.New(spec, programs)
	if err != nil {
		return report.ScopeCheck{}, usage(err)
	}
	limits = limits.Knowing(k.seeds)
	link := scope.Link{URL: u, Level: c.Level, Hops: c.Hops, Language: c.Language}
	if k.page.PageID != 0 {
		link.Level, link.Hops = cmp.Or(link.Level, k.page.Level), cmp.Or(link.Hops, k.page.Hops)
	} else {
		link.Level, link.Hops = cmp.Or(link.Level, 1), cmp.Or(link.Hops, limits.Hops(u, 0))
	}
	verdict, steps := limits.Explain(link)
	if c.NoFollow {
		verdict, steps = scope.NoFollow(steps)
	}
	answer := report.NewScopeCheck(spec.Name, link, verdict, steps)
	if verdict.Accept && !limits.IsSeed(u) {
		answer.Trap = k.trap
	}
	return answer, nil
}
