package sqlstore

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"recrawl/internal/crawl"
	"recrawl/internal/feed"
	"recrawl/internal/store"
	"recrawl/internal/urlkey"
)

// AddRedirectedSeed implements store.Crawls.
func (s *Store) AddRedirectedSeed(ctx context.Context, p store.RedirectedSeed) (store.SeedVerdict, error) {
	p.From, p.To, p.Host = clean(p.From), clean(p.To), s.grouping.Unit(clean(p.Host))
	verdict, err := write(ctx, s, func(tx Tx) (store.SeedVerdict, error) { return s.addRedirectedSeed(ctx, tx, p) })
	if err != nil {
		return "", fmt.Errorf("add the redirect of seed %s of crawl %s: %w", p.From, p.Crawl, err)
	}
	return verdict, nil
}

func (s *Store) addRedirectedSeed(ctx context.Context, tx Tx, p store.RedirectedSeed) (store.SeedVerdict, error) {
	tombs := []tombstone{newTombstone(tombURL, p.To), newTombstone(tombHost, p.Host)}
	forgotten, err := s.tombstones(ctx, tx, tombs)
	if err != nil {
		return "", err
	}
	rec, err := s.lockCrawl(ctx, tx, p.Crawl)
	if err != nil {
		return "", err
	}
	if len(forgotten) > 0 || rec.State == crawl.CrawlStopped {
		return store.SeedClosed, nil
	}
	verdict, err := s.noteRedirect(ctx, tx, rec.ID, p)
	if err != nil || verdict != store.SeedAdded || slices.Contains(rec.Spec.Seeds, p.To) {
		return verdict, err
	}
	if p.Imported || len(rec.Spec.Seeds) >= crawl.MostSeeds {
		return verdict, s.addSeedKeys(ctx, tx, rec, p.Keys)
	}
	rec.Spec.Seeds = append(rec.Spec.Seeds, p.To)
	rec.Generation++
	text, err := encodeSpec(rec.Spec)
	if err != nil {
		return "", err
	}
	if err := updateCrawl(ctx, tx, rec, text); err != nil {
		return "", err
	}
	return verdict, noteCrawl(ctx, tx, rec, feed.CrawlSpec)
}

// noteRedirect decides by the earlier redirects of seeds. The crawl's row is locked.
func (s *Store) noteRedirect(ctx context.Context, tx Tx, crawlID int64, p store.RedirectedSeed) (store.SeedVerdict, error) {
	unhex := s.engine.Dialect().Unhex
	from, to := urlHash(p.From), urlHash(p.To)
	args := []any{crawlID, hex.EncodeToString(from[:])}
	var one int
	err := tx.QueryRow(ctx, `SELECT 1 FROM redirected_seeds WHERE crawl_id = $1 AND target_hash = `+unhex("$2")+` LIMIT 1`, args, &one)
	if err == nil {
		return store.SeedOfRedirect, nil
	}
	if !errors.Is(err, store.ErrNotFound) {
		return "", err
	}
	var known []byte
	err = tx.QueryRow(ctx, `SELECT target_hash FROM redirected_seeds WHERE crawl_id = $1 AND seed_hash = `+unhex("$2"), args, &known)
	switch {
	case err == nil && slices.Equal(known, to[:]):
		return store.SeedAdded, nil
	case err == nil:
		return store.SeedSpent, nil
	case !errors.Is(err, store.ErrNotFound):
		return "", err
	}
	_, err = tx.Exec(ctx, `INSERT INTO redirected_seeds (crawl_id, seed_hash, target_hash)
		VALUES ($1, `+unhex("$2")+`, `+unhex("$3")+`)`, append(args, hex.EncodeToString(to[:]))...)
	return store.SeedAdded, err
}

// withRedirected adds to the seeds of a replacing spec those that came by redirects
// of seeds that stay: a spec from a file does not know of them, and without them all
// pages there would be out of scope.
func (s *Store) withRedirected(ctx context.Context, tx Tx, rec store.CrawlRecord, spec crawl.Spec) ([]string, error) {
	rules := urlkey.NewRules(spec.URLs)
	hashOf := func(seed string) [16]byte {
		if u, err := urlkey.Canonical(seed); err == nil {
			u, _ = rules.Apply(u)
			seed = u.String()
		}
		return urlHash(seed)
	}
	sources := make(map[[16]byte]bool, len(spec.Seeds))
	for _, seed := range spec.Seeds {
		sources[hashOf(seed)] = true
	}
	var dropped []string
	for _, seed := range rec.Spec.Seeds {
		if !sources[hashOf(seed)] {
			dropped = append(dropped, seed)
		}
	}
	if len(dropped) == 0 {
		return spec.Seeds, nil
	}
	targets := map[[16]byte]bool{}
	err := tx.Query(ctx, `SELECT seed_hash, target_hash FROM redirected_seeds WHERE crawl_id = $1`, []any{rec.ID}, func(row Row) error {
		var from, to []byte
		if err := row.Scan(&from, &to); err != nil {
			return err
		}
		if len(from) == 16 && len(to) == 16 && sources[[16]byte(from)] {
			targets[[16]byte(to)] = true
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the redirects of seeds: %w", err)
	}
	all := slices.Clone(spec.Seeds)
	for _, seed := range dropped {
		if targets[hashOf(seed)] {
			all = append(all, seed)
		}
	}
	return all, nil
}
