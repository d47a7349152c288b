package cli

import (
	"fmt"
	"strings"

	"recrawl/internal/config"
)

type adoptCmd struct {
	Ended []string `placeholder:"STORE" help:"Identity of a store that is no more, whose workflows are still there."`
	Yes   bool     `help:"Do it; without this flag, only say what would change."`
}

// Help implements kong.HelpProvider.
func (adoptCmd) Help() string {
	return `A store belongs to one namespace and task queue of Temporal, so that a copy of it does not crawl beside its
original. This makes those that the command reaches the store's home: when Temporal's database was lost
and made anew, when a copy is to live on its own, or when another store that had crawls there is no
more; workflows of such a store then end. Workers that waited for it go on within seconds. Cursors of the
change feed from before lead nowhere then.

    starter adopt --store postgres://recrawl@db/recrawl --address temporal:7233 --yes`
}

// Run makes a place the store's home.
func (c adoptCmd) Run(s *session) error {
	if s.places.Store == "" {
		return usage(config.ErrNoStore)
	}
	done, err := s.env.Backend.Adopt(s.ctx, s.target(), c.Ended, !c.Yes)
	if err != nil {
		return err
	}
	if !c.Yes {
		return s.say("would make %s; do it with --yes", done)
	}
	return s.say("made %s", done)
}

// Adopted reports what became a store's home.
type Adopted struct {
	Store, Place string
	Before       string // "" if it had none, or this one
	Ended        []string
}

func (a Adopted) String() string {
	text := fmt.Sprintf("%s the home of store %s", a.Place, a.Store)
	if a.Before != "" {
		text += ", instead of " + a.Before
	}
	if len(a.Ended) > 0 {
		text += "; workflows of store " + strings.Join(a.Ended, ", ") + " end there"
	}
	return text
}
