package cli

import (
	"context"
	"strings"
	"time"

	"recrawl/internal/config"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
	"recrawl/internal/urlkey"
)

type devCmd struct {
	URLs         []string       `arg:"" optional:"" name:"url" help:"Seeds of a crawl to start or extend."`
	Name         string         `placeholder:"NAME" help:"Name of that crawl, by default the first URL's host."`
	Demo         bool           `help:"Crawl a small web of our own on this machine, in which pages change, fail, move and forbid."`
	For          crawl.Duration `placeholder:"DURATION" help:"Stop when it has run for this time."`
	TemporalPort uint16         `placeholder:"7233" help:"Port of Temporal, by default this one or a free one."`
	UIPort       uint16         `name:"ui-port" placeholder:"8233" help:"Port of the Temporal UI, by default this one or a free one."`
	WebPort      uint16         `name:"web-port" placeholder:"8234" help:"Port of the page for operators, by default this one or a free one."`
	GroupHosts   string         `enum:",host,domain" default:"" placeholder:"host|domain" help:"Which hosts are one unit of politeness; fixed when the data folder is made, by default host."`
	Spec         string         `placeholder:"FILE" help:"Read the whole spec of a crawl to start or replace from a YAML or JSON file; - is standard input."`
	specFlags
}

// Help implements kong.HelpProvider.
func (devCmd) Help() string {
	return `Runs Temporal, the store, the archive, a worker and a page to look at it all, in one data folder (--data,
by default ./data).
Ctrl-C stops; starting it again on the same folder continues exactly where it was.

    starter dev --demo                                 (see it work)
    starter dev                                        (continue what is in ./data)
    starter dev https://example.com/ --contact you@example.org
    starter dev http://localhost:8000/ --delay 100ms --default-interval 10s
    starter dev --spec news.yaml                       (all settings in a file)`
}

// Run runs everything until the context ends.
func (c devCmd) Run(s *session) error {
	if s.global.Store != "" || s.global.Archive != "" || s.global.Address != "" || s.global.Namespace != "" {
		return usagef("`starter dev` brings its own store, archive and Temporal: choose only its folder, with --data")
	}
	want, err := c.request(s)
	if err != nil {
		return err
	}
	if c.GroupHosts != "" {
		s.cfg.GroupHosts = urlkey.Grouping(c.GroupHosts)
	}
	o := DevOptions{
		Data: s.places.Data, TemporalPort: int(c.TemporalPort), UIPort: int(c.UIPort), WebPort: int(c.WebPort), For: time.Duration(c.For),
		Config: s.cfg, Getenv: s.env.Getenv, Out: s.env.screen, Err: s.env.Stderr,
		Demo: c.Demo, Terminal: s.env.draws(),
	}
	if want != nil {
		o.Ready = func(ctx context.Context, crawls DevStore, client Client, demo []string) error {
			want.urls = append(want.urls, demo...)
			if !c.Demo { // whose site is made for it
				if err := s.sayOutset(ctx, *want, crawls, client); err != nil {
					return err
				}
			}
			message, err := want.apply(ctx, crawls.Crawl, client)
			if err != nil {
				return err
			}
			return s.say("%s", message)
		}
	}
	return s.env.Backend.Dev(s.ctx, o)
}

// request is the requested crawl, nil if there is none. Errors that can be found at
// once are reported before anything runs.
func (c devCmd) request(s *session) (*crawlRequest, error) {
	if c.Demo {
		if len(c.URLs) > 0 || c.Name != "" || c.Spec != "" {
			return nil, usagef("--demo brings its own site and crawl: leave the URLs, --name and --spec away")
		}
		return &crawlRequest{name: DemoCrawl, flags: c.specFlags, defaults: demoDefaults()}, nil
	}
	if c.Spec != "" {
		if len(c.URLs) > 0 || c.Name != "" {
			return nil, usagef("--spec holds the name and the seeds: leave the URLs and --name away")
		}
		spec, err := readSpec(c.Spec, s.env.Stdin)
		if err != nil {
			return nil, err
		}
		return c.checked(s, &crawlRequest{name: spec.Name, whole: &spec, flags: c.specFlags, contact: contactCheck(s.cfg)})
	}
	if len(c.URLs) == 0 && c.Name == "" {
		if c.specFlags.given() {
			return nil, usagef("crawl settings without a crawl: give a URL, or the --name of a crawl in the data folder")
		}
		return nil, nil
	}
	want := &crawlRequest{name: c.Name, urls: c.URLs, flags: c.specFlags, contact: contactCheck(s.cfg)}
	if want.name == "" {
		want.name = nameFor(c.URLs[0])
	}
	if err := checkName(want.name, want.urls); err != nil {
		return nil, err
	}
	return c.checked(s, want)
}

// checked finds errors in a request that do not depend on the data folder.
func (c devCmd) checked(s *session, want *crawlRequest) (*crawlRequest, error) {
	if state, err := config.ReadDevState(s.places.Data); err != nil || state.Store != "" {
		return want, nil // there may be a crawl of this name; its spec counts too
	}
	_, _, err := want.merge(s.ctx, unknown, false)
	return want, err
}

// DemoCrawl is the name of the demo's crawl.
const DemoCrawl = "demo"

// demoDefaults let a crawl go through in two minutes what takes others months.
func demoDefaults() *specFlags {
	span := func(d time.Duration) *crawl.Duration { return (*crawl.Duration)(&d) }
	off, rule, delay := 0.0, "frmax", delayFlag("200ms")
	return &specFlags{
		Delay: &delay, Factor: &off, Policy: &rule, DefaultInterval: span(3 * time.Second),
		MinInterval: span(time.Second), MaxInterval: span(30 * time.Second), MaintainEvery: span(10 * time.Second),
	}
}

// unknown looks up crawls where there are none.
func unknown(context.Context, string) (store.CrawlRecord, error) {
	return store.CrawlRecord{}, store.ErrNotFound
}

// contactCheck refuses requests that the crawl itself would refuse later: requests
// beyond this machine without a contact. The worker is this process, so its contact
// is known.
func contactCheck(cfg config.Config) func(crawl.Spec) error {
	return func(spec crawl.Spec) error {
		if spec.Identity.Contact != "" || cfg.Contact != "" {
			return nil
		}
		for _, seed := range spec.Seeds {
			if u, err := urlkey.Canonical(seed); err == nil && !u.IsLoopback() {
				return usagef("to crawl %s give --contact, a URL or mail address at which its owner can reach you (or set %s)", seed, config.EnvContact)
			}
		}
		return nil
	}
}

// nameFor makes a crawl's name from a URL's host: "www.example.com-8080".
func nameFor(url string) string {
	u, err := urlkey.Canonical(url)
	if err != nil {
		return "dev" // checkURLs reports the error in the URL
	}
	name := strings.Map(func(r rune) rune {
		if strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789._-", r) {
			return r
		}
		return '-'
	}, u.Host())
	name = strings.TrimLeft(name[:min(len(name), 40)], "._-")
	if name == "" {
		return "dev"
	}
	return name
}
