package cli

import (
	"errors"
	"fmt"
	"io/fs"

	"recrawl/internal/report"
)

type compactCmd struct{}

// Help implements kong.HelpProvider.
func (compactCmd) Help() string {
	return `Deleted rows leave unused parts in a database, which it fills again before the file grows. This command writes the
databases of a data folder anew, without them: Temporal's, the store and the search index. Stop starter dev first.
It needs as much free room as the largest of the files, in the data folder and once more in the folder of temporary
files (/var/tmp; TMPDIR names another). It may be cut off: each file is replaced in one step.

    starter compact --data data`
}

// Run makes the databases of a data folder smaller.
func (compactCmd) Run(s *session) error {
	if s.global.Store != "" || s.cfg.Store != "" {
		return usagef("compact works on the data folder of a stopped starter dev, not on a store: leave out --store and RECRAWL_STORE; for Postgres see docs/operations.md")
	}
	line := newProgress(s)
	done, err := s.env.Backend.Compact(s.ctx, s.places.Data, func(file string) { line.show("writing " + file + " anew") })
	line.clear()
	for _, c := range done {
		if err := c.Write(s.env.Stdout, s.global.Output); err != nil {
			return err
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &failure{ExitNotFound, "", err}
	case err != nil && len(done) > 0:
		return fmt.Errorf("the remaining databases are as they were: %w", err)
	}
	return err
}

// Compacted is a database that was written anew.
type Compacted = report.Compacted
