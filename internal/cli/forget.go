package cli

import (
	"fmt"

	"recrawl/internal/config"
)

type forgetCmd struct {
	URL  string `arg:"" optional:"" help:"The page to be forgotten, in all crawls."`
	Host string `placeholder:"HOST" help:"Forget every page of this host instead."`
	Undo bool   `help:"Let a forgotten page or host be found again."`
	Yes  bool   `help:"Do it; without this flag, only say what would be forgotten."`
}

// Help implements kong.HelpProvider.
func (forgetCmd) Help() string {
	return `Removes pages for good: their workflows, visits, versions, links and bytes. Only a hash remains, so that
links and seeds do not bring them back. Without --yes it only says what it would do.

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
	done, err := s.env.Backend.Forget(s.ctx, s.target(), what, !c.Yes)
	if err != nil {
		return err
	}
	if !c.Yes {
		return s.say("would forget %s: %s, for good; do it with --yes", what, count(done.Pages, "page"))
	}
	return s.say("forgot %s: %s, %s, %s", what, count(done.Pages, "page"), count(done.Contents, "content"), count(done.Workflows, "workflow"))
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

// Takedown is what is to be forgotten: a page in all crawls, or a host.
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

// Forgotten counts what a takedown removed.
type Forgotten struct {
	Pages, Contents, Workflows int
}
