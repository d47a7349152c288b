package cli

import (
	"context"
	"errors"
	"fmt"

	"recrawl/internal/config"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

type crawlCmd struct {
	Name string   `arg:"" optional:"" help:"Name of the crawl: a-z 0-9 . _ -"`
	URLs []string `arg:"" optional:"" name:"url" help:"Seeds: http or https URLs."`
	Spec string   `placeholder:"FILE" help:"Read the whole spec from a YAML or JSON file; - is standard input."`
	specFlags
}

// Help implements kong.HelpProvider.
func (crawlCmd) Help() string {
	return `If the crawl exists, the URLs are added to its seeds and the given settings replace its own.

    starter crawl news https://example.com/ --delay 5s --contact you@example.org
    starter crawl news https://example.org/           (add a seed)
    starter crawl news --max-pages 10000              (change a setting)
    starter crawl --spec news.yaml                    (replace the whole spec)`
}

// Run starts or extends the crawl.
func (c crawlCmd) Run(s *session) error {
	want, err := c.request(s)
	if err != nil {
		return err
	}
	return s.withTemporal(func(client Client) error {
		message, err := want.apply(s.ctx, s.lookup, client)
		if err != nil {
			return err
		}
		return s.say("%s", message)
	})
}

func (c crawlCmd) request(s *session) (crawlRequest, error) {
	switch {
	case c.Spec != "" && c.Name != "":
		return crawlRequest{}, usagef("--spec holds the name and the seeds: give either NAME and URLs, or --spec FILE")
	case c.Spec != "":
		spec, err := readSpec(c.Spec, s.env.Stdin)
		return crawlRequest{name: spec.Name, whole: &spec, flags: c.specFlags}, err
	case c.Name == "":
		return crawlRequest{}, usagef("give NAME and URLs, or --spec FILE (see `starter crawl --help`)")
	}
	return crawlRequest{name: c.Name, urls: c.URLs, flags: c.specFlags}, checkName(c.Name, c.URLs)
}

// checkName reports what is wrong with a crawl's name and seeds.
func checkName(name string, urls []string) error {
	if !crawl.ValidName(name) {
		return usagef("%q cannot name a crawl: use 1 to 40 of a-z 0-9 . _ -, starting with a letter or digit", name)
	}
	return checkURLs(urls)
}

// crawlRequest is a crawl that is to be started or extended.
type crawlRequest struct {
	name  string
	urls  []string
	flags specFlags
	whole *crawl.Spec // from a file, with its own name and seeds
	// defaults of a new crawl, unless nil, before the flags.
	defaults *specFlags
	// contact, unless nil, is checked against specs that are to be started.
	contact func(crawl.Spec) error
}

// lookup returns a crawl as it is now. Its error is store.ErrNotFound or
// config.ErrNoStore when it is not known.
type lookup func(ctx context.Context, name string) (store.CrawlRecord, error)

// lookup reads a crawl from the store.
func (s *session) lookup(ctx context.Context, name string) (record store.CrawlRecord, err error) {
	err = s.withStore(func(opened Opened) error {
		record, err = opened.Crawl(ctx, name)
		return err
	})
	return record, err
}

// apply starts the crawl, or extends it if it runs, and reports what it did.
//
// The store is only asked where the answer depends on the spec so far: adding
// seeds to a running crawl, or starting one from a file, needs no store.
func (r crawlRequest) apply(ctx context.Context, crawls lookup, client Client) (message string, err error) {
	for range mostLooks {
		if message, err = r.applyTo(ctx, crawls, client); !errors.Is(err, ErrOvertaken) {
			break
		}
	}
	return message, err
}

// mostLooks is how often a crawl is looked at that others start or change at the same time.
const mostLooks = 30

// applyTo is apply to the crawl as it is now.
func (r crawlRequest) applyTo(ctx context.Context, crawls lookup, client Client) (string, error) {
	running, err := client.Running(ctx, r.name)
	if err != nil {
		return "", err
	}
	if running && r.whole == nil && !r.flags.given() {
		if len(r.urls) == 0 {
			if record, err := crawls(ctx, r.name); err == nil && record.State == crawl.CrawlStopped {
				return "", fmt.Errorf("crawl %s was stopped and is still being closed: start it again in a minute", r.name)
			}
			return "", usagef("crawl %s runs: give URLs to add or settings to change", r.name)
		}
		if err := crawl.CheckSeedCount(len(r.urls), 0); err != nil {
			return "", err
		}
		message, err := client.AddSeeds(ctx, r.name, r.urls)
		return message, orEnded(r.name, err)
	}
	wanted, base, err := r.merge(ctx, crawls, running)
	if err != nil {
		return "", err
	}
	if running {
		message, err := client.SetSpec(ctx, wanted, base)
		return message, orEnded(r.name, err)
	}
	if err := client.StartCrawl(ctx, wanted); err != nil {
		return "", err
	}
	return fmt.Sprintf("started crawl %s: %s, scope %s, a request to a host every %s at most", r.name,
		count(len(wanted.Seeds), "seed"), wanted.Scope.Type, wanted.Politeness.DelayWords()), nil
}

// orEnded words the error of a crawl whose workflow ran a moment ago and has ended since.
func orEnded(name string, err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return &failure{ExitFailed, fmt.Sprintf("crawl %s ended just now, for somebody stopped or deleted it: the same command starts it", name), err}
	}
	return err
}

// merge makes the wanted spec: the file's, or the present one or else the defaults,
// with the seeds and flags. base is the generation of the present one, 0 if it does not matter.
func (r crawlRequest) merge(ctx context.Context, crawls lookup, running bool) (wanted crawl.Spec, base int64, err error) {
	had := 0
	wanted = crawl.DefaultSpec()
	if r.whole != nil {
		wanted = *r.whole
		if len(wanted.Seeds) > crawl.MostSeeds { // an older recrawl's may have had as many
			if stored, err := crawls(ctx, r.name); err == nil {
				had = len(stored.Spec.Seeds)
			}
		}
	} else {
		stored, err := crawls(ctx, r.name)
		had = len(stored.Spec.Seeds)
		switch {
		case err == nil:
			wanted, base = stored.Spec, stored.Generation
		case errors.Is(err, config.ErrNoStore) && running:
			return crawl.Spec{}, 0, usagef("changing the settings of a running crawl needs its store: %w", config.ErrNoStore)
		case !errors.Is(err, config.ErrNoStore) && !errors.Is(err, ErrNoStoreThere) && !errors.Is(err, store.ErrNotFound):
			return crawl.Spec{}, 0, err
		}
	}
	if wanted.Name == "" && r.defaults != nil {
		r.defaults.apply(&wanted)
	}
	wanted.Name = r.name
	wanted = withSeeds(wanted, r.urls)
	if err := crawl.CheckSeedCount(len(wanted.Seeds), had); err != nil {
		return crawl.Spec{}, 0, err
	}
	r.flags.apply(&wanted)
	if err := wanted.Validate(); err != nil {
		return crawl.Spec{}, 0, err
	}
	if r.contact != nil {
		return wanted, base, r.contact(wanted)
	}
	return wanted, base, nil
}

// count words a number of things.
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
