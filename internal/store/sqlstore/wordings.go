package sqlstore

import (
	"context"
	"fmt"
	"strings"

	"recrawl/internal/change"
	"recrawl/internal/store"
)

// insertWording stores the wording of a page's version.
func insertWording(ctx context.Context, tx Tx, pageID int64, said change.Wording) error {
	if !said.Known {
		return nil
	}
	err := tx.Queue(ctx, `INSERT INTO wordings (page_id, phrases, sample) VALUES ($1, $2, $3)
		ON CONFLICT (page_id) DO UPDATE SET phrases = excluded.phrases, sample = excluded.sample`, pageID, said.Phrases, said.Encode())
	if err != nil {
		return fmt.Errorf("keep the wording: %w", err)
	}
	return nil
}

// decodeWording reads a wording; a negative number of phrases means that it is not
// known.
func decodeWording(phrases int, sample []byte) (change.Wording, error) {
	if phrases < 0 {
		return change.Wording{}, nil
	}
	return change.DecodeWording(phrases, sample)
}

// linkedPages is how many pages LinksOf asks about at a time.
const linkedPages = 100

// LinksOf implements store.Guard.
func (s *Store) LinksOf(ctx context.Context, pages []int64, each int) ([]store.FoundLink, error) {
	links, err := read(ctx, s, func(tx Tx) ([]store.FoundLink, error) {
		var all []store.FoundLink
		for first := 0; first < len(pages); first += linkedPages {
			some, err := linksOf(ctx, tx, pages[first:min(first+linkedPages, len(pages))], each)
			if err != nil {
				return nil, err
			}
			all = append(all, some...)
		}
		return all, nil
	})
	if err != nil {
		return nil, fmt.Errorf("links of %d pages: %w", len(pages), err)
	}
	return links, nil
}

func linksOf(ctx context.Context, tx Tx, pages []int64, each int) ([]store.FoundLink, error) {
	var parts []string
	var args []any
	for _, page := range pages {
		args = append(args, page)
		parts = append(parts, fmt.Sprintf(`SELECT src, dst FROM (SELECT src, dst FROM links WHERE src = $%[1]d ORDER BY dst DESC LIMIT %[2]d) AS l%[1]d`, len(args), limitOr(each)))
	}
	query := `SELECT l.src, l.dst, p.url, p.found_from FROM (` + strings.Join(parts, " UNION ALL ") + `) AS l CROSS JOIN pages p WHERE p.id = l.dst`
	return collect(ctx, tx, query, args, func(row Row) (l store.FoundLink, err error) {
		err = row.Scan(&l.From, &l.To, &l.URL, &l.Finder)
		return l, err
	})
}

// FindersOf implements store.Guard.
func (s *Store) FindersOf(ctx context.Context, pages []int64) (map[int64]store.Finder, error) {
	query := `SELECT r.id, q.url, COALESCE(y.phrases, -1), y.sample
		FROM ` + s.records(1, "r", "id bigint") + ` CROSS JOIN pages p CROSS JOIN pages q LEFT JOIN wordings y ON y.page_id = q.id
		WHERE p.id = r.id AND q.id = p.found_from`
	finders, err := glance(ctx, s, func(tx Tx) (map[int64]store.Finder, error) {
		found := make(map[int64]store.Finder, len(pages))
		err := tx.Query(ctx, query, []any{idList(pages)}, func(row Row) error {
			var id int64
			var f store.Finder
			var phrases int
			var sample []byte
			err := row.Scan(&id, &f.URL, &phrases, &sample)
			if err == nil {
				f.Said, err = decodeWording(phrases, sample)
			}
			found[id] = f
			return err
		})
		return found, err
	})
	if err != nil {
		return nil, fmt.Errorf("finders of %d pages: %w", len(pages), err)
	}
	return finders, nil
}
