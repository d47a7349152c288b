package cli

import (
	"errors"
	"fmt"
	"strings"

	"recrawl/internal/store"
)

type undoUpgradeCmd struct{}

// UndoOptions name the store whose upgrade is undone: Store, or that of the data folder
// Data if Store is "".
type UndoOptions struct {
	Store, Data string
}

// Undone reports what was put where.
type Undone struct {
	Store string // the files that are as before the upgrade
	Moved string // where the upgraded store is now; "" if it was moved before
}

// Help implements kong.HelpProvider.
func (undoUpgradeCmd) Help() string {
	return `Puts the copy that was kept before the last upgrade in the store's place, for the release before. Stop starter dev,
or the worker, first. What was upgraded stays, under another name, with Temporal's database of a data folder: its
workflows are of the newer release. Visits since the upgrade are made again.

    starter undo-upgrade --data data`
}

// Run goes back.
func (undoUpgradeCmd) Run(s *session) error {
	at, err := s.storeOrFolder()
	if err != nil {
		return err
	}
	if at != "" && !strings.HasPrefix(at, "sqlite:") {
		return usagef("no copy of Postgres is kept: restore what pg_dump saved before the upgrade, see docs/upgrading.md")
	}
	done, err := s.env.Backend.UndoUpgrade(s.ctx, UndoOptions{Store: at, Data: s.places.Data})
	if errors.Is(err, store.ErrNotFound) {
		return &failure{ExitNotFound, "", err}
	}
	if err != nil {
		return err
	}
	message := fmt.Sprintf("%s is as it was before the upgrade: go on with the release of that time", done.Store)
	if done.Moved != "" {
		message += "; the upgraded one is " + done.Moved
	}
	return s.say("%s", message)
}
