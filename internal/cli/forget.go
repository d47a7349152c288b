package cli

import (
	"errors"
	"fmt"
	"time"

	"recrawl/internal/config"
)

type forgetCmd struct {
	URL  string `arg:"" optional:"" help:"The page to be forgotten, in all crawls."`
	Host string `placeholder:"HOST" help:"Forget every page of this host instead."`
	Undo bool   `help:"Let a forgotten page or host be found again."`
	Yes  bool   `help:"Do it; without this flag, only say what would be forgotten."`

	Rewrite *bool `negatable:"" help:"Write the files of the databases anew, so that nothing is left in their unused parts either. Visits wait meanwhile, about ten seconds a gigabyte. By default an embedded store's are, Postgres' are not."`
}

// Help implements kong.HelpProvider.
func (forgetCmd) Help() string {
	return `Removes pages for good: their workflows, visits, versions, links and bytes, also from the unused parts of
files. Only a hash remains, so that links and seeds do not bring them back. What it cannot remove it
says; exports, backups and what other pages say of them are not touched. Without --yes it only says what
it would do. It may be cut off: the same command goes on.

    starter forget https://example.com/private --yes
    starter forget --host example.com --yes
    starter forget --undo https://example.com/private`
}

// Run forgets.
func (c forgetCmd) Run(s *session) error {
	what, err := c.what()
	if err != nil {
		return err
	}
	if s.places.Store == "" {
		return usage(config.ErrNoStore)
	}
	if c.Undo {
		if err := s.env.Backend.Remember(s.ctx, s.target(), what); err != nil {
			return err
		}
		return s.say("%s may be found again, by links and as a seed", what)
	}
	progress := newProgress(s)
	done, err := s.env.Backend.Forget(s.ctx, s.target(), what, ForgetOptions{Dry: !c.Yes, Rewrite: c.Rewrite, Progress: progress.takedown()})
	progress.clear()
	if err != nil {
		return err
	}
	if !c.Yes {
		return s.say("would forget %s: %s, for good; do it with --yes", what, count(done.Pages, "page"))
	}
	err = s.say("forgot %s: %s, %s, %s", what, count(done.Pages, "page"), count(done.Contents, "content"), count(done.Workflows, "workflow"))
	for _, left := range done.Left {
		err = errors.Join(err, s.say("%s", left))
	}
	return err
}

func (c forgetCmd) what() (Takedown, error) {
	switch {
	case (c.URL == "") == (c.Host == ""):
		return Takedown{}, usagef("give the URL of a page, or --host HOST")
	case c.Host != "":
		key, err := hostKey(c.Host)
		return Takedown{Host: key}, err
	}
	url, err := canonical(c.URL)
	return Takedown{URL: url}, err
}

// Takedown is the page, in all crawls, or the host to be forgotten.
type Takedown struct {
	URL  string // canonical
	Host string // urlkey.HostKey
}

func (t Takedown) String() string {
	if t.Host != "" {
		return fmt.Sprintf("host %s", t.Host)
	}
	return t.URL
}

// ForgetOptions say how to forget.
type ForgetOptions struct {
	Dry bool // only count
	// Rewrite says whether the databases' files are rewritten; nil means the default
	// of the kind of store.
	Rewrite *bool
	// Progress is called as it goes on, unless it is a dry run.
	Progress func(ForgetProgress)
}

// ForgetProgress is the progress of a takedown.
type ForgetProgress struct {
	Doing     string // in words
	Pages, Of int
}

// takedown shows how far a takedown or a deletion is, and how much longer it takes.
func (p *progress) takedown() func(ForgetProgress) {
	var left remaining
	return func(now ForgetProgress) { p.show(now.String() + left.words(share(now.Pages, now.Of), time.Now())) }
}

func (p ForgetProgress) String() string {
	return fmt.Sprintf("%s: %d of %s", p.Doing, p.Pages, count(p.Of, "page"))
}

// Forgotten counts what a takedown removed.
type Forgotten struct {
	Pages, Contents, Workflows int
	// Left says what still names it, where and for how long, a sentence each.
	Left []string
}
