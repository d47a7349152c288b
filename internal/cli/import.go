package cli

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"recrawl/internal/config"
	"recrawl/internal/crawl"
	"recrawl/internal/seeds"
	"recrawl/internal/store"
)

type importCmd struct {
	Name    string       `arg:"" help:"The crawl, which exists."`
	File    string       `arg:"" help:"The list; - is standard input."`
	Format  seeds.Format `enum:"auto,urls,csv,sitemap,cdxj,warc" default:"auto" placeholder:"FORMAT" help:"What the list is: urls (one a line), csv, sitemap, cdxj (or CDX) or warc. By default its start tells."`
	Column  string       `placeholder:"NAME" help:"The name or number of a CSV file's column with the URLs; by default it is found."`
	Refused string       `placeholder:"FILE" help:"Write every entry that is refused to this file, a line each, with its reason before it."`
}

// Help implements kong.HelpProvider.
func (importCmd) Help() string {
	return `Reads lists of any length: URLs one a line, CSV, sitemaps, CDXJ and WARC, each gzipped or not. What the list
names become seeds of the crawl, as if they had been given to 'starter crawl'; its scope covers them. They
go straight to the store. Cut off, the same command goes on where it was; run again, it changes nothing.

    starter crawl web https://example.com/ --scope host --contact you@example.org
    starter import web urls.txt.gz --refused refused.tsv
    zcat *.cdxj.gz | starter import web -`
}

// ImportOptions describe the import.
type ImportOptions struct {
	List *seeds.Reader
	// Source names the list, so that its import can go on; "" if it cannot.
	Source  string
	Refused seeds.Refused // nil keeps none
	// Contact is that of the environment, for crawls that have none; "" for none.
	Contact  string
	Progress func(store.Import)
}

// Run imports the list and tells the crawl.
func (c importCmd) Run(s *session) error {
	if !crawl.ValidName(c.Name) {
		return checkName(c.Name, nil)
	}
	if s.places.Store == "" {
		return usage(config.ErrNoStore)
	}
	in, err := openSeedList(c, s.env.Stdin)
	if err != nil {
		return err
	}
	defer in.close()
	refused, err := openRefused(c.Refused, in)
	if err != nil {
		return err
	}
	line := newProgress(s)
	o := ImportOptions{List: in.list, Source: in.source, Contact: s.cfg.Contact, Progress: in.progress(line)}
	if refused != nil {
		o.Refused = refused
	}
	done, err := s.env.Backend.Import(s.ctx, s.target(), c.Name, o)
	line.clear()
	err = errors.Join(err, refused.close())
	if s.ctx.Err() != nil && done.Entries > 0 {
		return fmt.Errorf("cut off after %s of %s: the same command goes on there", entries(done.Entries), c.File)
	}
	if err != nil {
		return orNoCrawl(c.Name, in.named(err))
	}
	if err := c.report(s, in.list, done); err != nil {
		return err
	}
	if done.New+done.Known == 0 && refusedOf(done) > 0 {
		return in.named(errors.New("nothing was imported: every entry was refused"))
	}
	return s.say("%s", c.tell(s))
}

// refusedOf counts the entries of a list that are no seeds.
func refusedOf(done store.Import) int {
	refused := done.Forgotten
	for _, of := range done.Refused {
		refused += of.Entries
	}
	return refused
}

// report says what became of the list.
func (c importCmd) report(s *session, list *seeds.Reader, done store.Import) error {
	refused := refusedOf(done)
	text := fmt.Sprintf("imported %s into crawl %s (%s): %d new, %d known", count(done.New+done.Known, "seed"), c.Name, list.What(), done.New, done.Known)
	if refused > 0 {
		text += fmt.Sprintf("; %d refused", refused)
	}
	err := s.say("%s", text)
	for _, reason := range slices.SortedFunc(maps.Keys(done.Refused), func(a, b string) int { return done.Refused[b].Entries - done.Refused[a].Entries }) {
		of := done.Refused[reason]
		err = errors.Join(err, s.say("  %s: %d, such as %s", reason, of.Entries, of.Examples[0]))
		for _, example := range of.Examples[1:] {
			err = errors.Join(err, s.say("    %s", example))
		}
	}
	if done.Forgotten > 0 {
		err = errors.Join(err, s.say("  %s: %d; `starter forget --undo` lets them be found again", seeds.ReasonForgotten, done.Forgotten))
	}
	if c.Refused != "" && refused > 0 {
		err = errors.Join(err, s.say("all that was refused is in %s", c.Refused))
	}
	return err
}

// tell tells the crawl's workflow, and reports the result.
func (c importCmd) tell(s *session) string {
	var message string
	err := s.withTemporal(func(client Client) (err error) {
		message, err = client.ChangeCrawl(s.ctx, c.Name, SeedsImported)
		return err
	})
	switch {
	case errors.Is(err, store.ErrNotFound):
		return fmt.Sprintf("the crawl does not run: they are visited once `starter crawl %s` with a URL or a setting has started it", c.Name)
	case err != nil:
		return "the crawl could not be told, so its next maintenance admits them: " + oneLine(err)
	}
	return message
}
