package sqlstore

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"recrawl/internal/store"
	"recrawl/internal/urlkey"
)

// An import that has not ended keeps examples of the entries that it refused, as they were
// written. They are nearly URLs, which a takedown must find too.

// withoutExamples is an import without the examples that are to be left out.
func withoutExamples(i store.Import, out func(example string) bool) (store.Import, bool) {
	left := map[string]store.RefusedSeeds{}
	changed := false
	for reason, refused := range i.Refused {
		examples := slices.DeleteFunc(slices.Clone(refused.Examples), out)
		changed = changed || len(examples) < len(refused.Examples)
		refused.Examples = examples
		left[reason] = refused
	}
	if changed {
		i.Refused = left
	}
	return i, changed
}

// withoutForgottenExamples returns an import without examples of forgotten URLs: the
// import may have been running when they were forgotten.
func (s *Store) withoutForgottenExamples(ctx context.Context, tx Tx, i store.Import) (store.Import, error) {
	var all []tombstone
	for _, refused := range i.Refused {
		for _, example := range refused.Examples {
			all = append(all, s.exampleTombstones(example)...)
		}
	}
	if len(all) == 0 {
		return i, nil
	}
	found, err := s.tombstones(ctx, tx, all)
	if err != nil || len(found) == 0 {
		return i, err
	}
	i, _ = withoutExamples(i, func(example string) bool {
		return slices.ContainsFunc(s.exampleTombstones(example), func(t tombstone) bool { return found[t] })
	})
	return i, nil
}

// exampleTombstones are the tombstones of an example's URL, of its host and of the unit that this
// belongs to.
func (s *Store) exampleTombstones(example string) []tombstone {
	u, err := urlkey.Canonical(example)
	if err != nil {
		return nil
	}
	host := clean(u.HostKey())
	return []tombstone{newTombstone(tombURL, clean(u.String())), newTombstone(tombHost, host), newTombstone(tombHost, s.grouping.Unit(host))}
}

// importRow is a row of imports.
type importRow struct {
	crawlID          int64
	source, progress string
}

// forgetRefused removes the examples that name a target.
func (s *Store) forgetRefused(ctx context.Context, tx Tx, t store.Target) error {
	query := `SELECT crawl_id, source, progress FROM imports ORDER BY crawl_id, source` + s.lock()
	rows, err := collect(ctx, tx, query, nil, func(row Row) (r importRow, err error) {
		err = row.Scan(&r.crawlID, &r.source, &r.progress)
		return r, err
	})
	if err != nil {
		return err
	}
	for _, r := range rows {
		var i store.Import
		if err := json.Unmarshal([]byte(r.progress), &i); err != nil {
			return fmt.Errorf("decode an import of crawl %d: %w", r.crawlID, err)
		}
		i, changed := withoutExamples(i, func(example string) bool { return names(example, t) })
		if !changed {
			continue
		}
		if _, err := tx.Exec(ctx, `UPDATE imports SET progress = $3 WHERE crawl_id = $1 AND source = $2`, r.crawlID, r.source, jsonText(i)); err != nil {
			return err
		}
	}
	return nil
}

// names reports whether a refused entry is a target's URL, or contains the target in any
// spelling: better to lose one example too many than to keep one that should be gone.
func names(example string, t store.Target) bool {
	if u, err := urlkey.Canonical(example); err == nil && (clean(u.String()) == t.URL || clean(u.HostKey()) == t.Host) {
		return true
	}
	_, bare, _ := strings.Cut(t.URL, "://")
	return strings.Contains(strings.ToLower(example), strings.ToLower(bare+t.Host))
}
